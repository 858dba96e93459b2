#include "client/ingest/ledger.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/text.h"
#include "nlohmann/json.hpp"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFrameWord = ": frame ";

std::string ToJsonLine(const RefusedGraph& graph) {
  const Json line = {{"file", graph.origin.file}, {"frame", graph.origin.frame},
                     {"line", graph.origin.line}, {"id", graph.id},
                     {"reason", graph.reason},    {"message", graph.message}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string FormatOrigin(const Origin& origin) {
  return absl::StrCat(origin.file, ":", origin.line, absl::string_view(kFrameWord.data(), kFrameWord.size()),
                      origin.frame);
}

Origin ParseOrigin(std::string_view text) {
  Origin unknown{std::string(text)};
  const std::size_t word = text.rfind(kFrameWord);
  if (word == std::string_view::npos) return unknown;
  const std::string_view place = text.substr(0, word);
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return unknown;
  const std::optional<std::uint64_t> line = ParseCount(place.substr(colon + 1));
  const std::optional<std::uint64_t> frame = ParseCount(text.substr(word + kFrameWord.size()));
  if (!line || !frame) return unknown;
  return {std::string(place.substr(0, colon)), *frame, *line};
}

void Ledger::AddRefused(RefusedGraph graph) {
  ++by_reason_[graph.reason];
  refused_.push_back(std::move(graph));
}

void Ledger::AddUnlisted(const std::string& reason, std::uint64_t graphs) {
  if (graphs == 0) return;
  by_reason_[reason] += graphs;
  unlisted_ += graphs;
}

std::string Ledger::ToJsonLines() const {
  std::string text;
  for (const RefusedGraph& graph : refused_) text += ToJsonLine(graph);
  return text;
}

absl::StatusOr<std::unique_ptr<LedgerFile>> LedgerFile::Open(std::string path) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<WholeFile> file, WholeFile::Create(std::move(path)));
  return std::unique_ptr<LedgerFile>(new LedgerFile(std::move(file)));
}

absl::Status LedgerFile::Write(const Ledger& ledger) {
  ABSL_RETURN_IF_ERROR(file_->Write(ledger.ToJsonLines()));
  return file_->Commit();
}

}  // namespace packtrain::ingest
