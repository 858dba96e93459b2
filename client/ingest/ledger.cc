#include "client/ingest/ledger.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/text.h"
#include "nlohmann/json.hpp"

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

absl::Status CannotWrite(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot write the ledger: ", why));
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

LedgerFile::LedgerFile(std::string path)
    : path_(std::move(path)),
      partial_(path_ + ".partial"),
      file_(partial_, std::ios::binary | std::ios::trunc) {}

LedgerFile::~LedgerFile() {
  std::error_code error;
  if (file_.is_open()) std::filesystem::remove(partial_, error);
}

absl::StatusOr<std::unique_ptr<LedgerFile>> LedgerFile::Open(std::string path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return CannotWrite(path, "it is a folder");
  std::unique_ptr<LedgerFile> file(new LedgerFile(std::move(path)));
  if (!file->file_) return CannotWrite(file->path_, std::strerror(errno));
  return file;
}

absl::Status LedgerFile::Write(const Ledger& ledger) {
  file_ << ledger.ToJsonLines() << std::flush;
  if (!file_) return CannotWrite(path_, std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(partial_, path_, error);
  if (error) return CannotWrite(path_, error.message());
  file_.close();
  return absl::OkStatus();
}

}  // namespace packtrain::ingest
