// A received batch: its header and its body, checked.
#ifndef PACKTRAIN_PROTO_WIRE_BATCH_H_
#define PACKTRAIN_PROTO_WIRE_BATCH_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "proto/wire/aligned_bytes.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::wire {

// Owns one body, aligned to kSectionAlignment. Movable; sections stay valid when it moves.
class Batch {
 public:
  Batch(BatchHeader header, BatchTiming timing, AlignedBytes body);

  const BatchHeader& header() const { return header_; }
  const BatchTiming& timing() const { return timing_; }
  std::span<const std::byte> body() const { return {body_.get(), header_.body_bytes}; }

  // The section of a field, or null where the batch has none.
  const Section* FindSection(std::string_view field) const;

  // Elements of a section as T. NOT_FOUND: no such section. INVALID_ARGUMENT: another element size.
  template <typename T>
  absl::StatusOr<std::span<const T>> Elements(std::string_view field) const {
    ABSL_ASSIGN_OR_RETURN(std::span<const std::byte> bytes, SectionBytes(field, sizeof(T)));
    return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
  }

 private:
  absl::StatusOr<std::span<const std::byte>> SectionBytes(std::string_view field,
                                                          std::size_t element_bytes) const;

  BatchHeader header_;
  BatchTiming timing_;
  AlignedBytes body_;
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_BATCH_H_
