#include "client/ingest/ledger.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxRemarked = 100'000;

std::string LineOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

// Leaves out the keys that have no value.
Json ToJson(const Origin& origin, const std::string& id) {
  Json line = {{"file", origin.file}};
  if (origin.record > 0) line["frame"] = origin.record;
  if (origin.line > 0) line["line"] = origin.line;
  if (!id.empty()) line["id"] = id;
  return line;
}

std::string ToJsonLine(const RemarkedGraph& graph) {
  Json line = ToJson(graph.origin, graph.id);
  line["remark"] = graph.remark;
  return LineOf(line);
}

std::string ToJsonLine(const RefusedGraph& graph) {
  Json line = ToJson(graph.origin, graph.id);
  line["reason"] = graph.reason;
  line["message"] = graph.message;
  if (graph.leaves_rest) line["rest_unread"] = true;
  return LineOf(line);
}

std::string ToJsonLine(const PassedOver& files) {
  return LineOf({{"file", files.path}, {"passed_over", files.count}, {"names", files.names}});
}

}  // namespace

void Ledger::AddRefused(RefusedGraph graph) {
  ++by_reason_[graph.reason];
  refused_.push_back(std::move(graph));
}

void Ledger::AddUnlisted(const std::string& reason, std::uint64_t graphs) {
  if (graphs == 0) return;
  by_reason_[reason] += graphs;
  unlisted_ += graphs;
}

void Ledger::AddRemark(RemarkedGraph graph) {
  ++by_remark_[graph.remark];
  if (remarked_.size() < kMaxRemarked) remarked_.push_back(std::move(graph));
}

void Ledger::DropRemarks(const std::set<std::string>& origins) {
  std::erase_if(remarked_, [&](const RemarkedGraph& graph) {
    const bool drops = origins.contains(FormatOrigin(graph.origin));
    if (drops && --by_remark_[graph.remark] == 0) by_remark_.erase(graph.remark);
    return drops;
  });
}

std::vector<Origin> Ledger::unread() const {
  std::vector<Origin> places;
  for (const RefusedGraph& graph : refused_) {
    if (graph.leaves_rest) places.push_back(graph.origin);
  }
  return places;
}

std::uint64_t Ledger::passed_over() const {
  std::uint64_t files = 0;
  for (const PassedOver& source : passed_over_) files += source.count;
  return files;
}

std::string Ledger::ToJsonLines() const {
  std::string text;
  for (const RefusedGraph& graph : refused_) text += ToJsonLine(graph);
  for (const RemarkedGraph& graph : remarked_) text += ToJsonLine(graph);
  for (const PassedOver& files : passed_over_) text += ToJsonLine(files);
  return text;
}

absl::StatusOr<std::unique_ptr<LedgerFile>> LedgerFile::Open(std::string path) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<base::WholeFile> file, base::WholeFile::Create(std::move(path)));
  return std::unique_ptr<LedgerFile>(new LedgerFile(std::move(file)));
}

absl::Status LedgerFile::Write(const Ledger& ledger) {
  ABSL_RETURN_IF_ERROR(file_->Write(ledger.ToJsonLines()));
  return file_->Commit();
}

}  // namespace packtrain::ingest
