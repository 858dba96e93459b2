#include "client/ingest/split_file.h"

#include <memory>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

class SplitReader {
 public:
  explicit SplitReader(LineReader& lines) : lines_(lines) {}

  absl::StatusOr<SplitLists> Read() {
    while (true) {
      std::string_view line;
      ABSL_ASSIGN_OR_RETURN(bool more, lines_.Next(&line));
      if (!more) break;
      ABSL_RETURN_IF_ERROR(Add(Trim(line)));
    }
    if (line_of_.empty()) {
      return RefusedWhole(lines_.path(), "empty_file", "the file lists no graph");
    }
    return std::move(lists_);
  }

 private:
  absl::Status Add(std::string_view line) {
    if (line.empty() || line.front() == '#') return absl::OkStatus();
    std::string_view rest = line;
    std::vector<std::string>* list = ListOf(NextWord(&rest));
    std::string id(Trim(rest));
    if (!IsUtf8(id)) return Bad("not_utf8", "the id is not UTF-8");
    if (list == nullptr || id.empty()) return Bad("bad_split", "expected `train ID`, `val ID` or `test ID`");
    const auto [entry, added] = line_of_.emplace(id, lines_.line_number());
    if (!added)
      return Bad("duplicate_id", absl::StrCat("'", id, "' was listed before, in line ", entry->second));
    list->push_back(std::move(id));
    return absl::OkStatus();
  }

  std::vector<std::string>* ListOf(std::string_view split) {
    if (split == "train") return &lists_.train;
    if (split == "val") return &lists_.val;
    return split == "test" ? &lists_.test : nullptr;
  }

  absl::Status Bad(std::string_view reason, const std::string& what) const {
    return RefusedAt({lines_.path(), "", 0, lines_.line_number()}, Refusal(reason, what));
  }

  LineReader& lines_;
  SplitLists lists_;
  absl::flat_hash_map<std::string, std::uint64_t> line_of_;
};

}  // namespace

absl::StatusOr<SplitLists> ReadSplitFile(const std::string& path, const ReadLimits& limits) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<LineReader> lines, LineReader::Open(path, limits));
  absl::StatusOr<SplitLists> lists = SplitReader(*lines).Read();
  if (!lists.ok()) return WithPlace(lists.status(), "");
  return lists;
}

}  // namespace packtrain::ingest
