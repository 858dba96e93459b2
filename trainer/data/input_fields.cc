#include "trainer/data/input_fields.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

constexpr std::array<InputField, kInputFields> kFields = {
    InputField{kAtomicNumberField, Input::kAtomicNumbers, Conversion::kClass, &GraphTensors::classes},
    InputField{kTokenField, Input::kTokens, Conversion::kInteger, &GraphTensors::tokens},
    InputField{"pos", Input::kPositions, Conversion::kFloat, &GraphTensors::positions},
    InputField{"cell", Input::kCells, Conversion::kFloat, &GraphTensors::cells},
    InputField{"shift", Input::kCells, Conversion::kInteger, &GraphTensors::shifts},
    InputField{"x", Input::kNodeFeatures, Conversion::kInteger, &GraphTensors::node_features},
    InputField{"edge_attr", Input::kEdgeFeatures, Conversion::kFloat, &GraphTensors::edge_features},
    InputField{kEdgeTypeField, Input::kEdgeTypes, Conversion::kInteger, &GraphTensors::edge_types},
    InputField{"is_slot", Input::kCandidates, Conversion::kInteger, &GraphTensors::is_slot},
    InputField{"is_candidate", Input::kCandidates, Conversion::kInteger, &GraphTensors::is_candidate},
    InputField{"is_target", Input::kCandidates, Conversion::kInteger, &GraphTensors::is_target}};

std::string NameOf(const wire::Batch& batch) {
  return absl::StrCat("batch ", batch.header().index, " of epoch ", batch.header().epoch);
}

std::uint64_t RealRows(const wire::Shape& real, Rows rows) {
  switch (rows) {
    case Rows::kGraphs:
      return real.graphs;
    case Rows::kNodes:
      return real.nodes;
    default:
      return real.edges;
  }
}

Rows RowsOf(const InputField& field) {
  return std::ranges::find(GraphMembers(), field.tensor, &GraphMember::tensor)->rows;
}

bool Takes(Conversion conversion, wire::DType dtype) {
  switch (conversion) {
    case Conversion::kClass:
      return dtype == wire::DType::kU8;
    case Conversion::kInteger:
      return dtype == wire::DType::kU8 || dtype == wire::DType::kU16 || dtype == wire::DType::kI32;
    case Conversion::kFloat:
      return dtype == wire::DType::kF32;
  }
  return false;
}

// `rows` of `width` values.
struct FieldShape {
  std::uint64_t rows;
  std::uint64_t width;
};

absl::StatusOr<const wire::Section*> RequireField(const wire::Batch& batch, std::string_view field) {
  if (const wire::Section* section = batch.FindSection(field)) return section;
  return absl::DataLossError(absl::StrCat(NameOf(batch), " lacks field '", std::string(field), "'"));
}

absl::Status RequireLayout(const wire::Batch& batch, const wire::Section& section, bool has_type,
                           FieldShape shape) {
  if (has_type && section.dims.front() == shape.rows &&
      section.size_bytes == shape.rows * shape.width * wire::SizeOf(section.dtype)) {
    return absl::OkStatus();
  }
  return absl::DataLossError(
      absl::StrCat(NameOf(batch), " has another type or shape of field '", section.field, "'"));
}

// What a row of `tensor` has.
std::uint64_t WidthOf(const at::Tensor& tensor) {
  std::uint64_t width = 1;
  for (const std::int64_t size : tensor.sizes().slice(1)) width *= static_cast<std::uint64_t>(size);
  return width;
}

absl::Status RequireInputs(const wire::Batch& batch, InputSet inputs, const GraphTensors& out) {
  for (const InputField& field : FieldsOf(inputs)) {
    ABSL_ASSIGN_OR_RETURN(const wire::Section* section, RequireField(batch, field.name));
    const FieldShape shape = {RealRows(batch.header().real, RowsOf(field)), WidthOf(out.*field.tensor)};
    ABSL_RETURN_IF_ERROR(RequireLayout(batch, *section, Takes(field.conversion, section->dtype), shape));
  }
  return absl::OkStatus();
}

absl::Status RequireTargets(const wire::Batch& batch, std::uint64_t columns) {
  ABSL_ASSIGN_OR_RETURN(const wire::Section* section, RequireField(batch, kTargetField));
  return RequireLayout(batch, *section, section->dtype == wire::DType::kF64,
                       {batch.header().real.graphs, columns});
}

absl::Status RequireKnownAtoms(const wire::Batch& batch, const ClassTable& classes) {
  ABSL_ASSIGN_OR_RETURN(const std::span<const std::uint8_t> numbers,
                        batch.Elements<std::uint8_t>(kAtomicNumberField));
  for (const std::uint8_t number : numbers) {
    if (classes[number] >= 0) continue;
    return absl::DataLossError(absl::StrCat(NameOf(batch), " holds atomic number ", int{number},
                                            ", which the data set's class table does not"));
  }
  return absl::OkStatus();
}

// The first value of an integer field that is not one of 0 .. `count` - 1; none where there is no such value.
template <typename T>
absl::StatusOr<std::optional<std::int64_t>> FindBeyond(const wire::Batch& batch, std::string_view field,
                                                       std::int64_t count) {
  ABSL_ASSIGN_OR_RETURN(const std::span<const T> values, batch.Elements<T>(field));
  const auto is_beyond = [count](T value) { return std::int64_t{value} < 0 || std::int64_t{value} >= count; };
  const auto found = std::ranges::find_if(values, is_beyond);
  return found == values.end() ? std::nullopt : std::optional<std::int64_t>(*found);
}

absl::StatusOr<std::optional<std::int64_t>> FindBeyond(const wire::Batch& batch, const wire::Section& section,
                                                       std::int64_t count) {
  if (section.dtype == wire::DType::kU8) return FindBeyond<std::uint8_t>(batch, section.field, count);
  if (section.dtype == wire::DType::kU16) return FindBeyond<std::uint16_t>(batch, section.field, count);
  return FindBeyond<std::int32_t>(batch, section.field, count);
}

// The batch has the integer field.
absl::Status RequireBelow(const wire::Batch& batch, std::string_view field, std::int64_t count) {
  ABSL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> beyond,
                        FindBeyond(batch, *batch.FindSection(field), count));
  if (!beyond.has_value()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(NameOf(batch), " holds ", *beyond, " in field '", std::string(field),
                                          "', where 0 to ", count - 1, " are known"));
}

absl::Status RequireShape(const wire::Shape& padded, const GraphTensors& out) {
  const std::int64_t graphs = out.n_node.numel(), nodes = out.graph_of_node.numel(),
                     edges = out.senders.numel();
  if (graphs == padded.graphs && nodes == padded.nodes && edges == padded.edges) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("tensors of ", graphs, " graphs, ", nodes, " nodes and ",
                                                 edges, " edges for a batch of another padded shape"));
}

}  // namespace

std::vector<InputField> FieldsOf(InputSet inputs) {
  std::vector<InputField> fields;
  for (const InputField& field : kFields) {
    if (inputs.Has(field.input)) fields.push_back(field);
  }
  return fields;
}

absl::Status CheckExpandable(const wire::Batch& batch, const FeedOptions& options, const GraphTensors& out) {
  const InputSet inputs = options.layout.inputs;
  ABSL_RETURN_IF_ERROR(RequireShape(batch.header().padded, out));
  ABSL_RETURN_IF_ERROR(RequireInputs(batch, inputs, out));
  if (inputs.Has(Input::kTargets)) {
    ABSL_RETURN_IF_ERROR(RequireTargets(batch, options.targets.front().columns));
  }
  if (inputs.Has(Input::kTokens)) {
    ABSL_RETURN_IF_ERROR(
        RequireBelow(batch, kTokenField, static_cast<std::int64_t>(options.token_classes.of_token.size())));
  }
  if (inputs.Has(Input::kEdgeTypes)) {
    ABSL_RETURN_IF_ERROR(RequireBelow(batch, kEdgeTypeField, options.layout.sizes.edge_types / 2));
  }
  return inputs.Has(Input::kAtomicNumbers) ? RequireKnownAtoms(batch, options.classes) : absl::OkStatus();
}

}  // namespace packtrain::trainer
