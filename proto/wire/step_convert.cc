#include "proto/wire/step_convert.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::wire {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::RepeatedField;

// The field of StepBlock that has the column's name. Every column has one of its type, as a test checks.
template <typename Column>
const FieldDescriptor* FieldOf(const Column& column) {
  static const FieldDescriptor* const field =
      v1::StepBlock::descriptor()->FindFieldByName(std::string(column.name));
  return field;
}

// Protobuf advises RepeatedFieldRef instead, which makes a virtual call for each value: it takes twice as long
// to write a block, and eight times as long to read one.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

template <typename Column>
const RepeatedField<typename Column::Value>& ValuesOf(const Column& column, const v1::StepBlock& block) {
  return block.GetReflection()->GetRepeatedField<typename Column::Value>(block, FieldOf(column));
}

template <typename Column>
RepeatedField<typename Column::Value>& MutableValuesOf(const Column& column, v1::StepBlock& block) {
  return *block.GetReflection()->MutableRepeatedField<typename Column::Value>(&block, FieldOf(column));
}

#pragma GCC diagnostic pop

absl::Status CheckColumns(const v1::StepBlock& block) {
  absl::Status status;
  ForEachStepColumn([&](const auto& column) {
    const int size = ValuesOf(column, block).size();
    if (!status.ok() || column.Takes(size, block.step_size())) return;
    status = absl::InvalidArgumentError(absl::StrCat("step block: column ", std::string(column.name), " has ",
                                                     size, " values, column step has ", block.step_size()));
  });
  return status;
}

absl::Status CheckStepsAscend(const v1::StepBlock& block) {
  for (int i = 1; i < block.step_size(); ++i) {
    if (block.step(i - 1) < block.step(i)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("step block: step ", block.step(i), " comes after step ", block.step(i - 1)));
  }
  return absl::OkStatus();
}

}  // namespace

v1::StepBlock ToStepBlock(std::span<const StepRecord> records) {
  v1::StepBlock block;
  ForEachStepColumn([&](const auto& column) {
    auto& values = MutableValuesOf(column, block);
    values.Reserve(static_cast<int>(records.size()));
    for (const StepRecord& record : records) values.AddAlreadyReserved(column.Of(record));
  });
  return block;
}

absl::StatusOr<std::vector<StepRecord>> FromStepBlock(const v1::StepBlock& block) {
  ABSL_RETURN_IF_ERROR(CheckColumns(block));
  ABSL_RETURN_IF_ERROR(CheckStepsAscend(block));
  std::vector<StepRecord> records(block.step_size());
  ForEachStepColumn([&](const auto& column) {
    const auto& values = ValuesOf(column, block);
    if (values.empty()) return;
    auto value = values.begin();
    for (StepRecord& record : records) column.Of(record) = *value++;
  });
  return records;
}

}  // namespace packtrain::wire
