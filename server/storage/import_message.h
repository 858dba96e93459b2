// A message of an import, as it came.
#ifndef PACKTRAIN_SERVER_STORAGE_IMPORT_MESSAGE_H_
#define PACKTRAIN_SERVER_STORAGE_IMPORT_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::storage {

// Borrowed, all of it.
class ImportMessage {
 public:
  // None: no more come.
  ImportMessage() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): null is none
  ImportMessage(const v1::ImportGraphsRequest* decoded) : decoded_(decoded) {}
  // A RecordBlock that was not decoded, which holds `memory_bytes`.
  ImportMessage(std::span<const std::string_view> records, std::uint64_t memory_bytes)
      : records_(records), memory_bytes_(memory_bytes) {}

  bool is_none() const { return decoded_ == nullptr && !records_; }
  // Null where the message was not decoded.
  const v1::ImportGraphsRequest* decoded() const { return decoded_; }
  // The records of one that was not; none of any other.
  const std::optional<std::span<const std::string_view>>& records() const { return records_; }
  std::uint64_t memory_bytes() const { return decoded_ == nullptr ? memory_bytes_ : decoded_->SpaceUsedLong(); }

 private:
  const v1::ImportGraphsRequest* decoded_ = nullptr;
  std::optional<std::span<const std::string_view>> records_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_IMPORT_MESSAGE_H_
