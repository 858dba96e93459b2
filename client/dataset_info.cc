#include "client/dataset_info.h"

#include <grpcpp/client_context.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/internal/channel.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/batch.grpc.pb.h"
#include "packtrain/v1/dataset.grpc.pb.h"
#include "proto/base/content_hash.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_check.h"
#include "proto/wire/batch_spec_convert.h"
#include "proto/wire/full_name.h"

namespace packtrain::client {
namespace {

std::string UnitOf(const v1::Schema& schema, const std::string& target) {
  const auto found = std::find_if(schema.targets().begin(), schema.targets().end(),
                                  [&](const v1::Target& candidate) { return candidate.name() == target; });
  return found == schema.targets().end() ? "" : found->unit();
}

SplitInfo ToSplitInfo(const v1::Split& split, const v1::Schema& schema) {
  SplitInfo info;
  info.name = split.name();
  info.graphs = split.graphs();
  for (const v1::TargetStatistics& target : split.targets()) {
    info.targets.push_back({.target = target.target(),
                            .unit = UnitOf(schema, target.target()),
                            .count = target.count(),
                            .mean = target.mean(),
                            .stddev = target.stddev(),
                            .median = target.has_median() ? std::optional(target.median()) : std::nullopt});
  }
  if (split.has_mean_log_degree()) info.mean_log_degree = split.mean_log_degree();
  return info;
}

std::string HashOf(const v1::Vocabulary& vocabulary) {
  std::string words;
  for (const std::string& word : vocabulary.words()) absl::StrAppend(&words, word.size(), ":", word);
  return base::HexSha256(words);
}

FieldInfo ToFieldInfo(const v1::Field& field, const v1::Schema& schema) {
  FieldInfo info{.name = field.name()};
  for (const std::uint32_t size : field.dims()) info.width *= size;
  for (const v1::Vocabulary& vocabulary : schema.vocabularies()) {
    if (vocabulary.field() != field.name()) continue;
    info.words = static_cast<std::uint64_t>(vocabulary.words_size());
    info.words_hash = HashOf(vocabulary);
    info.graphs_with_word.assign(vocabulary.graphs().begin(), vocabulary.graphs().end());
  }
  return info;
}

// Every batch of the plan fits into memory.
absl::Status CheckShapes(const v1::GetPlanResponse& plan, const wire::BatchSpec& spec,
                         std::uint64_t max_bytes) {
  for (const v1::ShapeCount& count : plan.shapes()) {
    const wire::Shape shape = wire::FromMessage(count.shape());
    const absl::Status status = wire::CheckSlotBytes(shape, max_bytes);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(status.message(), "; ", wire::SizeFlagsOf(spec), " decide"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

const SplitInfo* DatasetInfo::FindSplit(std::string_view name) const {
  const auto found =
      std::find_if(splits.begin(), splits.end(), [&](const SplitInfo& split) { return split.name == name; });
  return found == splits.end() ? nullptr : &*found;
}

const FieldInfo* DatasetInfo::FindField(std::string_view name) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const FieldInfo& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

absl::StatusOr<DatasetInfo> GetDatasetInfo(Connection& connection, const std::string& dataset) {
  v1::GetDatasetRequest request;
  request.set_dataset(dataset);
  const auto stub = v1::DatasetService::NewStub(ChannelOf(connection));
  ABSL_ASSIGN_OR_RETURN(
      const v1::GetDatasetResponse response,
      CallMethod(connection.options(), kLookUp, *stub, &v1::DatasetService::Stub::GetDataset, request));
  const v1::Dataset& described = response.dataset();
  DatasetInfo info;
  info.reference = wire::FullName(described);
  info.graphs = described.graphs();
  for (const v1::Split& split : described.splits())
    info.splits.push_back(ToSplitInfo(split, described.schema()));
  info.classes.assign(described.classes().begin(), described.classes().end());
  for (const v1::Field& field : described.schema().fields())
    info.fields.push_back(ToFieldInfo(field, described.schema()));
  return info;
}

absl::StatusOr<PlanInfo> GetPlanInfo(Connection& connection, const std::string& dataset,
                                     const wire::BatchSpec& spec, std::uint64_t epoch,
                                     std::uint32_t world_size) {
  v1::GetPlanRequest request;
  ABSL_ASSIGN_OR_RETURN(*request.mutable_spec(), wire::ToMessage(spec));
  request.set_dataset(dataset);
  request.set_epoch(epoch);
  request.set_world_size(world_size);
  const auto stub = v1::PlanService::NewStub(ChannelOf(connection));
  ABSL_ASSIGN_OR_RETURN(const v1::GetPlanResponse plan, CallMethod(connection.options(), kWork, *stub,
                                                                   &v1::PlanService::Stub::GetPlan, request));
  ABSL_RETURN_IF_ERROR(CheckShapes(plan, spec, connection.options().max_batch_bytes));
  return PlanInfo{.steps = plan.steps(),
                  .batches = plan.batches(),
                  .budget = wire::FromMessage(plan.budget()),
                  .fingerprint = plan.fingerprint()};
}

absl::StatusOr<std::vector<std::string>> GetSourceIds(Connection& connection, const std::string& dataset,
                                                      const wire::BatchSpec& spec, std::uint64_t index) {
  v1::GetPlannedBatchRequest request;
  ABSL_ASSIGN_OR_RETURN(*request.mutable_spec(), wire::ToMessage(spec));
  request.set_dataset(dataset);
  request.set_index(index);
  request.set_without_checksum(true);
  const auto stub = v1::PlanService::NewStub(ChannelOf(connection));
  ABSL_ASSIGN_OR_RETURN(
      const v1::GetPlannedBatchResponse batch,
      CallMethod(connection.options(), kWork, *stub, &v1::PlanService::Stub::GetPlannedBatch, request));
  return std::vector<std::string>(batch.source_ids().begin(), batch.source_ids().end());
}

}  // namespace packtrain::client
