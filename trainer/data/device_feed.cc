#include "trainer/data/device_feed.h"

#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

std::string Name(const wire::Batch& batch) {
  return absl::StrCat("batch ", batch.header().index, " of epoch ", batch.header().epoch);
}

// `rows` of `width` values.
struct FieldShape {
  std::uint64_t rows;
  std::uint64_t width;
};

absl::Status RequireField(const wire::Batch& batch, std::string_view field, wire::DType dtype,
                          FieldShape shape) {
  const wire::Section* section = batch.FindSection(field);
  if (section == nullptr) {
    return absl::DataLossError(absl::StrCat(Name(batch), " lacks field '", std::string(field), "'"));
  }
  if (section->dtype == dtype && section->dims.front() == shape.rows &&
      section->size_bytes == shape.rows * shape.width * wire::SizeOf(dtype)) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      absl::StrCat(Name(batch), " has another type or shape of field '", std::string(field), "'"));
}

absl::Status RequireFields(const wire::Batch& batch, std::uint64_t targets) {
  const std::uint64_t graphs = batch.header().real.graphs, nodes = batch.header().real.nodes;
  ABSL_RETURN_IF_ERROR(RequireField(batch, kAtomicNumbers, wire::DType::kU8, {nodes, 1}));
  ABSL_RETURN_IF_ERROR(RequireField(batch, kPositions, wire::DType::kF32, {nodes, 3}));
  return RequireField(batch, kTargets, wire::DType::kF64, {graphs, targets});
}

}  // namespace

absl::Status CheckExpandable(const wire::Batch& batch, const Target& target, const ClassTable& classes) {
  ABSL_RETURN_IF_ERROR(RequireFields(batch, target.columns));
  ABSL_ASSIGN_OR_RETURN(const std::span<const std::uint8_t> numbers,
                        batch.Elements<std::uint8_t>(kAtomicNumbers));
  for (const std::uint8_t number : numbers) {
    if (classes[number] >= 0) continue;
    return absl::DataLossError(absl::StrCat(Name(batch), " holds atomic number ", int{number},
                                            ", which the data set's class table does not"));
  }
  return absl::OkStatus();
}

}  // namespace packtrain::trainer
