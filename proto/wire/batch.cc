#include "proto/wire/batch.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packtrain::wire {

Batch::Batch(BatchHeader header, BatchTiming timing, AlignedBytes body)
    : header_(std::move(header)), timing_(timing), body_(std::move(body)) {}

const Section* Batch::FindSection(std::string_view field) const {
  for (const Section& section : header_.sections) {
    if (section.field == field) return &section;
  }
  return nullptr;
}

absl::StatusOr<std::span<const std::byte>> Batch::SectionBytes(std::string_view field,
                                                               std::size_t element_bytes) const {
  const Section* section = FindSection(field);
  if (section == nullptr) {
    return absl::NotFoundError(absl::StrCat("the batch has no section \"", std::string(field), "\""));
  }
  if (SizeOf(section->dtype) != element_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("section \"", section->field, "\" has elements of ",
                                                   SizeOf(section->dtype), " bytes, not ", element_bytes));
  }
  return body().subspan(section->offset_bytes, section->size_bytes);
}

}  // namespace packtrain::wire
