#include "trainer/data/device_feed.h"

#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {
namespace {

std::string Name(const wire::Batch& batch) {
  return absl::StrCat("batch ", batch.header().index, " of epoch ", batch.header().epoch);
}

absl::Status RequireField(const wire::Batch& batch, std::string_view field, wire::DType dtype) {
  const wire::Section* section = batch.FindSection(field);
  if (section != nullptr && section->dtype == dtype) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(Name(batch), section ? " has another type of" : " lacks", " field '",
                                          std::string(field), "'"));
}

absl::Status RequireFields(const wire::Batch& batch) {
  if (absl::Status status = RequireField(batch, kAtomicNumbers, wire::DType::kU8); !status.ok()) return status;
  if (absl::Status status = RequireField(batch, kPositions, wire::DType::kF32); !status.ok()) return status;
  return RequireField(batch, kTargets, wire::DType::kF64);
}

}  // namespace

absl::Status CheckExpandable(const wire::Batch& batch, const ClassTable& classes) {
  if (absl::Status status = RequireFields(batch); !status.ok()) return status;
  const absl::StatusOr<std::span<const std::uint8_t>> numbers = batch.Elements<std::uint8_t>(kAtomicNumbers);
  if (!numbers.ok()) return numbers.status();
  for (const std::uint8_t number : *numbers) {
    if (classes[number] >= 0) continue;
    return absl::DataLossError(absl::StrCat(Name(batch), " holds atomic number ", int{number},
                                            ", which the data set's class table does not"));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::trainer
