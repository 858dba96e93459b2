#include "client/ingest/extxyz_import.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// As many as a server takes.
constexpr std::size_t kMaxTargets = 1024;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

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

// Keys that say what the frame is, and so are no targets.
bool IsStructural(std::string_view key) {
  return key == "Lattice" || key == "Properties" || key == "pbc" || key == "id";
}

std::vector<std::string> NumericKeys(const Frame& frame) {
  std::vector<std::string> names;
  for (const KeyValue& pair : frame.pairs) {
    if (pair.has_value && !IsStructural(pair.key) && ParseDouble(pair.value)) names.emplace_back(pair.key);
  }
  return names;
}

absl::StatusOr<std::optional<TargetTable>> ReadTable(const ExtxyzImportOptions& options) {
  if (!options.join) return std::nullopt;
  JoinOptions join = *options.join;
  join.targets = options.targets;
  ABSL_ASSIGN_OR_RETURN(TargetTable table, TargetTable::Read(join, options.limits));
  return table;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExtxyzImport>> ExtxyzImport::Create(ExtxyzImportOptions options) {
  for (const std::string& file : options.files) {
    if (!IsUtf8(file)) return absl::InvalidArgumentError(absl::StrCat(file, ": the file's name is not UTF-8"));
  }
  ABSL_ASSIGN_OR_RETURN(std::uint64_t total_bytes, TotalBytes(options.files));
  ABSL_ASSIGN_OR_RETURN(std::optional<TargetTable> table, ReadTable(options));
  return std::unique_ptr<ExtxyzImport>(new ExtxyzImport(std::move(options), std::move(table), total_bytes));
}

ExtxyzImport::ExtxyzImport(ExtxyzImportOptions options, std::optional<TargetTable> table,
                           std::uint64_t total_bytes)
    : options_(std::move(options)), table_(std::move(table)), total_bytes_(total_bytes) {}

absl::StatusOr<v1::Schema> ExtxyzImport::Begin() {
  ABSL_ASSIGN_OR_RETURN(bool more, NextGood());
  if (!more) return Refusal("no_graphs", absl::StrCat("none of ", ledger_.read(), " graphs could be read"));
  builder_.emplace(*layout_);
  pending_ = true;
  return SchemaOf(*layout_);
}

absl::StatusOr<bool> ExtxyzImport::Next(v1::GraphBlock* block) {
  while (pending_ && !builder_->full()) {
    builder_->Add(frame_, y_, {file(), frame_.number, frame_.line});
    ABSL_ASSIGN_OR_RETURN(bool more, NextGood());
    pending_ = more;
  }
  if (builder_->empty()) return false;
  *block = builder_->Take();
  return true;
}

absl::StatusOr<bool> ExtxyzImport::NextGood() {
  while (true) {
    absl::StatusOr<bool> more = NextFrame();
    if (more.ok() || !options_.skip_refused || !IsRefusal(more.status())) return more;
  }
}

absl::StatusOr<bool> ExtxyzImport::NextFrame() {
  absl::StatusOr<bool> more = ReadFrame();
  if (more.ok() && !*more) return false;
  if (!more.ok() && !IsRefusal(more.status())) return more;
  ledger_.AddRead();
  const absl::Status status = more.ok() ? FitFrame() : more.status();
  if (status.ok()) return true;
  ledger_.AddRefused(
      {{file(), frame_.number, frame_.line}, frame_.id, ReasonOf(status), std::string(status.message())});
  return status;
}

absl::StatusOr<bool> ExtxyzImport::ReadFrame() {
  while (file_ < options_.files.size()) {
    if (reader_ == nullptr) {
      ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ExtxyzReader> reader,
                            ExtxyzReader::Open(file(), options_.limits, options_.max_atoms));
      reader_ = std::move(reader);
    }
    const bool enough = options_.limit > 0 && ledger_.read() >= options_.limit;
    absl::StatusOr<bool> more = enough ? false : reader_->Next(&frame_);
    if (!more.ok() || *more) return more;
    ABSL_RETURN_IF_ERROR(CloseFile());
    file_ = enough ? options_.files.size() : file_ + 1;
  }
  return false;
}

absl::Status ExtxyzImport::CloseFile() {
  ABSL_ASSIGN_OR_RETURN(FileDigest digest, reader_->source().Digest());
  reader_.reset();
  closed_bytes_ += digest.bytes;
  v1::SourceFile& source = sources_.emplace_back();
  source.set_name(file());
  source.set_bytes(digest.bytes);
  source.set_sha256(digest.sha256);
  return absl::OkStatus();
}

absl::Status ExtxyzImport::FitFrame() {
  if (!IsUtf8(frame_.id)) return Refused("not_utf8", "the id is not UTF-8");
  const bool first = !layout_;
  if (first) DecideLayout();
  absl::Status status = CheckTargetNames();
  if (status.ok()) status = CheckCell();
  if (status.ok()) status = table_ ? JoinTargets() : TakeTargetsFromFrame();
  if (!status.ok() && first) layout_.reset();
  return status;
}

void ExtxyzImport::DecideLayout() {
  layout_.emplace();
  layout_->periodic = frame_.cell.has_value();
  if (table_) {
    layout_->targets = table_->names();
  } else {
    layout_->targets = options_.targets.empty() ? NumericKeys(frame_) : options_.targets;
  }
}

absl::Status ExtxyzImport::CheckTargetNames() const {
  if (layout_->targets.size() > kMaxTargets) {
    return Refused("too_many_targets", absl::StrCat(layout_->targets.size(), " targets, at most ", kMaxTargets,
                                                    " are taken (--targets names those that matter)"));
  }
  for (const std::string& name : layout_->targets) {
    if (!IsUtf8(name)) return Refused("not_utf8", "the name of a target is not UTF-8");
  }
  return absl::OkStatus();
}

absl::Status ExtxyzImport::CheckCell() const {
  if (frame_.cell.has_value() == layout_->periodic) return absl::OkStatus();
  return Refused("cell_mismatch", layout_->periodic ? "the frame has no Lattice, but the first frame has one"
                                                    : "the frame has a Lattice, but the first frame has none");
}

absl::Status ExtxyzImport::JoinTargets() {
  const std::optional<std::span<const double>> row = table_->Find(frame_.id);
  if (!row && !options_.missing_target_nan) {
    return Refused("missing_target", absl::StrCat("no row of ", table_->file(),
                                                  " has this id (--missing-target nan stores it without)"));
  }
  if (row) {
    y_.assign(row->begin(), row->end());
  } else {
    y_.assign(layout_->targets.size(), kMissing);
  }
  return CheckTargets();
}

absl::Status ExtxyzImport::TakeTargetsFromFrame() {
  y_.clear();
  for (const std::string& name : layout_->targets) {
    const std::optional<std::string_view> text = FindKey(frame_.pairs, name);
    const std::optional<double> value = text ? ParseDouble(*text) : kMissing;
    if (!value) return Refused("bad_target", absl::StrCat("target '", name, "' is not a number"));
    y_.push_back(*value);
  }
  return CheckTargets();
}

absl::Status ExtxyzImport::CheckTargets() const {
  for (std::size_t column = 0; column < y_.size(); ++column) {
    const std::string& name = layout_->targets[column];
    if (std::isinf(y_[column])) return Refused("not_finite", absl::StrCat("target '", name, "' is not finite"));
    if (std::isnan(y_[column]) && !options_.missing_target_nan) {
      return Refused("missing_target",
                     absl::StrCat("target '", name, "' is missing (--missing-target nan stores it without)"));
    }
  }
  return absl::OkStatus();
}

absl::Status ExtxyzImport::Refused(std::string_view reason, const std::string& what) const {
  return Refusal(
      reason, absl::StrCat(file(), ":", frame_.line, ": frame ", frame_.number, " (", frame_.id, "): ", what));
}

std::uint64_t ExtxyzImport::consumed_bytes() const {
  return closed_bytes_ + (reader_ == nullptr ? 0 : reader_->source().consumed_bytes());
}

}  // namespace packtrain::ingest
