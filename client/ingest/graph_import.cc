#include "client/ingest/graph_import.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/ingest/import_identity.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/seal_description.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"
#include "server/records/node_renumbering.h"

namespace packtrain::ingest {
namespace {

constexpr char kFullEdges[] = "full";
// What is assumed of all graphs is assumed from so many.
constexpr std::size_t kHeadRecords = 1000;
constexpr std::uint64_t kHeadBytes = 1 << 20;
// Records that are only counted, before the caller hears how far the reading is.
constexpr std::uint64_t kRecordsCounted = 10'000;
// Each further reading knows more; names of files may need one for each folder.
constexpr int kMaxReadings = 16;

bool IsPresent(const FieldValues& values) {
  return std::visit([](const auto& elements) { return !elements.empty(); }, values);
}

bool IsStored(const GraphField& field, const std::set<std::string>& present) {
  return field.optional_noun.empty() || present.contains(field.name);
}

// About how much memory a graph takes.
std::uint64_t BytesOf(const SourceGraph& graph) {
  std::uint64_t bytes = 8 * graph.senders.size();
  for (const FieldValues& values : graph.fields) {
    bytes += std::visit([](const auto& elements) { return elements.size() * sizeof(elements[0]); }, values);
  }
  return bytes;
}

// Zeros for a graph that lacks a field which others have.
void FillWithZeros(const GraphField& field, FieldValues* values) {
  std::size_t elements = 1;
  for (const std::uint32_t dim : field.dims) elements *= dim;
  std::visit([elements](auto& rows) { rows.assign(elements, 0); }, *values);
}

absl::Status Mismatch(const GraphField& field, const std::string& record, bool first_has_it) {
  const std::string& noun = field.optional_noun;
  return Refusal(absl::StrCat(field.name, "_mismatch"),
                 first_has_it
                     ? absl::StrCat("the ", record, " has no ", noun, ", but the first ", record, " has one")
                     : absl::StrCat("the ", record, " has a ", noun, ", but the first ", record, " has none"));
}

// Of a label, as messages have it.
std::string PlaceOf(const ReadRecord& record, const LabelTable::Reading& label) {
  Origin place = record.Place();
  if (!label.file.empty()) place.file = label.file;
  if (label.line > 0) place.line = label.line;
  return PlaceText(FormatOrigin(place), record.graph.id);
}

bool HasFields(const BlockLayout& layout) {
  return !layout.targets.empty() || std::ranges::find(layout.stored, true) != layout.stored.end();
}

absl::Status NoGraphs(const Ledger& ledger) {
  const std::string why =
      ledger.refused().empty() ? "" : absl::StrCat("; the first: ", ledger.refused().front().message);
  return Refusal("no_graphs", absl::StrCat("none of ", ledger.read(), " graphs could be read", why));
}

}  // namespace

absl::StatusOr<GraphImport::Inputs> GraphImport::ReadInputs(const Format& format,
                                                            const ImportOptions& options) {
  Inputs inputs;
  if (!options.split_file.empty()) {
    ABSL_ASSIGN_OR_RETURN(inputs.splits, ReadSplitFile(options.split_file, options.read.limits));
  }
  ABSL_ASSIGN_OR_RETURN(inputs.list, InputList::Create(format, options.paths, options.read));
  if (options.join) {
    JoinOptions join = *options.join;
    join.targets = options.targets;
    ABSL_ASSIGN_OR_RETURN(inputs.table, TargetTable::Read(join, options.read.limits));
    ABSL_RETURN_IF_ERROR(CheckUnchanged(options.read.digests.get(), join.file));
  }
  return inputs;
}

absl::StatusOr<std::unique_ptr<GraphImport>> GraphImport::Create(const Format& format, ImportOptions options) {
  if (format.may_hold_words) options.read.vocabularies = std::make_shared<Vocabularies>();
  ABSL_ASSIGN_OR_RETURN(Inputs inputs, ReadInputs(format, options));
  return std::unique_ptr<GraphImport>(new GraphImport(std::move(options), std::move(inputs)));
}

GraphImport::GraphImport(ImportOptions options, Inputs inputs)
    : options_(std::move(options)),
      inputs_(std::move(inputs.list)),
      splits_(std::move(inputs.splits)),
      targets_(options_.targets, std::move(inputs.table), options_.missing_target_nan, options_.skip_refused),
      names_(inputs_->files()) {}

absl::Status GraphImport::ReadWords() {
  Vocabularies* const vocabularies = options_.read.vocabularies.get();
  if (vocabularies == nullptr || vocabularies->finished()) return absl::OkStatus();
  if (!inputs_->can_restart()) return vocabularies->Finish();
  ABSL_RETURN_IF_ERROR(GatherWords(*inputs_, options_.limit, *vocabularies));
  return inputs_->Restart();
}

absl::StatusOr<v1::ImportHeader> GraphImport::Begin() {
  ABSL_RETURN_IF_ERROR(ReadWords());
  ABSL_RETURN_IF_ERROR(Restart());
  while (!ended_ && !only_counts_ && (!builder_ || builder_->empty())) {
    if (!layout_ && head_left_ == 0) {
      ABSL_RETURN_IF_ERROR(ReadHead());
      ABSL_RETURN_IF_ERROR(Assume());
    }
    ABSL_ASSIGN_OR_RETURN(const bool more, Step());
    ended_ = !more;
  }
  if (!only_counts_ && (!builder_ || builder_->empty())) {
    return NoGraphs(ledger_);
  }
  v1::ImportHeader header = MakeHeader();
  // Before anything is sent.
  ABSL_RETURN_IF_ERROR(records::SchemaOfRenumbered(header.schema(), header.renumber()).status());
  return header;
}

absl::Status GraphImport::Restart() {
  records_.reset();
  if (readings_++ > 0) {
    ABSL_RETURN_IF_ERROR(inputs_->Restart());
  }
  records_.emplace(*inputs_);
  names_.Restart();
  targets_.Restart();
  head_.clear();
  head_left_ = 0;
  layout_.reset();
  builder_.reset();
  ended_ = false;
  only_counts_ = false;
  wrong_.clear();
  refusal_.reset();
  compared_.reset();
  ledger_ = Ledger();
  sent_ = 0;
  own_splits_.Clear();
  return absl::OkStatus();
}

absl::Status GraphImport::ReadHead() {
  const std::uint64_t left =
      options_.limit > 0 ? options_.limit - ledger_.read() : std::numeric_limits<std::uint64_t>::max();
  head_.clear();
  for (std::uint64_t bytes = 0;
       head_.size() < std::min<std::uint64_t>(kHeadRecords, left) && bytes < kHeadBytes;) {
    ReadRecord& record = head_.emplace_back();
    ABSL_ASSIGN_OR_RETURN(const bool more, records_->Next(&record));
    if (!more) {
      head_.pop_back();
      break;
    }
    record.KeepLabels();
    bytes += BytesOf(record.graph);
    if (!record.refusal.ok() && !options_.skip_refused) break;
  }
  head_left_ = head_.size();
  NameHead();
  return absl::OkStatus();
}

void GraphImport::NameHead() {
  do {
    names_.Restart();
    for (ReadRecord& record : head_) names_.Name(&record);
  } while (!names_.repeated().empty());
}

absl::Status GraphImport::Assume() {
  const auto first = std::find_if(head_.begin(), head_.end(), [](const ReadRecord& record) {
    return record.refusal.ok() && IsUtf8(record.graph.id);
  });
  if (first == head_.end()) return absl::OkStatus();
  for (const ReadRecord& record : head_) {
    if (!record.refusal.ok() || record.file->layout != first->file->layout) continue;
    targets_.Read(record.graph, record.file->layout.labels_are_cells);
    targets_.Count([&record](const LabelTable::Reading& label) { return PlaceOf(record, label); });
    NoteUnits(record.graph);
    NotePresent(record, &record == &*first);
  }
  if (!has_read_all_) {
    ABSL_RETURN_IF_ERROR(targets_.Choose());
  }
  layout_ = LayoutOf(first->file->layout);
  builder_.emplace(*layout_);
  return absl::OkStatus();
}

void GraphImport::NotePresent(const ReadRecord& record, bool is_first) {
  const std::vector<GraphField>& fields = record.file->layout.fields;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const bool counts = is_first || fields[k].zero_where_absent;
    if (counts && IsPresent(record.graph.fields[k])) present_.insert(fields[k].name);
  }
}

void GraphImport::NoteUnits(const SourceGraph& graph) {
  for (const Label& label : graph.labels) {
    if (!label.unit.empty()) units_.emplace(label.name, label.unit);
  }
}

BlockLayout GraphImport::LayoutOf(const GraphLayout& graphs) const {
  BlockLayout layout;
  layout.graphs = graphs;
  layout.own_edges = !graphs.edges.empty() && (options_.edges.empty() || options_.edges == graphs.edges);
  for (const GraphField& field : graphs.fields) {
    layout.stored.push_back(field.scope == v1::FIELD_SCOPE_EDGE ? layout.own_edges : IsStored(field, present_));
  }
  layout.targets = targets_.names();
  return layout;
}

void GraphImport::AddVocabularies(v1::Schema* schema) const {
  for (std::size_t k = 0; k < layout_->stored.size(); ++k) {
    const GraphField& field = layout_->graphs.fields[k];
    if (!layout_->stored[k] || (!field.words && field.names.empty())) continue;
    v1::Vocabulary& vocabulary = *schema->add_vocabularies();
    if (field.words) vocabulary = options_.read.vocabularies->Of(field.name);
    vocabulary.set_field(field.name);
    for (const std::string& name : field.names) vocabulary.add_words(name);
  }
}

v1::ImportHeader GraphImport::MakeHeader() const {
  v1::ImportHeader header;
  v1::Schema& schema = *header.mutable_schema();
  schema = SchemaOf(*layout_);
  for (v1::Target& target : *schema.mutable_targets()) {
    if (const auto unit = units_.find(target.name()); unit != units_.end()) target.set_unit(unit->second);
  }
  AddVocabularies(&schema);
  if (!layout_->own_edges) {
    schema.set_edges(options_.edges.empty() ? kFullEdges : options_.edges);
    schema.set_edge_rule(schema.edges() == kFullEdges ? v1::EDGE_RULE_FULL : v1::EDGE_RULE_STORED);
    header.set_build_edges(true);
  }
  header.set_renumber(options_.renumber);
  header.set_on_error(options_.skip_refused ? v1::ERROR_POLICY_SKIP : v1::ERROR_POLICY_STOP);
  header.set_duplicate_ids(options_.number_duplicates ? v1::DUPLICATE_POLICY_NUMBER
                                                      : v1::DUPLICATE_POLICY_REFUSE);
  header.set_missing_target(options_.missing_target_nan ? v1::MISSING_TARGET_POLICY_NAN
                                                        : v1::MISSING_TARGET_POLICY_REFUSE);
  return header;
}

absl::StatusOr<bool> GraphImport::Next(Block* block) {
  *block = v1::GraphBlock();
  const std::uint64_t read = ledger_.read();
  while (!ended_ && (only_counts_ ? ledger_.read() < read + kRecordsCounted : !builder_->full())) {
    ABSL_ASSIGN_OR_RETURN(const bool more, Step());
    ended_ = !more;
  }
  if (only_counts_) return !ended_;
  if (builder_->empty()) return false;
  *block = builder_->Take();
  return true;
}

absl::StatusOr<bool> GraphImport::Step() {
  ABSL_ASSIGN_OR_RETURN(const bool more, NextRecord());
  if (!more) {
    ABSL_RETURN_IF_ERROR(End());
    return false;
  }
  ledger_.AddRead();
  absl::Status status = record_.refusal;
  targets_.LookUp(record_.graph.id, status.ok());
  if (status.ok()) {
    status = Fit();
    if (status.ok() && !only_counts_) status = NoteSplit(record_.graph.split);
    if (!status.ok()) status = RefusedAt(record_.Place(), std::move(status));
  }
  if (status.ok() && !only_counts_) {
    targets_.Keep();
    builder_->Add(record_.graph, y_, record_.Place());
    ++sent_;
    if (!record_.graph.remark.empty())
      ledger_.AddRemark({record_.Place(), record_.graph.id, record_.graph.remark});
  }
  ABSL_RETURN_IF_ERROR(IsRefusal(status) ? Refuse(status) : status);
  return true;
}

absl::Status GraphImport::NoteSplit(const std::string& split) {
  if (splits_ || options_.random_split || split.empty()) return absl::OkStatus();
  if (split == "train") {
    own_splits_.add_train(sent_);
  } else if (split == "val") {
    own_splits_.add_val(sent_);
  } else if (split == "test") {
    own_splits_.add_test(sent_);
  } else {
    return Refusal("bad_split", absl::StrCat("the split ", Shown(split),
                                             " is none of 'train', 'val' and 'test' (--split-file "
                                             "and --split-permille split without those of the source)"));
  }
  return absl::OkStatus();
}

bool GraphImport::has_own_splits() const {
  return own_splits_.train_size() + own_splits_.val_size() + own_splits_.test_size() > 0;
}

absl::StatusOr<bool> GraphImport::NextRecord() {
  if (options_.limit > 0 && ledger_.read() >= options_.limit) {
    ABSL_RETURN_IF_ERROR(records_->Stop());
    return false;
  }
  is_counted_ = head_left_ > 0;
  if (is_counted_) {
    std::swap(record_, head_[head_.size() - head_left_--]);
    return true;
  }
  head_.clear();
  ABSL_ASSIGN_OR_RETURN(const bool more, records_->Next(&record_));
  if (!more) return false;
  names_.Name(&record_);
  if (!names_.repeated().empty()) {
    ABSL_RETURN_IF_ERROR(FoundWrong(absl::StrCat("'", names_.repeated(), "' names more than one graph"),
                                    "give each graph an id of its own, or import a plain file"));
  }
  return true;
}

absl::Status GraphImport::Fit() {
  if (!IsUtf8(record_.graph.id)) {
    const absl::Status refusal = Refusal("not_utf8", "the id is not UTF-8");
    const std::uint64_t line = std::max(record_.graph.id_line, record_.graph.line);
    return line == 0 ? refusal : RefusedAt({"", "", 0, line}, refusal);
  }
  ABSL_RETURN_IF_ERROR(CheckFields());
  targets_.Read(record_.graph, record_.file->layout.labels_are_cells);
  if (!is_counted_) {
    targets_.Count([this](const LabelTable::Reading& label) { return PlaceOf(record_, label); });
  }
  if (const std::string doubt = has_read_all_ ? "" : targets_.doubt(); !doubt.empty()) {
    ABSL_RETURN_IF_ERROR(FoundWrong(doubt, "--targets names the targets"));
  }
  if (only_counts_) return absl::OkStatus();
  if (!HasFields(*layout_)) {
    return Refusal(
        "no_fields",
        "the graph has neither a field of its nodes, its edges or itself, nor a target: it needs one of "
        "them (a label is a target where all graphs have it as a number, or with --targets)");
  }
  return targets_.Take(&y_);
}

absl::Status GraphImport::CheckFields() {
  if (!HasSameFields()) {
    return Refusal("fields_mismatch", "the file has other fields than those before it");
  }
  for (std::size_t k = 0; k < layout_->stored.size(); ++k) {
    const GraphField& field = layout_->graphs.fields[k];
    if (field.optional_noun.empty() || IsPresent(record_.graph.fields[k]) == layout_->stored[k]) continue;
    if (!field.zero_where_absent) return Mismatch(field, layout_->graphs.record_word, layout_->stored[k]);
    if (layout_->stored[k]) {
      FillWithZeros(field, &record_.graph.fields[k]);
    } else {
      present_.insert(field.name);
      ABSL_RETURN_IF_ERROR(
          FoundWrong(absl::StrCat("some ", layout_->graphs.record_word, " has a ", field.optional_noun),
                     "import a plain file"));
    }
  }
  return absl::OkStatus();
}

bool GraphImport::HasSameFields() {
  if (compared_ != record_.file) {
    compared_ = record_.file;
    same_fields_ = record_.file->layout == layout_->graphs;
  }
  return same_fields_;
}

absl::Status GraphImport::Refuse(const absl::Status& refusal) {
  const Origin record = record_.Place();
  absl::Status told = WithPlace(RefusedAt(record, refusal), record, record_.graph.id);
  ledger_.AddRefused({.origin = PlaceOf(refusal, record),
                      .id = record_.graph.id,
                      .reason = ReasonOf(refusal),
                      .message = std::string(told.message()),
                      .leaves_rest = LeavesRest(refusal)});
  if (options_.skip_refused) return absl::OkStatus();
  const bool is_for_target = record_.refusal.ok() && record_.file->layout.labels_are_cells;
  if (!is_for_target || has_read_all_ || !targets_.may_change()) return told;
  // The column may turn out to be text.
  refusal_ = told;
  only_counts_ = true;
  return absl::OkStatus();
}

absl::Status GraphImport::FoundWrong(std::string what, std::string_view advice) {
  if (!wrong_.empty()) return absl::OkStatus();
  if (!inputs_->can_restart()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a pipe cannot be read a second time, which is needed because ", what, ": ", std::string(advice)));
  }
  if (readings_ == kMaxReadings) return absl::AbortedError("the files change while they are read");
  wrong_ = std::move(what);
  only_counts_ = true;
  return absl::OkStatus();
}

absl::Status GraphImport::End() {
  head_.clear();
  if (layout_ && !has_read_all_ && targets_.WouldChooseOtherwise()) {
    ABSL_RETURN_IF_ERROR(FoundWrong("other labels are targets, or in another order", "--targets names them"));
  }
  ledger_.SetJoin(targets_.join_use());
  for (const PassedOver& files : inputs_->passed_over()) ledger_.AddPassedOver(files);
  if (wrong_.empty()) {
    if (refusal_) return *refusal_;
    return sent_ == 0 || options_.is_part ? absl::OkStatus() : targets_.CheckFound();
  }
  has_read_all_ = true;
  return targets_.Choose();
}

void GraphImport::Describe(const Ledger& ledger, v1::SealDatasetRequest* seal) const {
  if (has_own_splits()) {
    DescribeOwnSplits(own_splits_, ledger, seal);
  } else {
    DescribeSplits(options_, splits_, ledger, seal);
  }
  *seal->mutable_lineage() = LineageOf(inputs_->sources(), options_);
}

}  // namespace packtrain::ingest
