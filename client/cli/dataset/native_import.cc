#include "client/cli/dataset/native_import.h"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/connection.h"
#include "client/ingest/formats/native_file.h"
#include "client/internal/service_client.h"
#include "proto/base/progress.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

v1::ImportHeader HeaderOf(const v1::Dataset& dataset) {
  v1::ImportHeader header;
  *header.mutable_schema() = dataset.schema();
  header.set_on_error(v1::ERROR_POLICY_STOP);
  header.set_duplicate_ids(v1::DUPLICATE_POLICY_REFUSE);
  header.set_missing_target(v1::MISSING_TARGET_POLICY_NAN);
  return header;
}

v1::SealDatasetRequest SealOf(const v1::Dataset& dataset, const std::string& name) {
  v1::SealDatasetRequest seal;
  seal.set_name(name.empty() ? dataset.name() : name);
  *seal.mutable_lineage() = dataset.lineage();
  seal.set_expected_version(dataset.version());
  if (dataset.splits_size() > 1) seal.mutable_by_index();  // even where all three are empty
  return seal;
}

absl::Status AddSplit(const v1::SplitBlock& block, v1::SealDatasetRequest& seal) {
  v1::SplitByIndex& splits = *seal.mutable_by_index();
  const std::pair<std::string_view, google::protobuf::RepeatedField<std::uint32_t>*> lists[] = {
      {"train", splits.mutable_train()}, {"val", splits.mutable_val()}, {"test", splits.mutable_test()}};
  for (const auto& [name, graphs] : lists) {
    if (block.split() != name) continue;
    graphs->MergeFrom(block.graphs());
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the file has a split '", block.split(), "'; known are train, val and test"));
}

}  // namespace

absl::StatusOr<v1::SealDatasetResponse> ImportNative(const std::string& path, const std::string& name,
                                                     const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ingest::NativeFile> file, ingest::NativeFile::Open(path));
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<client::Connection> connection, Connect(global));
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<client::ImportStream> stream,
                        client::ImportStream::Open(connection, HeaderOf(file->dataset())));
  v1::SealDatasetRequest seal = SealOf(file->dataset(), name);
  base::Progress progress(output.messages(), base::IsTerminal(STDERR_FILENO),
                          {"import", "graphs", file->bytes()}, std::chrono::steady_clock::now);
  std::uint64_t graphs = 0;
  v1::ExportDatasetResponse message;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const bool more, file->Next(&message));
    if (!more) break;
    graphs += static_cast<std::uint64_t>(message.block().records_size());
    const absl::Status taken = message.has_split() ? AddSplit(message.split(), seal)
                                                   : stream->Write(std::move(*message.mutable_block()));
    ABSL_RETURN_IF_ERROR(taken);
    progress.Update(graphs, file->consumed_bytes());
  }
  ABSL_ASSIGN_OR_RETURN(const v1::ImportGraphsResponse staged, stream->Finish());
  seal.set_import_id(staged.import_id());
  return client::ServiceClient(connection).SealDataset(seal);
}

}  // namespace packtrain::cli
