#include "server/batches/batch_builder.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/crc32c.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/aligned_bytes.h"
#include "proto/wire/full_name.h"

namespace packtrain::batches {
namespace {

using batching::PlannedBatch;
using wire::BatchHeader;
using wire::DType;
using wire::Section;

// Sections that stand before the schema's fields: graph_index, n_node, n_edge, and endpoints where stored.
constexpr std::size_t kCountSections = 3;
constexpr std::size_t kEndpointSections = 2;

// A body that is built within a fraction of a millisecond.
constexpr std::uint64_t kQuickBytes = 1 << 20;

struct Body {
  wire::AlignedBytes bytes;
  limits::MemoryBudget::Reservation reservation;
};

constexpr std::chrono::seconds kRetryDelay{2};

absl::Status NoMemory(const limits::MemoryBudget& budget, std::uint64_t bytes) {
  constexpr limits::MemoryPart kPart = limits::MemoryPart::kStreams;
  return base::WithRetryDelay(
      base::WithReason(absl::ResourceExhaustedError(
                           absl::StrCat("no memory is free for a batch of ", bytes,
                                        " bytes; come again, or start packtraind with a greater --memory")),
                       base::kMemoryLimit,
                       {{"part", std::string(limits::NameOf(kPart))},
                        {"bytes", absl::StrCat(bytes)},
                        {"limit", absl::StrCat(budget.max_bytes(kPart))},
                        {"flag", base::kMemoryFlag}}),
      kRetryDelay);
}

// Part of the budget until it is back in the pool. Takes `reservation`, or what is missing of it from the
// budget.
absl::StatusOr<std::shared_ptr<Body>> Allocate(const BodyMemory& memory, std::uint64_t size,
                                               limits::MemoryBudget::Reservation& reservation) {
  const std::uint64_t capacity = wire::BodyPool::CapacityOf(size);
  if (reservation.bytes() < capacity) {
    auto taken = memory.budget->TryReserve(limits::MemoryPart::kStreams, capacity);
    if (!taken.has_value()) return NoMemory(*memory.budget, capacity);
    reservation = *std::move(taken);
  }
  reservation.ShrinkTo(capacity);
  wire::AlignedBytes bytes = memory.pool->Take(size);
  if (bytes == nullptr) return NoMemory(*memory.budget, size);
  return std::make_shared<Body>(Body{std::move(bytes), std::move(reservation)});
}

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
                                 : records::RowsOf(field.scope(), real.nodes, real.edges);
  std::vector<std::uint64_t> dims{rows};
  dims.insert(dims.end(), field.dims().begin(), field.dims().end());
  AddSection(field.name(), static_cast<DType>(field.data_type()), std::move(dims), header);
}

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

// Rows in front of a graph, in its batch.
struct First {
  std::uint64_t node = 0;
  std::uint64_t edge = 0;
  std::uint64_t graph = 0;

  First Behind(std::uint32_t n_node, std::uint32_t n_edge) const {
    return {node + n_node, edge + n_edge, graph + 1};
  }
  friend bool operator==(const First&, const First&) = default;
};

// Without the heap for most batches.
using Firsts = absl::InlinedVector<First, 160>;

// Of each graph, and of the end.
Firsts FirstsOf(std::span<const std::uint32_t> graphs, const storage::Dataset& dataset) {
  Firsts firsts(1);
  firsts.reserve(graphs.size() + 1);
  for (const std::uint32_t graph : graphs) {
    firsts.push_back(firsts.back().Behind(dataset.n_node()[graph], dataset.n_edge()[graph]));
  }
  return firsts;
}

// Writes the records of one batch to their places.
class BodyWriter {
 public:
  BodyWriter(const records::RecordLayout& layout, const BatchHeader& header, std::byte* body)
      : header_(header), body_(body) {
    TakePlaces(layout);
  }

  First end() const { return {header_.real.nodes, header_.real.edges, header_.real.graphs}; }

  // Whether `record` at `first` stays inside the batch.
  bool Fits(const First& first, const records::RecordView& record) const {
    const First behind = first.Behind(record.n_node(), record.n_edge());
    return behind.node <= header_.real.nodes && behind.edge <= header_.real.edges &&
           behind.graph <= header_.real.graphs;
  }

  // `record`, which must fit, is that of graph `index` of the data set.
  void Write(const First& first, std::uint64_t index, const records::RecordView& record) const {
    WriteCounts(first.graph, index, record.n_node(), record.n_edge());
    const Place* place = places_.data();
    const Place* const endpoints = place + places_.size() - kEndpointSections;
    record.ForEachSection([&](std::span<const std::byte> rows) {
      std::byte* const to = place->start + first.*place->row * place->row_bytes;
      if (place < endpoints) {
        std::memcpy(to, rows.data(), rows.size());
      } else {
        CopyEndpoints(rows, record.endpoint_bytes(), to, place->row_bytes);
      }
      ++place;
    });
  }

 private:
  // Of a section of records, in the body.
  struct Place {
    std::byte* start;
    std::uint64_t First::*row;
    std::uint64_t row_bytes;
  };

  void WriteCounts(std::size_t k, std::uint64_t index, std::uint32_t n_node, std::uint32_t n_edge) const {
    std::memcpy(Start(0) + k * sizeof(index), &index, sizeof(index));
    std::memcpy(Start(1) + k * sizeof(n_node), &n_node, sizeof(n_node));
    std::memcpy(Start(2) + k * sizeof(n_edge), &n_edge, sizeof(n_edge));
  }

  // In the order of records: the fields, then the endpoints.
  void TakePlaces(const records::RecordLayout& layout) {
    const bool stored = layout.stores_edges();
    std::size_t section = kCountSections + (stored ? kEndpointSections : 0);
    for (const records::RecordLayout::Field& field : layout.fields()) {
      places_.push_back({Start(section++), RowOf(field.scope), field.row_bytes});
    }
    // The section's type is that of the largest graph, so no record's endpoints are wider.
    const std::uint64_t width = stored ? wire::SizeOf(header_.sections[kCountSections].dtype) : 0;
    for (section = kCountSections; section < kCountSections + kEndpointSections; ++section) {
      places_.push_back({stored ? Start(section) : body_, &First::edge, width});
    }
  }

  static std::uint64_t First::*RowOf(v1::FieldScope scope) {
    if (scope == v1::FIELD_SCOPE_NODE) return &First::node;
    return scope == v1::FIELD_SCOPE_EDGE ? &First::edge : &First::graph;
  }

  std::byte* Start(std::size_t section) const { return body_ + header_.sections[section].offset_bytes; }

  const BatchHeader& header_;
  std::byte* const body_;
  absl::InlinedVector<Place, 12> places_;
};

std::string Name(const storage::Dataset& dataset) { return wire::FullName(dataset.description()); }

std::uint32_t LargestGraph(const storage::Dataset& dataset) {
  const std::span<const std::uint32_t> n_node = dataset.n_node();
  return n_node.empty() ? 0 : *std::max_element(n_node.begin(), n_node.end());
}

}  // namespace

absl::StatusOr<BatchBuilder> BatchBuilder::Create(std::shared_ptr<const storage::Dataset> dataset,
                                                  std::uint64_t max_batch_bytes, BodyMemory memory) {
  ABSL_ASSIGN_OR_RETURN(records::RecordLayout layout,
                        records::RecordLayout::Create(dataset->description().schema()));
  return BatchBuilder(std::move(dataset), std::move(layout), max_batch_bytes, std::move(memory));
}

BatchBuilder::BatchBuilder(std::shared_ptr<const storage::Dataset> dataset, records::RecordLayout layout,
                           std::uint64_t max_batch_bytes, BodyMemory memory)
    : dataset_(std::move(dataset)),
      layout_(std::move(layout)),
      max_batch_bytes_(max_batch_bytes),
      memory_(std::move(memory)),
      endpoint_type_(wire::EndpointType(LargestGraph(*dataset_))),
      row_bytes_(SumRowBytes()) {}

std::uint64_t BatchBuilder::ReservedBytes(const PlannedBatch& batch) const {
  const std::uint64_t sections = kCountSections + kEndpointSections +
                                 static_cast<std::uint64_t>(dataset_->description().schema().fields_size());
  return wire::BodyPool::CapacityOf(BodyBytes(batch) + sections * wire::kSectionAlignment);
}

absl::StatusOr<BuiltBatch> BatchBuilder::Build(const PlannedBatch& batch, const EpochPosition& position,
                                               limits::MemoryBudget::Reservation memory) const {
  return TryBuild(batch, position, memory);
}

absl::StatusOr<BuiltBatch> BatchBuilder::TryBuild(const PlannedBatch& batch, const EpochPosition& position,
                                                  limits::MemoryBudget::Reservation& memory) const {
  BuiltBatch built{.header = LayOut(batch, position), .body = nullptr};
  ABSL_RETURN_IF_ERROR(CheckSize(built.header));
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<Body> body, Allocate(memory_, built.header.body_bytes, memory));
  if (absl::Status filled = Fill(batch, built.header, body->bytes.get()); !filled.ok()) {
    memory = std::move(body->reservation);
    return filled;
  }
  built.header.body_crc32c = base::Crc32c({body->bytes.get(), built.header.body_bytes});
  built.body = std::shared_ptr<const std::byte>(body, body->bytes.get());
  return built;
}

BatchBuilder::RowBytes BatchBuilder::SumRowBytes() const {
  RowBytes sum{.graph = sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t)};
  if (layout_.stores_edges()) sum.edge = kEndpointSections * wire::SizeOf(endpoint_type_);
  for (const records::RecordLayout::Field& field : layout_.fields()) {
    (field.scope == v1::FIELD_SCOPE_NODE   ? sum.node
     : field.scope == v1::FIELD_SCOPE_EDGE ? sum.edge
                                           : sum.graph) += field.row_bytes;
  }
  return sum;
}

std::uint64_t BatchBuilder::BodyBytes(const PlannedBatch& batch) const {
  return batch.real.graphs * row_bytes_.graph + batch.real.nodes * row_bytes_.node +
         batch.real.edges * row_bytes_.edge;
}

bool BatchBuilder::IsQuick(const PlannedBatch& batch) const {
  return BodyBytes(batch) <= kQuickBytes && dataset_->reads_in_order();
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
                     .real = batch.real,
                     .padded = batch.padded,
                     .fingerprint = position.fingerprint,
                     .edge_rule = static_cast<wire::EdgeRule>(schema.edge_rule()),
                     .sections = {}};
  header.sections.reserve(kCountSections + kEndpointSections + schema.fields_size());
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
  return base::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                              "batch ", header.index, " of epoch ", header.epoch, " has ", header.body_bytes,
                              " bytes (", header.real.graphs, " graphs, ", header.real.nodes, " nodes, ",
                              header.real.edges, " edges); the server's limit is ", max_batch_bytes_,
                              ": ask for fewer graphs, or start packtraind with a greater --max-batch-bytes")),
                          "BATCH_TOO_LARGE",
                          {{"bytes", absl::StrCat(header.body_bytes)},
                           {"limit", absl::StrCat(max_batch_bytes_)},
                           {"flag", "--max-batch-bytes"}});
}

absl::Status BatchBuilder::Fill(const PlannedBatch& batch, const BatchHeader& header, std::byte* body) const {
  ClearGaps(header, body);
  const BodyWriter writer(layout_, header, body);
  const auto contradiction = [&] {
    return absl::InternalError(absl::StrCat("the plan's shape of batch ", header.index, " of ", Name(*dataset_),
                                            " is not the sum of its graphs"));
  };
  // Of records that are read in order, each one's sizes give the place of the next; looking them up in the
  // index would take longer.
  const bool in_order = dataset_->reads_in_order();
  const Firsts firsts = in_order ? Firsts(1) : FirstsOf(batch.graphs, *dataset_);
  if (!in_order && firsts.back() != writer.end()) return contradiction();
  First next;
  absl::Status status =
      dataset_->ReadRecords(batch.graphs, [&](std::size_t k, const records::RecordView& record) {
        const First first = in_order ? next : firsts[k];
        if (!writer.Fits(first, record)) return contradiction();
        writer.Write(first, batch.graphs[k], record);
        next = next.Behind(record.n_node(), record.n_edge());
        return absl::OkStatus();
      });
  if (!status.ok() || next == writer.end()) return status;
  return contradiction();
}

}  // namespace packtrain::batches
