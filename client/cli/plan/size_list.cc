#include "client/cli/plan/size_list.h"

#include <charconv>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/refusal.h"
#include "proto/base/content_hash.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

// Takes the next number off `text`.
bool TakeNumber(std::string_view* text, std::uint32_t* number) {
  const std::size_t begin = text->find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  const char* const end = text->data() + text->size();
  const std::from_chars_result result = std::from_chars(text->data() + begin, end, *number);
  if (result.ec != std::errc()) return false;
  text->remove_prefix(static_cast<std::size_t>(result.ptr - text->data()));
  return text->empty() || text->front() == ' ' || text->front() == '\t';
}

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

absl::Status BadLine(const std::string& path, std::uint64_t number) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ":", number, ": a line is `n_node n_edge`, whole numbers"));
}

absl::Status AddLine(std::string_view line, std::uint64_t number, const std::string& path, SizeList* sizes) {
  std::uint32_t n_node = 0;
  std::uint32_t n_edge = 0;
  if (!TakeNumber(&line, &n_node) || !TakeNumber(&line, &n_edge)) return BadLine(path, number);
  if (n_node == 0) return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": a graph has no nodes"));
  sizes->n_node.push_back(n_node);
  sizes->n_edge.push_back(n_edge);
  sizes->line.push_back(number);
  return absl::OkStatus();
}

std::string HashSizes(const SizeList& sizes) {
  base::Sha256 hash;
  hash.Update(std::as_bytes(std::span(sizes.n_node)));
  hash.Update(std::as_bytes(std::span(sizes.n_edge)));
  return hash.HexDigest();
}

}  // namespace

absl::StatusOr<SizeList> ReadSizes(const std::string& path) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ingest::LineReader> reader, ingest::LineReader::Open(path, {}));
  SizeList sizes{path, {}, {}, {}, {}};
  std::string_view line;
  for (;;) {
    const absl::StatusOr<bool> more = reader->Next(&line);
    if (ingest::ReasonOf(more.status()) == "line_too_long") return BadLine(path, reader->line_number() + 1);
    ABSL_RETURN_IF_ERROR(more.status());
    if (!*more) break;
    if (IsBlank(line)) continue;
    ABSL_RETURN_IF_ERROR(AddLine(line, reader->line_number(), path, &sizes));
  }
  if (sizes.n_node.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": holds no sizes"));
  sizes.version = HashSizes(sizes);
  return sizes;
}

std::string NameOf(const SizeList& sizes, std::uint32_t graph) {
  return sizes.line.empty() ? absl::StrCat("graph ", graph) : absl::StrCat("line ", sizes.line[graph]);
}

}  // namespace packtrain::cli
