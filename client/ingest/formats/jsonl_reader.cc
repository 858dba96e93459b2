#include "client/ingest/formats/jsonl_reader.h"

#include <deque>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/formats/json_line.h"
#include "client/ingest/formats/jsonl_form.h"
#include "client/ingest/formats/jsonl_general.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/record_reader.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// How far the first record that is of a form is looked for.
constexpr std::size_t kMaxAhead = 64;

// A record for each line that is not blank.
class LineCutter final : public RecordCutter {
 public:
  explicit LineCutter(std::unique_ptr<LineReader> lines) : lines_(std::move(lines)) {}

  absl::StatusOr<bool> Next(RawRecord* record) override {
    if (ahead_.empty()) return Cut(record);
    Ahead next = std::move(ahead_.front());
    ahead_.pop_front();
    std::swap(*record, next.record);
    return next.more;
  }

  // The record that Next will give behind those looked at before; null: there is none.
  const RawRecord* LookAhead() {
    Ahead next;
    next.more = Cut(&next.record);
    ahead_.push_back(std::move(next));
    const Ahead& last = ahead_.back();
    return last.more.ok() && *last.more ? &last.record : nullptr;
  }

 private:
  struct Ahead {
    RawRecord record;
    absl::StatusOr<bool> more = false;
  };

  absl::StatusOr<bool> Cut(RawRecord* record) {
    std::string_view line;
    while (!ended_) {
      absl::StatusOr<bool> more = lines_->Next(&line);
      ended_ = !more.ok() || !*more;
      if (!ended_ && Trim(line).empty()) continue;
      if (!ended_ || !more.ok()) {
        record->origin = {lines_->path(), "record", ++records_, lines_->line_number() + (more.ok() ? 0 : 1)};
      }
      if (!more.ok()) return more;
      if (ended_) break;
      record->text.assign(line);
      return true;
    }
    if (records_ > 0) return false;
    record->origin = {lines_->path(), "record", ++records_, 0};
    return RefusedWhole(lines_->path(), "empty_file", "the file holds no record");
  }

  const std::unique_ptr<LineReader> lines_;
  std::uint64_t records_ = 0;
  bool ended_ = false;
  std::deque<Ahead> ahead_;
};

// What all parsers of a file share.
struct Shared {
  std::unique_ptr<const JsonlForm> form;
  ReadOptions options;
};

class JsonlParser final : public RecordParser {
 public:
  explicit JsonlParser(std::shared_ptr<const Shared> shared)
      : shared_(std::move(shared)), line_(shared_->options.limits.max_depth), words_(layout().fields.size()) {}

  const GraphLayout& layout() const override { return shared_->form->layout(); }

  absl::Status Parse(const RawRecord& record, SourceGraph* graph) override {
    for (std::vector<std::string_view>& words : words_) words.clear();
    ABSL_ASSIGN_OR_RETURN(const JsonObject object, line_.Parse(record.text));
    ABSL_RETURN_IF_ERROR(shared_->form->Read(object, graph, &words_));
    for (std::size_t k = 0; k < words_.size(); ++k) {
      if (!layout().fields[k].words) continue;
      ABSL_RETURN_IF_ERROR(StoreWords(k, graph));
    }
    return absl::OkStatus();
  }

 private:
  // Stores the words of a field, or in the second reading their ids.
  absl::Status StoreWords(std::size_t k, SourceGraph* graph) const {
    const std::string& field = layout().fields[k].name;
    const Vocabularies* const vocabularies = shared_->options.vocabularies.get();
    if (vocabularies == nullptr) return Refusal("no_vocabulary", absl::StrCat("'", field, "' holds texts"));
    return std::visit(
        [&](auto& ids) {
          if (vocabularies->finished()) return AddIds(*vocabularies, field, words_[k], ids);
          ids.resize(words_[k].size());
          AddWords(words_[k], &graph->words[k]);
          return absl::OkStatus();
        },
        graph->fields[k]);
  }

  static void AddWords(const std::vector<std::string_view>& words, WordRows* rows) {
    for (const std::string_view word : words) {
      rows->text.append(word);
      rows->ends.push_back(rows->text.size());
    }
  }

  template <typename T>
  static absl::Status AddIds(const Vocabularies& vocabularies, const std::string& field,
                             const std::vector<std::string_view>& words, std::vector<T>& ids) {
    for (const std::string_view word : words) {
      const std::optional<std::uint32_t> id = vocabularies.Find(field, word);
      if (!id) {
        return Refusal("unknown_word",
                       absl::StrCat("'", field,
                                    "' has a text that was not there when the texts of "
                                    "all graphs were gathered; a pipe, which can be read only once, "
                                    "may hold none"));
      }
      const T value = static_cast<T>(*id);
      if (static_cast<std::uint32_t>(value) != *id) {
        return IdDoesNotFit(field, sizeof(T));
      }
      ids.push_back(value);
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<const Shared> shared_;
  JsonLine line_;
  RecordWords words_;
};

bool Has(JsonObject record, const char* key) { return record[key].error() == simdjson::SUCCESS; }

absl::StatusOr<std::unique_ptr<JsonlForm>> FormOf(JsonObject record, const ReadLimits& limits) {
  if (Has(record, "source_tokens")) return NewTokenForm(limits);
  if (Has(record, "ContextGraph")) return NewTreeForm(limits);
  if (Has(record, "node_features")) return NewBondForm(record, limits);
  ABSL_ASSIGN_OR_RETURN(GeneralLayout layout, GeneralLayoutOf(record));
  return NewGeneralForm(std::move(layout), limits);
}

// By the first record that is of a form.
std::unique_ptr<JsonlForm> FindForm(LineCutter& cutter, const ReadLimits& limits) {
  JsonLine line(limits.max_depth);
  for (std::size_t k = 0; k < kMaxAhead; ++k) {
    const RawRecord* record = cutter.LookAhead();
    if (record == nullptr) break;
    const absl::StatusOr<JsonObject> object = line.Parse(record->text);
    if (!object.ok()) continue;
    absl::StatusOr<std::unique_ptr<JsonlForm>> form = FormOf(*object, limits);
    if (form.ok()) return *std::move(form);
  }
  return NewGeneralForm({}, limits);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> OpenJsonl(std::unique_ptr<ByteSource> file,
                                                       const ReadOptions& options) {
  auto cutter = std::make_unique<LineCutter>(std::make_unique<LineReader>(std::move(file), options.limits));
  std::unique_ptr<JsonlForm> form = FindForm(*cutter, options.limits);
  const auto shared = std::make_shared<const Shared>(Shared{std::move(form), options});
  return NewRecordReader(
      std::move(cutter), [shared] { return std::make_unique<JsonlParser>(shared); }, options.threads);
}

}  // namespace packtrain::ingest
