#include "client/ingest/formats/native_source.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ingest/import_identity.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/seal_description.h"
#include "proto/base/status_macros.h"
#include "proto/wire/import_words.h"

namespace packtrain::ingest {
namespace {

constexpr char kRecordWord[] = "graph";

constexpr std::size_t kDataTypePrefixBytes = std::string_view("DATA_TYPE_").size();

// As "z, pos", or with the types "z U8, pos F32 [3] angstrom".
std::string NamesOf(const v1::Schema& schema, bool with_types) {
  std::vector<std::string> names;
  for (const v1::Field& field : schema.fields()) {
    std::string& name = names.emplace_back(field.name());
    if (!with_types) continue;
    absl::StrAppend(&name, " ", v1::DataType_Name(field.data_type()).substr(kDataTypePrefixBytes));
    if (!field.dims().empty()) absl::StrAppend(&name, " [", absl::StrJoin(field.dims(), ","), "]");
    if (!field.unit().empty()) absl::StrAppend(&name, " ", field.unit());
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

std::string NumberingOf(const v1::Schema& schema) {
  const std::string word = wire::WordOf(schema.renumbered(), wire::kRenumberingWords);
  return word.empty() ? "numbered as they were read" : absl::StrCat("renumbered by ", word);
}

// What a file has and the first one has not, for people.
absl::Status Differs(const std::string& path, const v1::Schema& schema, const std::string& first_path,
                     const v1::Schema& first) {
  const auto differs = [&](std::string_view what, const std::string& here, const std::string& there) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": its ", std::string(what), " are ", here,
                                                   ", those of ", first_path, " are ", there,
                                                   "; files that are joined have the same"));
  };
  if (schema.renumbered() != first.renumbered()) {
    return differs("nodes", NumberingOf(schema), NumberingOf(first));
  }
  if (schema.edges() != first.edges()) return differs("edges", schema.edges(), first.edges());
  const bool have_same_names = NamesOf(schema, false) == NamesOf(first, false);
  return differs("fields", NamesOf(schema, have_same_names), NamesOf(first, have_same_names));
}

// Refusals name the file by themselves.
absl::Status AtFile(const std::string& path, const absl::Status& status) {
  if (status.ok() || IsRefusal(status)) return status;
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
}

bool AsksForASplit(const ImportOptions& options) { return options.random_split || !options.split_file.empty(); }

// Whether the file of this header, which is that of the only one of an import, is copied with its name.
bool IsCopied(const v1::Dataset& header, const ImportOptions& options) {
  return !header.version().empty() && !AsksForASplit(options);
}

}  // namespace

std::string WhyNameIsNeeded(const ImportOptions& options) {
  const absl::StatusOr<std::unique_ptr<NativeFile>> file = NativeFile::Open(options.paths.front());
  if (!file.ok() || IsCopied((*file)->dataset(), options)) return "";
  const bool is_part = (*file)->dataset().version().empty();
  return absl::StrCat(options.paths.front(), is_part ? " is a part, which has no name of its own"
                                                     : " is split anew, and so is no longer what it is named");
}

absl::StatusOr<std::unique_ptr<BlockSource>> NativeSource::Open(const ImportOptions& options) {
  std::unique_ptr<NativeSource> source(new NativeSource(options));
  ABSL_RETURN_IF_ERROR(source->ReadHeaders());
  if (!options.split_file.empty()) {
    ABSL_ASSIGN_OR_RETURN(source->split_lists_, ReadSplitFile(options.split_file, options.read.limits));
  }
  return source;
}

// A file is opened again when its turn comes: a join may have more files than a process may open.
absl::Status NativeSource::ReadHeaders() {
  for (const std::string& path : options_.paths) {
    ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<NativeFile> file, NativeFile::Open(path));
    total_bytes_ += file->bytes();
    if (graphs_.empty()) dataset_ = file->dataset();
    graphs_.push_back(0);
    refused_.emplace_back();
    const v1::Schema& schema = file->dataset().schema();
    if (!targets_.Add(schema)) return Differs(path, schema, options_.paths.front(), dataset_.schema());
    ABSL_RETURN_IF_ERROR(AtFile(path, words_.Add(schema)));
  }
  schema_ = dataset_.schema();
  is_copy_ = options_.paths.size() == 1 && IsCopied(dataset_, options_);
  if (!is_copy_) return Join();
  if (dataset_.splits_size() > 1) splits_.emplace();  // even where all three are empty
  return absl::OkStatus();
}

absl::Status NativeSource::Join() {
  ABSL_RETURN_IF_ERROR(words_.Finish());
  if (!targets_.IsUniform()) {
    if (options_.missing_target_nan) {
      ABSL_RETURN_IF_ERROR(CountTargets());
    }
    schema_ = targets_.JoinedSchema(options_.missing_target_nan);
  }
  words_.Store(&schema_);
  return absl::OkStatus();
}

absl::Status NativeSource::CountTargets() {
  for (const std::string& path : options_.paths) {
    ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<NativeFile> file, NativeFile::Open(path));
    const v1::Schema& schema = file->dataset().schema();
    ABSL_ASSIGN_OR_RETURN(const records::RecordLayout layout, records::RecordLayout::Create(schema));
    v1::ExportDatasetResponse message;
    while (true) {
      ABSL_ASSIGN_OR_RETURN(const bool more, file->Next(&message));
      if (!more) break;
      ABSL_RETURN_IF_ERROR(AtFile(path, targets_.Count(layout, schema, message.block())));
    }
  }
  return absl::OkStatus();
}

absl::Status NativeSource::OpenFile() {
  ABSL_ASSIGN_OR_RETURN(file_, NativeFile::Open(options_.paths[next_++]));
  const v1::Schema& schema = file_->dataset().schema();
  absl::StatusOr<records::RecordLayout> layout = records::RecordLayout::Create(schema);
  if (!layout.ok()) return AtFile(options_.paths[next_ - 1], layout.status());
  layout_ = *std::move(layout);
  word_converter_.reset();
  target_converter_.reset();
  if (is_copy_) return absl::OkStatus();
  if (!schema.vocabularies().empty()) {
    ABSL_ASSIGN_OR_RETURN(word_converter_, words_.ConverterOf(schema));
    if (word_converter_->changes_nothing()) word_converter_.reset();
  }
  if (WithoutWords(schema).SerializeAsString() == WithoutWords(schema_).SerializeAsString()) {
    return absl::OkStatus();
  }
  ABSL_ASSIGN_OR_RETURN(target_converter_, TargetConverter::Create(schema, schema_));
  return absl::OkStatus();
}

absl::Status NativeSource::Convert(v1::RecordBlock* block) {
  if (word_converter_) {
    const std::uint64_t before = graphs_[next_ - 1];
    ABSL_RETURN_IF_ERROR(
        word_converter_->Convert(block, [&](int place, std::string_view id, const absl::Status& refusal) {
          return Refuse(before + static_cast<std::uint64_t>(place), id, refusal);
        }));
  }
  if (!targets_.IsUniform()) targets_.Keep(*layout_, file_->dataset().schema(), *block);
  return target_converter_ ? target_converter_->Convert(block) : absl::OkStatus();
}

absl::Status NativeSource::Refuse(std::uint64_t place, std::string_view id, const absl::Status& refusal) {
  refused_[next_ - 1].push_back(place);
  const Origin origin = {options_.paths[next_ - 1], kRecordWord, place + 1, 0};
  const absl::Status located = WithPlace(RefusedAt(origin, refusal), id);
  ledger_.AddRefused({origin, std::string(id), ReasonOf(located), std::string(located.message())});
  return options_.skip_refused ? absl::OkStatus() : located;
}

absl::StatusOr<v1::ImportHeader> NativeSource::Begin() {
  v1::ImportHeader header;
  *header.mutable_schema() = schema_;
  const bool skip = !is_copy_ && options_.skip_refused;
  const bool number = !is_copy_ && options_.number_duplicates;
  header.set_on_error(skip ? v1::ERROR_POLICY_SKIP : v1::ERROR_POLICY_STOP);
  header.set_duplicate_ids(number ? v1::DUPLICATE_POLICY_NUMBER : v1::DUPLICATE_POLICY_REFUSE);
  // A target that is missing was allowed to be when the file was made.
  header.set_missing_target(v1::MISSING_TARGET_POLICY_NAN);
  return header;
}

absl::StatusOr<bool> NativeSource::Next(Block* block) {
  ABSL_ASSIGN_OR_RETURN(const bool more, NextBlock(block));
  if (!more) return false;
  const std::uint64_t graphs = GraphsOf(*block);
  ledger_.AddRead(graphs);
  if (auto* const records = std::get_if<v1::RecordBlock>(block)) {
    ABSL_RETURN_IF_ERROR(AtFile(options_.paths[next_ - 1], Convert(records)));
  }
  graphs_[next_ - 1] += graphs;
  return true;
}

absl::StatusOr<bool> NativeSource::NextBlock(Block* block) {
  v1::ExportDatasetResponse message;
  while (file_ != nullptr || next_ < options_.paths.size()) {
    if (file_ == nullptr) {
      ABSL_RETURN_IF_ERROR(OpenFile());
    }
    const bool takes_splits = is_copy_ || (file_->dataset().version().empty() && !AsksForASplit(options_));
    PackedRecords packed;
    ABSL_ASSIGN_OR_RETURN(const bool more, file_->Next(&message, reads_records() ? nullptr : &packed));
    if (!packed.bytes.empty()) {
      *block = std::move(packed);
      return true;
    }
    if (!more) {
      ABSL_RETURN_IF_ERROR(CheckUnchanged(options_.read.digests.get(), options_.paths[next_ - 1]));
      CloseFile();
    } else if (message.has_block()) {
      *block = std::move(*message.mutable_block());
      return true;
    } else if (takes_splits) {
      ABSL_RETURN_IF_ERROR(AddSplit(message.split()));
    }
  }
  return false;
}

void NativeSource::CloseFile() {
  const v1::Lineage& lineage = file_->dataset().lineage();
  sources_.insert(sources_.end(), lineage.sources().begin(), lineage.sources().end());
  closed_bytes_ += file_->consumed_bytes();
  sent_ += graphs_[next_ - 1] - refused_[next_ - 1].size();
  file_.reset();
}

absl::Status NativeSource::AddSplit(const v1::SplitBlock& block) {
  if (!splits_) splits_.emplace();
  const std::pair<std::string_view, google::protobuf::RepeatedField<std::uint32_t>*> lists[] = {
      {"train", splits_->mutable_train()}, {"val", splits_->mutable_val()}, {"test", splits_->mutable_test()}};
  for (const auto& [name, graphs] : lists) {
    if (block.split() != name) continue;
    AddPositionsLeft(block.graphs(), refused_[next_ - 1], sent_, graphs);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the file has a split '", block.split(), "'; known are train, val and test"));
}

std::optional<Origin> NativeSource::OriginOf(std::uint64_t position) const {
  for (std::size_t file = 0; file < graphs_.size(); ++file) {
    const std::uint64_t sent = graphs_[file] - refused_[file].size();
    if (position >= sent) {
      position -= sent;
      continue;
    }
    for (const std::uint64_t refused : refused_[file]) position += refused <= position ? 1 : 0;
    return Origin{options_.paths[file], kRecordWord, position + 1, 0};
  }
  return std::nullopt;
}

void NativeSource::Describe(const Ledger& ledger, v1::SealDatasetRequest* seal) const {
  if (!is_copy_) {
    DescribeSplits(options_, split_lists_, ledger, seal);
    if (splits_) DescribeOwnSplits(*splits_, ledger, seal);
    *seal->mutable_lineage() = LineageOf(sources_, options_);
    return;
  }
  seal->set_name(dataset_.name());
  *seal->mutable_lineage() = dataset_.lineage();
  seal->set_expected_version(dataset_.version());
  if (splits_) *seal->mutable_by_index() = *splits_;
}

}  // namespace packtrain::ingest
