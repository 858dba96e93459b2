#include "client/cli/plan/size_list.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "proto/base/content_hash.h"
#include "proto/base/status_macros.h"
#include "proto/wire/shape.h"

namespace packtrain::cli {
namespace {

constexpr char kBlanks[] = " \t";
constexpr char kLineForm[] = "a line is `n_node n_edge`, whole numbers";
constexpr char kWideLineForm[] =
    "a line is `n_node n_edge bandwidth`, whole numbers, for supergraphs and --skip-above bandwidth:K";

const char* LineForm(bool bandwidths) { return bandwidths ? kWideLineForm : kLineForm; }

// Takes the next word off `text`; empty at its end.
std::string_view TakeWord(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(kBlanks), text->size()));
  const std::string_view word = text->substr(0, text->find_first_of(kBlanks));
  text->remove_prefix(word.size());
  return word;
}

absl::StatusOr<std::uint32_t> NumberOf(std::string_view word, const char* name, const char* line_form) {
  std::uint32_t number = 0;
  const std::from_chars_result result = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || result.ec == std::errc::invalid_argument || result.ptr != word.data() + word.size()) {
    return absl::InvalidArgumentError(line_form);
  }
  if (result.ec == std::errc::result_out_of_range || number > wire::kMaxSlots) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " ", std::string(word), " is out of range: up to ", wire::kMaxSlots));
  }
  return number;
}

bool IsBlank(std::string_view line) { return line.find_first_not_of(kBlanks) == std::string_view::npos; }

absl::Status AddBandwidth(std::string_view word, std::uint32_t n_node, SizeList* sizes) {
  ABSL_ASSIGN_OR_RETURN(const std::uint32_t bandwidth, NumberOf(word, "bandwidth", kWideLineForm));
  if (bandwidth >= n_node) {
    return absl::InvalidArgumentError(
        absl::StrCat("bandwidth ", bandwidth, " is out of range: below the ", n_node, " nodes of the graph"));
  }
  sizes->bandwidth.push_back(bandwidth);
  return absl::OkStatus();
}

absl::Status AddLine(std::string_view line, std::uint64_t number, bool bandwidths, SizeList* sizes) {
  const char* const form = LineForm(bandwidths);
  ABSL_ASSIGN_OR_RETURN(const std::uint32_t n_node, NumberOf(TakeWord(&line), "n_node", form));
  ABSL_ASSIGN_OR_RETURN(const std::uint32_t n_edge, NumberOf(TakeWord(&line), "n_edge", form));
  if (n_node == 0) return absl::InvalidArgumentError("a graph has no nodes");
  if (bandwidths) {
    ABSL_RETURN_IF_ERROR(AddBandwidth(TakeWord(&line), n_node, sizes));
  }
  sizes->n_node.push_back(n_node);
  sizes->n_edge.push_back(n_edge);
  sizes->line.push_back(number);
  return absl::OkStatus();
}

// The status of a line, with its place.
absl::Status AtLine(const std::string& path, std::uint64_t number, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(path, ":", number, ": ", status.message()));
}

std::string HashSizes(const SizeList& sizes) {
  base::Sha256 hash;
  hash.Update(std::as_bytes(std::span(sizes.n_node)));
  hash.Update(std::as_bytes(std::span(sizes.n_edge)));
  hash.Update(std::as_bytes(std::span(sizes.bandwidth)));
  return hash.HexDigest();
}

}  // namespace

absl::StatusOr<SizeList> ReadSizes(const std::string& path, bool bandwidths) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ingest::LineReader> reader, ingest::LineReader::Open(path, {}));
  SizeList sizes{path, {}, {}, {}, {}};
  std::string_view line;
  for (;;) {
    const absl::StatusOr<bool> more = reader->Next(&line);
    if (ingest::ReasonOf(more.status()) == "line_too_long") {
      return AtLine(path, reader->line_number() + 1, absl::InvalidArgumentError(LineForm(bandwidths)));
    }
    if (!more.ok()) return ingest::WithPlace(more.status(), "");
    if (!*more) break;
    if (IsBlank(line)) continue;
    ABSL_RETURN_IF_ERROR(
        AtLine(path, reader->line_number(), AddLine(line, reader->line_number(), bandwidths, &sizes)));
  }
  if (sizes.n_node.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": holds no sizes"));
  sizes.version = HashSizes(sizes);
  return sizes;
}

bool NeedsBandwidths(const wire::BatchSpec& spec) {
  return spec.policy == wire::Policy::kSupergraph || spec.skip_above == wire::SkipAbove::kBandwidth;
}

std::string NameOf(const SizeList& sizes, std::uint32_t graph) {
  return sizes.line.empty() ? absl::StrCat("graph ", graph) : absl::StrCat("line ", sizes.line[graph]);
}

}  // namespace packtrain::cli
