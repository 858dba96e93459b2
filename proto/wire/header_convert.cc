#include "proto/wire/header_convert.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_check.h"
#include "proto/wire/batch_spec_convert.h"

namespace packtrain::wire {
namespace {

static_assert(static_cast<int>(DType::kU8) == v1::DATA_TYPE_U8);
static_assert(static_cast<int>(DType::kU16) == v1::DATA_TYPE_U16);
static_assert(static_cast<int>(DType::kI32) == v1::DATA_TYPE_I32);
static_assert(static_cast<int>(DType::kI64) == v1::DATA_TYPE_I64);
static_assert(static_cast<int>(DType::kF32) == v1::DATA_TYPE_F32);
static_assert(static_cast<int>(DType::kF64) == v1::DATA_TYPE_F64);
static_assert(static_cast<int>(DType::kU32) == v1::DATA_TYPE_U32);
static_assert(static_cast<int>(DType::kU64) == v1::DATA_TYPE_U64);
static_assert(static_cast<int>(EdgeRule::kFull) == v1::EDGE_RULE_FULL);
static_assert(static_cast<int>(EdgeRule::kStored) == v1::EDGE_RULE_STORED);

v1::Section ToMessage(const Section& section) {
  v1::Section message;
  message.set_field(section.field);
  message.set_data_type(static_cast<v1::DataType>(section.dtype));
  message.mutable_dims()->Add(section.dims.begin(), section.dims.end());
  message.set_encoding(v1::ENCODING_RAW);
  message.set_offset_bytes(section.offset_bytes);
  message.set_size_bytes(section.size_bytes);
  return message;
}

absl::StatusOr<Section> FromMessage(const v1::Section& message) {
  if (!v1::DataType_IsValid(message.data_type()) || message.data_type() == v1::DATA_TYPE_UNSPECIFIED) {
    return absl::DataLossError(absl::StrCat("batch header: section \"", message.field(),
                                            "\" has the unknown data type ", message.data_type()));
  }
  if (message.encoding() != v1::ENCODING_RAW) {
    return absl::DataLossError(absl::StrCat("batch header: section \"", message.field(),
                                            "\" has the unknown encoding ", message.encoding()));
  }
  Section section;
  section.field = message.field();
  section.dtype = static_cast<DType>(message.data_type());
  section.dims.assign(message.dims().begin(), message.dims().end());
  section.offset_bytes = message.offset_bytes();
  section.size_bytes = message.size_bytes();
  return section;
}

absl::StatusOr<EdgeRule> FromMessage(v1::EdgeRule rule) {
  if (rule == v1::EDGE_RULE_FULL) return EdgeRule::kFull;
  if (rule == v1::EDGE_RULE_STORED) return EdgeRule::kStored;
  return absl::DataLossError(absl::StrCat("batch header: unknown edge rule ", rule));
}

absl::StatusOr<std::vector<Section>> SectionsOf(const v1::BatchHeader& message) {
  std::vector<Section> sections;
  sections.reserve(message.sections_size());
  for (const v1::Section& section : message.sections()) {
    ABSL_ASSIGN_OR_RETURN(Section converted, FromMessage(section));
    sections.push_back(std::move(converted));
  }
  return sections;
}

}  // namespace

v1::BatchHeader ToMessage(const BatchHeader& header) {
  v1::BatchHeader message;
  message.set_index(header.index);
  message.set_step(header.step);
  message.set_epoch(header.epoch);
  message.set_rank(header.rank);
  message.set_world_size(header.world_size);
  message.set_epoch_steps(header.epoch_steps);
  message.set_empty(header.empty);
  message.set_oversize(header.oversize);
  *message.mutable_real() = ToMessage(header.real);
  *message.mutable_padded() = ToMessage(header.padded);
  message.set_fingerprint(header.fingerprint);
  message.set_edge_rule(static_cast<v1::EdgeRule>(header.edge_rule));
  for (const Section& section : header.sections) *message.add_sections() = ToMessage(section);
  message.set_body_bytes(header.body_bytes);
  message.set_body_crc32c(header.body_crc32c);
  message.mutable_corrupt_graphs()->Add(header.corrupt_graphs.begin(), header.corrupt_graphs.end());
  return message;
}

v1::BatchTiming ToMessage(const BatchTiming& timing) {
  v1::BatchTiming message;
  message.set_build_ns(timing.build_ns);
  message.set_queue_ns(timing.queue_ns);
  return message;
}

absl::StatusOr<BatchHeader> FromMessage(const v1::BatchHeader& message, std::uint64_t max_body_bytes) {
  ABSL_ASSIGN_OR_RETURN(EdgeRule edge_rule, FromMessage(message.edge_rule()));
  ABSL_ASSIGN_OR_RETURN(std::vector<Section> sections, SectionsOf(message));

  BatchHeader header;
  header.index = message.index();
  header.step = message.step();
  header.epoch = message.epoch();
  header.rank = message.rank();
  header.world_size = message.world_size();
  header.epoch_steps = message.epoch_steps();
  header.empty = message.empty();
  header.oversize = message.oversize();
  header.real = FromMessage(message.real());
  header.padded = FromMessage(message.padded());
  header.fingerprint = message.fingerprint();
  header.edge_rule = edge_rule;
  header.sections = std::move(sections);
  header.body_bytes = message.body_bytes();
  header.body_crc32c = message.body_crc32c();
  header.corrupt_graphs.assign(message.corrupt_graphs().begin(), message.corrupt_graphs().end());
  ABSL_RETURN_IF_ERROR(CheckHeader(header, max_body_bytes));
  return header;
}

BatchTiming FromMessage(const v1::BatchTiming& message) { return {message.build_ns(), message.queue_ns()}; }

}  // namespace packtrain::wire
