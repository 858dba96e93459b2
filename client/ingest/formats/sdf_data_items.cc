#include "client/ingest/formats/sdf_data_items.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// The name in "> <name> (4)" or "> DT12"; empty: there is none.
std::string_view NameOf(std::string_view header) {
  const std::size_t open = header.find('<');
  if (open == header.npos) {
    std::string_view rest = header.substr(1);
    const std::string_view word = NextWord(&rest);
    return word.starts_with("DT") ? word : std::string_view();
  }
  const std::size_t close = header.find('>', open);
  return close == header.npos ? std::string_view() : header.substr(open + 1, close - open - 1);
}

// Whether a line is a header right behind another one, whose item is empty then, and no text such as ">10000".
bool IsWholeHeader(std::string_view line) {
  return line.starts_with('>') && Trim(line.substr(1)).starts_with('<') && !NameOf(line).empty();
}

absl::Status Bad(std::string_view what, std::string_view line) {
  return Refusal("bad_property", absl::StrCat(std::string(what), " ", Shown(line)));
}

class ItemReader {
 public:
  explicit ItemReader(std::vector<DataItem>* items) : items_(*items) { items_.clear(); }

  absl::Status Add(std::string_view line) {
    ++line_;
    const bool header = line.starts_with('>') && (last_ == kBlank || (last_ == kHeader && IsWholeHeader(line)));
    const bool blank = Trim(line).empty();
    last_ = header ? kHeader : blank ? kBlank : kText;
    if (header) return Begin(line);
    if (blank) return absl::OkStatus();
    if (items_.empty()) return Bad("no data item begins with", line);
    std::string_view& text = items_.back().text;
    const char* const begin = text.empty() ? line.data() : text.data();
    text = std::string_view(begin, static_cast<std::size_t>(line.data() + line.size() - begin));
    return absl::OkStatus();
  }

  std::size_t line() const { return line_; }

 private:
  enum Line { kBlank, kHeader, kText };

  absl::Status Begin(std::string_view header) {
    const std::string_view name = Trim(NameOf(header));
    if (name.empty()) return Bad("the data item has no name in", header);
    items_.push_back({name, {}, line_});
    return absl::OkStatus();
  }

  std::vector<DataItem>& items_;
  std::size_t line_ = 0;  // that was added last
  Line last_ = kBlank;
};

}  // namespace

absl::Status ReadDataItems(std::string_view lines, std::vector<DataItem>* items, std::size_t* line) {
  ItemReader reader(items);
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    absl::Status status = reader.Add(lines.substr(0, end));
    *line = reader.line();
    ABSL_RETURN_IF_ERROR(status);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::ingest
