#include "client/ingest/graph_import.h"

#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/source_files.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr char kFullEdges[] = "full";
// Of what is kept beside a data set about its origin; the server takes somewhat more.
constexpr std::size_t kMaxSourceBytes = 128 << 10;
constexpr std::size_t kMaxCommandBytes = 16 << 10;

absl::Status CheckNames(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (!IsUtf8(file)) return absl::InvalidArgumentError(absl::StrCat(file, ": the file's name is not UTF-8"));
  }
  return absl::OkStatus();
}

// Bytes on disk of all files together; a pipe counts as none, since its length is not known beforehand.
absl::StatusOr<std::uint64_t> TotalBytes(const std::vector<std::string>& files) {
  std::uint64_t total = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const bool regular = std::filesystem::status(file, error).type() == std::filesystem::file_type::regular;
    if (!error && regular) total += std::filesystem::file_size(file, error);
    if (error) return absl::NotFoundError(absl::StrCat(file, ": ", error.message()));
  }
  return total;
}

bool IsPresent(const FieldValues& values) {
  return std::visit([](const auto& elements) { return !elements.empty(); }, values);
}

absl::Status Mismatch(const GraphField& field, const std::string& record, bool first_has_it) {
  const std::string& noun = field.optional_noun;
  return Refusal(absl::StrCat(field.name, "_mismatch"),
                 first_has_it
                     ? absl::StrCat("the ", record, " has no ", noun, ", but the first ", record, " has one")
                     : absl::StrCat("the ", record, " has a ", noun, ", but the first ", record, " has none"));
}

// As many as a description of a data set may hold, the others as one.
void AddSources(const std::vector<v1::SourceFile>& sources, v1::Lineage* lineage) {
  auto source = sources.begin();
  for (; source != sources.end() && lineage->ByteSizeLong() < kMaxSourceBytes; ++source) {
    *lineage->add_sources() = *source;
  }
  if (source == sources.end()) return;
  v1::SourceFile& rest = *lineage->add_sources();
  rest.set_name(absl::StrCat("and ", sources.end() - source, " more files"));
  for (; source != sources.end(); ++source) rest.set_bytes(rest.bytes() + source->bytes());
}

// Ids that a split file may name though no such graph is stored. (Of a duplicate, the first one is.)
std::set<std::string> IdsLeftOut(const Ledger& ledger) {
  std::set<std::string> ids;
  for (const RefusedGraph& graph : ledger.refused()) {
    if (graph.reason != "duplicate_id") ids.insert(graph.id);
  }
  return ids;
}

void AddIds(const std::vector<std::string>& ids, const std::set<std::string>& left_out,
            google::protobuf::RepeatedPtrField<std::string>* out) {
  for (const std::string& id : ids) {
    if (!left_out.contains(id)) *out->Add() = id;
  }
}

void SetSplit(const RandomSplit& split, v1::SplitFractions* fractions) {
  fractions->set_train_permille(split.permille[0]);
  fractions->set_val_permille(split.permille[1]);
  fractions->set_test_permille(split.permille[2]);
  fractions->set_seed(split.seed);
}

void SetSplit(const SplitLists& lists, const Ledger& ledger, v1::SplitByIds* by_ids) {
  const std::set<std::string> left_out = IdsLeftOut(ledger);
  AddIds(lists.train, left_out, by_ids->mutable_train());
  AddIds(lists.val, left_out, by_ids->mutable_val());
  AddIds(lists.test, left_out, by_ids->mutable_test());
}

}  // namespace

absl::StatusOr<GraphImport::Inputs> GraphImport::ReadInputs(const Format& format,
                                                            const ImportOptions& options) {
  Inputs inputs;
  if (!options.split_file.empty()) {
    ABSL_ASSIGN_OR_RETURN(inputs.splits, ReadSplitFile(options.split_file, options.read.limits));
  }
  ABSL_ASSIGN_OR_RETURN(inputs.files, FindFiles(options.paths, format.extensions));
  ABSL_RETURN_IF_ERROR(CheckNames(inputs.files));
  ABSL_ASSIGN_OR_RETURN(inputs.total_bytes, TotalBytes(inputs.files));
  if (options.join) {
    JoinOptions join = *options.join;
    join.targets = options.targets;
    ABSL_ASSIGN_OR_RETURN(inputs.table, TargetTable::Read(join, options.read.limits));
  }
  return inputs;
}

absl::StatusOr<std::unique_ptr<GraphImport>> GraphImport::Create(const Format& format, ImportOptions options) {
  ABSL_ASSIGN_OR_RETURN(Inputs inputs, ReadInputs(format, options));
  return std::unique_ptr<GraphImport>(new GraphImport(format, std::move(options), std::move(inputs)));
}

GraphImport::GraphImport(const Format& format, ImportOptions options, Inputs inputs)
    : format_(format),
      options_(std::move(options)),
      files_(std::move(inputs.files)),
      total_bytes_(inputs.total_bytes),
      targets_(options_.targets, std::move(inputs.table), options_.missing_target_nan),
      splits_(std::move(inputs.splits)) {}

absl::StatusOr<v1::ImportHeader> GraphImport::Begin() {
  ABSL_ASSIGN_OR_RETURN(pending_, NextGood());
  if (!pending_) {
    return Refusal("no_graphs", absl::StrCat("none of ", ledger_.read(), " graphs could be read"));
  }
  builder_.emplace(*layout_);
  return MakeHeader();
}

v1::ImportHeader GraphImport::MakeHeader() const {
  v1::ImportHeader header;
  v1::Schema& schema = *header.mutable_schema();
  schema = SchemaOf(*layout_);
  if (!layout_->own_edges) {
    schema.set_edges(options_.edges.empty() ? kFullEdges : options_.edges);
    schema.set_edge_rule(schema.edges() == kFullEdges ? v1::EDGE_RULE_FULL : v1::EDGE_RULE_STORED);
    header.set_build_edges(true);
  }
  header.set_on_error(options_.skip_refused ? v1::ERROR_POLICY_SKIP : v1::ERROR_POLICY_STOP);
  header.set_duplicate_ids(options_.number_duplicates ? v1::DUPLICATE_POLICY_NUMBER
                                                      : v1::DUPLICATE_POLICY_REFUSE);
  header.set_missing_target(options_.missing_target_nan ? v1::MISSING_TARGET_POLICY_NAN
                                                        : v1::MISSING_TARGET_POLICY_REFUSE);
  return header;
}

absl::StatusOr<bool> GraphImport::Next(Block* block) {
  while (pending_ && !builder_->full()) {
    builder_->Add(*graph_, y_, PlaceOfGraph());
    ABSL_ASSIGN_OR_RETURN(pending_, NextGood());
  }
  if (builder_->empty()) return false;
  *block = builder_->Take();
  return true;
}

absl::StatusOr<bool> GraphImport::NextGood() {
  while (true) {
    absl::StatusOr<bool> more = NextGraph();
    if (more.ok() || !options_.skip_refused || !IsRefusal(more.status())) return more;
  }
}

absl::StatusOr<bool> GraphImport::NextGraph() {
  const absl::StatusOr<bool> more = ReadRecord();
  if (more.ok() && !*more) return false;
  if (!more.ok() && !IsRefusal(more.status())) return more;
  ledger_.AddRead();
  absl::Status status = more.status();
  if (status.ok()) {
    status = Fit();
    if (status.ok()) return true;
    status = RefusedAt(PlaceOfGraph(), graph_->id, status);
  }
  ledger_.AddRefused({PlaceOfGraph(), graph_->id, ReasonOf(status), std::string(status.message())});
  return status;
}

absl::StatusOr<bool> GraphImport::ReadRecord() {
  while (file_ < files_.size()) {
    if (reader_ == nullptr) {
      ABSL_RETURN_IF_ERROR(OpenFile());
    }
    const bool enough = options_.limit > 0 && ledger_.read() >= options_.limit;
    const absl::StatusOr<bool> more = enough ? false : reader_->Next(&*graph_);
    if (!more.ok() || *more) return more;
    ABSL_RETURN_IF_ERROR(CloseFile());
    file_ = enough ? files_.size() : file_ + 1;
  }
  return false;
}

absl::Status GraphImport::OpenFile() {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes,
                        ByteSource::Open(file(), options_.read.limits.max_unpacked_bytes));
  ABSL_ASSIGN_OR_RETURN(reader_, format_.open_graphs(std::move(bytes), options_.read));
  graph_.emplace(reader_->layout());
  same_fields_ = !layout_ || reader_->layout() == layout_->graphs;
  return absl::OkStatus();
}

absl::Status GraphImport::CloseFile() {
  ABSL_ASSIGN_OR_RETURN(const std::vector<v1::SourceFile> read, reader_->DescribeFiles());
  reader_.reset();
  for (const v1::SourceFile& source : read) closed_bytes_ += source.bytes();
  sources_.insert(sources_.end(), read.begin(), read.end());
  return absl::OkStatus();
}

absl::Status GraphImport::Fit() {
  if (!IsUtf8(graph_->id)) return Refusal("not_utf8", "the id is not UTF-8");
  if (layout_) return FitTo(*layout_);
  ABSL_ASSIGN_OR_RETURN(BlockLayout layout, LayoutOfFirst());
  ABSL_RETURN_IF_ERROR(FitTo(layout));
  layout_ = std::move(layout);
  return absl::OkStatus();
}

absl::StatusOr<BlockLayout> GraphImport::LayoutOfFirst() const {
  BlockLayout layout;
  layout.graphs = reader_->layout();
  layout.own_edges =
      !layout.graphs.edges.empty() && (options_.edges.empty() || options_.edges == layout.graphs.edges);
  for (std::size_t k = 0; k < layout.graphs.fields.size(); ++k) {
    const GraphField& field = layout.graphs.fields[k];
    layout.stored.push_back(field.scope == v1::FIELD_SCOPE_EDGE
                                ? layout.own_edges
                                : field.optional_noun.empty() || IsPresent(graph_->fields[k]));
  }
  ABSL_ASSIGN_OR_RETURN(layout.targets, targets_.NamesFor(*graph_));
  return layout;
}

absl::Status GraphImport::FitTo(const BlockLayout& layout) {
  ABSL_RETURN_IF_ERROR(CheckFields(layout));
  return targets_.Take(layout.targets, *graph_, &y_);
}

absl::Status GraphImport::CheckFields(const BlockLayout& layout) const {
  if (!same_fields_) return Refusal("fields_mismatch", "the file has other fields than those before it");
  for (std::size_t k = 0; k < layout.stored.size(); ++k) {
    const GraphField& field = layout.graphs.fields[k];
    if (field.optional_noun.empty() || IsPresent(graph_->fields[k]) == layout.stored[k]) continue;
    return Mismatch(field, layout.graphs.record_word, layout.stored[k]);
  }
  return absl::OkStatus();
}

Origin GraphImport::PlaceOfGraph() const {
  return {file(), reader_->layout().record_word, graph_->record, graph_->line};
}

void GraphImport::Describe(const Ledger& ledger, v1::SealDatasetRequest* seal) const {
  if (options_.random_split) SetSplit(*options_.random_split, seal->mutable_fractions());
  if (splits_) SetSplit(*splits_, ledger, seal->mutable_by_ids());
  v1::Lineage* lineage = seal->mutable_lineage();
  AddSources(sources_, lineage);
  // For people; a message holds no other text.
  if (options_.command.size() <= kMaxCommandBytes && IsUtf8(options_.command)) {
    lineage->set_command(options_.command);
  }
  lineage->set_program_version(options_.program_version);
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  lineage->set_imported_at_ms(std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count());
}

std::uint64_t GraphImport::consumed_bytes() const {
  return closed_bytes_ + (reader_ == nullptr ? 0 : reader_->consumed_bytes());
}

}  // namespace packtrain::ingest
