#include "server/rocks/log_file.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/crc32c.h"
#include "proto/base/status_macros.h"

namespace packtrain::rocks {
namespace {

constexpr std::size_t kBlockBytes = 32 << 10;
constexpr std::size_t kHeaderBytes = 7;
constexpr std::size_t kTypeAt = 6;
constexpr std::byte kWholeRecord{1}, kFirstPart{2}, kMiddlePart{3}, kLastPart{4};

using Bytes = std::span<const std::byte>;

std::uint32_t LittleEndian(Bytes bytes) {
  std::uint32_t number = 0;
  for (std::size_t k = bytes.size(); k-- > 0;) number = number << 8 | std::to_integer<std::uint32_t>(bytes[k]);
  return number;
}

// As it is stored: a checksum over data that holds checksums is a weak one.
std::uint32_t Masked(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8; }

// Goes through a log block by block. Used once.
class LogCheck {
 public:
  LogCheck(std::istream& log, std::uint64_t bytes, LogEnd end) : log_(log), bytes_(bytes), end_(end) {}

  absl::Status Run() {
    std::vector<std::byte> block(kBlockBytes);
    while (at_ < bytes_) {
      const std::size_t size = std::min<std::uint64_t>(kBlockBytes, bytes_ - at_);
      if (!log_.read(reinterpret_cast<char*>(block.data()), static_cast<std::streamsize>(size))) {
        return absl::UnavailableError(absl::StrCat("cannot be read at byte ", at_));
      }
      ABSL_RETURN_IF_ERROR(CheckBlock({block.data(), size}));
    }
    return inside_record_ ? CutOff() : absl::OkStatus();
  }

 private:
  absl::Status Corrupt(std::string_view what) const {
    return absl::DataLossError(absl::StrCat("the record at byte ", at_, " ", std::string(what)));
  }

  absl::Status CutOff() const { return end_ == LogEnd::kOpen ? absl::OkStatus() : Corrupt("is cut off"); }

  absl::Status CheckBlock(Bytes block) {
    while (block.size() >= kHeaderBytes) {
      const std::size_t record = kHeaderBytes + LittleEndian(block.subspan(4, 2));
      const std::uint64_t end = at_ + record;
      if (record > block.size() && (end - 1) / kBlockBytes != at_ / kBlockBytes) {
        return Corrupt("has an impossible length");
      }
      if (record > block.size()) return EndInside(block.size());
      ABSL_RETURN_IF_ERROR(CheckRecord(block.first(record)));
      block = block.subspan(record);
      at_ = end;
    }
    return CheckRest(block);
  }

  // The log ends within a record.
  absl::Status EndInside(std::size_t rest) {
    absl::Status status = CutOff();
    inside_record_ = false;
    at_ += rest;
    return status;
  }

  absl::Status CheckRecord(Bytes record) {
    if (LittleEndian(record.first(4)) != Masked(base::Crc32c(record.subspan(kTypeAt)))) {
      return Corrupt("does not have its checksum");
    }
    const std::byte type = record[kTypeAt];
    const bool begins = type == kWholeRecord || type == kFirstPart;
    const bool ends = type == kWholeRecord || type == kLastPart;
    if (!begins && !ends && type != kMiddlePart) return Corrupt("is of no known type");
    if (begins == inside_record_) return Corrupt("does not follow from the one before");
    inside_record_ = !ends;
    return absl::OkStatus();
  }

  absl::Status CheckRest(Bytes rest) {
    const bool ends_block = (at_ + rest.size()) % kBlockBytes == 0;
    const bool zeros =
        std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == std::byte{0}; });
    if (!ends_block && !rest.empty()) return EndInside(rest.size());
    if (!zeros) return Corrupt("is not the zeros that end a block");
    at_ += rest.size();
    return absl::OkStatus();
  }

  std::istream& log_;
  const std::uint64_t bytes_;
  const LogEnd end_;
  std::uint64_t at_ = 0;
  bool inside_record_ = false;  // the last part is still to come
};

}  // namespace

absl::Status VerifyLog(std::istream& log, std::uint64_t bytes, LogEnd end) {
  return LogCheck(log, bytes, end).Run();
}

}  // namespace packtrain::rocks
