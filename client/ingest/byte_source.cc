#include "client/ingest/byte_source.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/disk_file.h"
#include "client/ingest/first_bytes.h"
#include "client/ingest/origin.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {

std::uint64_t UnpackBudget::Spend(std::uint64_t bytes) {
  const std::uint64_t left = max_bytes_ - std::min(max_bytes_, spent_bytes_);
  spent_bytes_ += bytes;
  return std::min(bytes, left);
}

absl::Status UnpackBudget::Exceeded(const std::string& path) const {
  return RefusedWhole(path, "unpacked_limit",
                      absl::StrCat("the file or its archive holds more than ", max_bytes_,
                                   " bytes when unpacked (--max-unpacked-bytes)"));
}

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path,
                                                             std::uint64_t max_unpacked_bytes) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<DiskFile> file, DiskFile::Open(path));
  return std::make_unique<ByteSource>(std::move(file), std::make_shared<UnpackBudget>(max_unpacked_bytes));
}

ByteSource::ByteSource(std::shared_ptr<PackedBytes> packed, std::shared_ptr<UnpackBudget> budget)
    : packed_(std::move(packed)), budget_(std::move(budget)), unpacker_(Unpacker::For(*packed_)) {
  ReadHead();
  const std::string_view head(head_.data(), head_.size());
  no_data_ = CheckFirstBytes(head, path());
  if (!no_data_.ok()) content_ = Content::kOther;
  if (IsZip(head)) content_ = Content::kZip;
  if (IsTar(head)) content_ = Content::kTar;
}

// A failure is kept, and shows when all before it was read.
void ByteSource::ReadHead() {
  head_.resize(kFirstBytes);
  std::size_t size = 0;
  while (size < head_.size()) {
    const absl::StatusOr<std::size_t> count = ReadOn(std::span(head_).subspan(size));
    if (!count.ok()) failure_ = count.status();
    if (!count.ok() || *count == 0) break;
    size += *count;
  }
  head_.resize(size);
}

absl::StatusOr<std::size_t> ByteSource::Read(std::span<char> out) {
  ABSL_RETURN_IF_ERROR(no_data_);
  return ReadArchive(out);
}

absl::StatusOr<std::size_t> ByteSource::ReadArchive(std::span<char> out) {
  if (head_read_ < head_.size()) {
    const std::size_t count = std::min(out.size(), head_.size() - head_read_);
    std::memcpy(out.data(), head_.data() + head_read_, count);
    head_read_ += count;
    return count;
  }
  ABSL_RETURN_IF_ERROR(failure_);
  absl::StatusOr<std::size_t> count = ReadOn(out);
  failure_ = count.status();
  return count;
}

absl::StatusOr<std::size_t> ByteSource::ReadOn(std::span<char> out) {
  if (budget_->is_exceeded()) return budget_->Exceeded(path());
  ABSL_RETURN_IF_ERROR(packed_->Fill());
  ABSL_ASSIGN_OR_RETURN(const std::size_t count, unpacker_->Read(*packed_, out));
  const std::uint64_t within = budget_->Spend(count);
  if (within == 0 && count > 0) return budget_->Exceeded(path());
  return static_cast<std::size_t>(within);
}

}  // namespace packtrain::ingest
