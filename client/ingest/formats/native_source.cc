#include "client/ingest/formats/native_source.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {

absl::StatusOr<std::unique_ptr<BlockSource>> NativeSource::Open(const std::string& path) {
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<NativeFile> file, NativeFile::Open(path));
  return std::unique_ptr<BlockSource>(new NativeSource(std::move(file)));
}

NativeSource::NativeSource(std::unique_ptr<NativeFile> file) : file_(std::move(file)) {
  if (file_->dataset().splits_size() > 1) splits_.emplace();  // even where all three are empty
}

absl::StatusOr<v1::ImportHeader> NativeSource::Begin() {
  v1::ImportHeader header;
  *header.mutable_schema() = file_->dataset().schema();
  header.set_on_error(v1::ERROR_POLICY_STOP);
  header.set_duplicate_ids(v1::DUPLICATE_POLICY_REFUSE);
  header.set_missing_target(v1::MISSING_TARGET_POLICY_NAN);
  return header;
}

absl::StatusOr<bool> NativeSource::Next(Block* block) {
  v1::ExportDatasetResponse message;
  while (true) {
    ABSL_ASSIGN_OR_RETURN(const bool more, file_->Next(&message));
    if (!more) return false;
    if (!message.has_split()) break;
    ABSL_RETURN_IF_ERROR(AddSplit(message.split()));
  }
  ledger_.AddRead(static_cast<std::uint64_t>(message.block().records_size()));
  *block = std::move(*message.mutable_block());
  return true;
}

absl::Status NativeSource::AddSplit(const v1::SplitBlock& block) {
  if (!splits_) splits_.emplace();
  const std::pair<std::string_view, google::protobuf::RepeatedField<std::uint32_t>*> lists[] = {
      {"train", splits_->mutable_train()}, {"val", splits_->mutable_val()}, {"test", splits_->mutable_test()}};
  for (const auto& [name, graphs] : lists) {
    if (block.split() != name) continue;
    graphs->MergeFrom(block.graphs());
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the file has a split '", block.split(), "'; known are train, val and test"));
}

void NativeSource::Describe(const Ledger& /*ledger*/, v1::SealDatasetRequest* seal) const {
  const v1::Dataset& dataset = file_->dataset();
  seal->set_name(dataset.name());
  *seal->mutable_lineage() = dataset.lineage();
  seal->set_expected_version(dataset.version());
  if (splits_) *seal->mutable_by_index() = *splits_;
}

}  // namespace packtrain::ingest
