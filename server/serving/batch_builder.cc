#include "server/serving/batch_builder.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/wire/aligned_bytes.h"
#include "proto/wire/crc32c.h"

namespace packtrain::serving {
namespace {

using batching::PlannedBatch;
using wire::BatchHeader;
using wire::DType;
using wire::Section;

// Sections that stand before the schema's fields: graph_index, n_node, n_edge, and endpoints where stored.
constexpr std::size_t kCountSections = 3;
constexpr std::size_t kEndpointSections = 2;

struct Body {
  wire::AlignedBytes bytes;
  MemoryMeter::Charge charge;
};

std::uint64_t AlignUp(std::uint64_t offset) {
  return (offset + wire::kSectionAlignment - 1) / wire::kSectionAlignment * wire::kSectionAlignment;
}

// Appends a section behind those there are. The product of `dims` and the element size must fit 64 bits.
void AddSection(std::string_view field, DType dtype, std::vector<std::uint64_t> dims, BatchHeader& header) {
  std::uint64_t size = wire::SizeOf(dtype);
  for (std::uint64_t dim : dims) size *= dim;
  const std::uint64_t offset = AlignUp(header.body_bytes);
  header.sections.push_back({.field = std::string(field),
                             .dtype = dtype,
                             .dims = std::move(dims),
                             .offset_bytes = offset,
                             .size_bytes = size});
  header.body_bytes = offset + size;
}

void AddField(const v1::Field& field, const wire::Shape& real, BatchHeader& header) {
  const std::uint64_t rows = field.scope() == v1::FIELD_SCOPE_GRAPH
                                 ? real.graphs
                                 : storage::RowsOf(field.scope(), real.nodes, real.edges);
  std::vector<std::uint64_t> dims{rows};
  dims.insert(dims.end(), field.dims().begin(), field.dims().end());
  AddSection(field.name(), static_cast<DType>(field.data_type()), std::move(dims), header);
}

wire::Shape ToWire(const batching::Shape& shape) { return {shape.graphs, shape.nodes, shape.edges}; }

void ClearGaps(const BatchHeader& header, std::byte* body) {
  std::uint64_t end = 0;
  for (const Section& section : header.sections) {
    std::memset(body + end, 0, section.offset_bytes - end);
    end = section.offset_bytes + section.size_bytes;
  }
}

template <typename From, typename To>
void Widen(std::span<const std::byte> from, std::byte* to) {
  for (std::size_t i = 0; i < from.size() / sizeof(From); ++i) {
    From narrow;
    std::memcpy(&narrow, from.data() + i * sizeof(From), sizeof(From));
    const To wide = narrow;
    std::memcpy(to + i * sizeof(To), &wide, sizeof(To));
  }
}

// Copies endpoints of `from_bytes` each to elements of `to_bytes`, which must not be narrower.
void CopyEndpoints(std::span<const std::byte> from, std::size_t from_bytes, std::byte* to,
                   std::size_t to_bytes) {
  if (from_bytes == to_bytes) {
    std::memcpy(to, from.data(), from.size());
  } else if (to_bytes == 2) {
    Widen<std::uint8_t, std::uint16_t>(from, to);
  } else if (from_bytes == 1) {
    Widen<std::uint8_t, std::uint32_t>(from, to);
  } else {
    Widen<std::uint16_t, std::uint32_t>(from, to);
  }
}

// Writes the graphs of one batch to their places; they may come in any order.
class BodyWriter {
 public:
  BodyWriter(const storage::RecordLayout& layout, const PlannedBatch& batch, const storage::Dataset& dataset,
             const BatchHeader& header, std::byte* body)
      : layout_(layout), header_(header), body_(body) {
    first_node_.reserve(batch.graphs.size() + 1);
    first_edge_.reserve(batch.graphs.size() + 1);
    for (std::uint32_t graph : batch.graphs) {
      first_node_.push_back(first_node_.back() + dataset.n_node()[graph]);
      first_edge_.push_back(first_edge_.back() + dataset.n_edge()[graph]);
    }
  }

  // Whether the graphs' sizes add up to the header's real shape.
  bool agrees() const {
    return first_node_.back() == header_.real.nodes && first_edge_.back() == header_.real.edges &&
           first_node_.size() == header_.real.graphs + std::size_t{1};
  }

  // Graph k of the batch is graph `index` of the data set.
  void WriteCounts(std::size_t k, std::uint64_t index) {
    const auto n_node = static_cast<std::uint32_t>(first_node_[k + 1] - first_node_[k]);
    const auto n_edge = static_cast<std::uint32_t>(first_edge_[k + 1] - first_edge_[k]);
    std::memcpy(Place(0, k, sizeof(index)), &index, sizeof(index));
    std::memcpy(Place(1, k, sizeof(n_node)), &n_node, sizeof(n_node));
    std::memcpy(Place(2, k, sizeof(n_edge)), &n_edge, sizeof(n_edge));
  }

  // `record` is that of graph k, as Dataset::ReadRecords hands it over: of the sizes that the data set states.
  void WriteRecord(std::size_t k, const storage::RecordView& record) {
    std::size_t section = kCountSections;
    if (layout_.stores_edges()) {
      WriteEndpoints(k, record);
      section += kEndpointSections;
    }
    for (std::size_t f = 0; f < layout_.fields().size(); ++f, ++section) {
      const storage::RecordLayout::Field& field = layout_.fields()[f];
      const std::span<const std::byte> rows = record.field(f);
      if (!rows.empty())
        std::memcpy(Place(section, FirstRow(field.scope, k), field.row_bytes), rows.data(), rows.size());
    }
  }

 private:
  // The section's type is that of the largest graph, so no record's endpoints are wider.
  void WriteEndpoints(std::size_t k, const storage::RecordView& record) {
    if (record.n_edge() == 0) return;
    const std::size_t width = wire::SizeOf(header_.sections[kCountSections].dtype);
    CopyEndpoints(record.senders(), record.endpoint_bytes(), Place(kCountSections, first_edge_[k], width),
                  width);
    CopyEndpoints(record.receivers(), record.endpoint_bytes(), Place(kCountSections + 1, first_edge_[k], width),
                  width);
  }

  std::uint64_t FirstRow(v1::FieldScope scope, std::size_t k) const {
    switch (scope) {
      case v1::FIELD_SCOPE_NODE:
        return first_node_[k];
      case v1::FIELD_SCOPE_EDGE:
        return first_edge_[k];
      default:
        return k;
    }
  }

  std::byte* Place(std::size_t section, std::uint64_t row, std::uint64_t row_bytes) const {
    return body_ + header_.sections[section].offset_bytes + row * row_bytes;
  }

  const storage::RecordLayout& layout_;
  const BatchHeader& header_;
  std::byte* const body_;
  std::vector<std::uint64_t> first_node_{0};
  std::vector<std::uint64_t> first_edge_{0};
};

std::string Name(const storage::Dataset& dataset) {
  return absl::StrCat(dataset.description().name(), "@", dataset.description().version());
}

std::uint32_t LargestGraph(const storage::Dataset& dataset) {
  const std::span<const std::uint32_t> n_node = dataset.n_node();
  return n_node.empty() ? 0 : *std::max_element(n_node.begin(), n_node.end());
}

}  // namespace

absl::StatusOr<BatchBuilder> BatchBuilder::Create(std::shared_ptr<const storage::Dataset> dataset,
                                                  std::uint64_t max_batch_bytes,
                                                  std::shared_ptr<MemoryMeter> memory) {
  absl::StatusOr<storage::RecordLayout> layout = storage::RecordLayout::Create(dataset->description().schema());
  if (!layout.ok()) return layout.status();
  return BatchBuilder(std::move(dataset), *std::move(layout), max_batch_bytes, std::move(memory));
}

BatchBuilder::BatchBuilder(std::shared_ptr<const storage::Dataset> dataset, storage::RecordLayout layout,
                           std::uint64_t max_batch_bytes, std::shared_ptr<MemoryMeter> memory)
    : dataset_(std::move(dataset)),
      layout_(std::move(layout)),
      max_batch_bytes_(max_batch_bytes),
      memory_(std::move(memory)),
      endpoint_type_(wire::EndpointType(LargestGraph(*dataset_))) {}

absl::StatusOr<BuiltBatch> BatchBuilder::Build(const PlannedBatch& batch, const EpochPosition& position) const {
  BuiltBatch built{.header = LayOut(batch, position), .body = nullptr};
  if (absl::Status status = CheckSize(built.header); !status.ok()) return status;
  auto body = std::make_shared<Body>(
      Body{wire::AllocateAligned(built.header.body_bytes), memory_->Add(built.header.body_bytes)});
  if (body->bytes == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a batch of ", built.header.body_bytes, " bytes"));
  }
  if (absl::Status status = Fill(batch, built.header, body->bytes.get()); !status.ok()) return status;
  built.header.body_crc32c = wire::Crc32c({body->bytes.get(), built.header.body_bytes});
  built.body = std::shared_ptr<const std::byte>(body, body->bytes.get());
  return built;
}

BatchHeader BatchBuilder::LayOut(const PlannedBatch& batch, const EpochPosition& position) const {
  const v1::Schema& schema = dataset_->description().schema();
  BatchHeader header{.index = batch.index,
                     .step = batch.step,
                     .epoch = position.epoch,
                     .rank = batch.rank,
                     .world_size = position.world_size,
                     .epoch_steps = position.epoch_steps,
                     .empty = batch.empty,
                     .oversize = batch.oversize,
                     .real = ToWire(batch.real),
                     .padded = ToWire(batch.padded),
                     .fingerprint = position.fingerprint,
                     .edge_rule = static_cast<wire::EdgeRule>(schema.edge_rule()),
                     .sections = {}};
  AddSection(wire::kGraphIndexSection, DType::kU64, {header.real.graphs}, header);
  AddSection(wire::kNodeCountSection, DType::kU32, {header.real.graphs}, header);
  AddSection(wire::kEdgeCountSection, DType::kU32, {header.real.graphs}, header);
  if (layout_.stores_edges()) {
    AddSection(wire::kSendersSection, endpoint_type_, {header.real.edges}, header);
    AddSection(wire::kReceiversSection, endpoint_type_, {header.real.edges}, header);
  }
  for (const v1::Field& field : schema.fields()) AddField(field, header.real, header);
  return header;
}

absl::Status BatchBuilder::CheckSize(const BatchHeader& header) const {
  if (header.body_bytes <= max_batch_bytes_) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("batch ", header.index, " of epoch ", header.epoch, " has ", header.body_bytes, " bytes (",
                   header.real.graphs, " graphs, ", header.real.nodes, " nodes, ", header.real.edges,
                   " edges); the server's limit is ", max_batch_bytes_,
                   ": ask for fewer graphs, or start packtraind with a greater --max-batch-bytes"));
}

absl::Status BatchBuilder::Fill(const PlannedBatch& batch, const BatchHeader& header, std::byte* body) const {
  BodyWriter writer(layout_, batch, *dataset_, header, body);
  if (!writer.agrees()) {
    return absl::InternalError(absl::StrCat("the plan's shape of batch ", header.index, " of ", Name(*dataset_),
                                            " is not the sum of its graphs"));
  }
  ClearGaps(header, body);
  for (std::size_t k = 0; k < batch.graphs.size(); ++k) writer.WriteCounts(k, batch.graphs[k]);
  return dataset_->ReadRecords(batch.graphs, [&](std::size_t k, const storage::RecordView& record) {
    writer.WriteRecord(k, record);
    return absl::OkStatus();
  });
}

}  // namespace packtrain::serving
