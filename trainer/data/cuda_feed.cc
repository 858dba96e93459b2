#include "trainer/data/cuda_feed.h"

#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/data/expand_batch.h"
#include "trainer/data/word_checksum.h"

namespace packtrain::trainer {
namespace {

using c10::cuda::CUDAStream;

static_assert(kInputFields <= RowFields::kMax);

// So that batches of about one size do not make a slot grow again and again.
constexpr std::size_t kMinSlotBytes = 1 << 16;
// Before and after the expansion.
constexpr std::uint64_t kChecksPerBatch = 2;

constexpr std::size_t AlignUp(std::size_t bytes) {
  return (bytes + wire::kSectionAlignment - 1) / wire::kSectionAlignment * wire::kSectionAlignment;
}

// Bytes of the element at the start of an edge; 0 where edges are not sent.
std::size_t EndpointBytes(const wire::Batch& batch) {
  const bool sent = batch.header().edge_rule == wire::EdgeRule::kStored;
  return sent ? wire::SizeOf(batch.FindSection(wire::kSendersSection)->dtype) : 0;
}

// The sections that cross the bus, where a batch has them.
std::vector<std::string_view> SectionsOf(InputSet inputs) {
  std::vector<std::string_view> sections = {wire::kNodeCountSection, wire::kEdgeCountSection,
                                            wire::kSendersSection, wire::kReceiversSection};
  for (const InputField& field : FieldsOf(inputs)) sections.push_back(field.name);
  if (inputs.Has(Input::kTargets)) sections.push_back(kTargetField);
  return sections;
}

// Where the parts of one batch begin in its slot: its sections as they came, then what only the device has.
class SlotLayout {
 public:
  struct Part {
    const wire::Section* section;
    std::size_t begin;  // bytes into the slot
    std::size_t end;    // where the next part begins
  };

  SlotLayout(const wire::Batch& batch, const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) {
      if (const wire::Section* section = batch.FindSection(name)) AddSection(section);
    }
    const wire::Shape& real = batch.header().real;
    sent_bytes_ = bytes_;
    node_start_ = AddIntegers(std::size_t{real.graphs} + 1);
    edge_start_ = AddIntegers(std::size_t{real.graphs} + 1);
    sends_ = AddIntegers(EndpointBytes(batch) == 0 ? 0 : kSortWarps * std::size_t{real.nodes});
  }

  const std::vector<Part>& sections() const { return sections_; }
  std::size_t sent_bytes() const { return sent_bytes_; }
  std::size_t bytes() const { return bytes_; }

  // Where section `name` begins in `slot`; null where the batch has none.
  const void* Find(const std::byte* slot, std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, [](const Part& part) { return part.section->field; });
    return found == sections_.end() ? nullptr : slot + found->begin;
  }

  BatchScratch ScratchIn(std::byte* slot) const {
    return {.node_start = reinterpret_cast<std::int32_t*>(slot + node_start_),
            .edge_start = reinterpret_cast<std::int32_t*>(slot + edge_start_),
            .sends_of_warp = reinterpret_cast<std::int32_t*>(slot + sends_)};
  }

 private:
  void AddSection(const wire::Section* section) {
    const std::size_t begin = std::exchange(bytes_, AlignUp(bytes_ + section->size_bytes));
    sections_.push_back({section, begin, bytes_});
  }

  std::size_t AddIntegers(std::size_t count) {
    return std::exchange(bytes_, AlignUp(bytes_ + count * sizeof(std::int32_t)));
  }

  std::vector<Part> sections_;
  std::size_t bytes_ = 0;
  std::size_t sent_bytes_ = 0;
  std::size_t node_start_ = 0, edge_start_ = 0, sends_ = 0;
};

// The sections that are sent, with zeros between them.
void CopySections(const wire::Batch& batch, const SlotLayout& layout, std::byte* to) {
  for (const auto& [section, begin, end] : layout.sections()) {
    std::memcpy(to + begin, batch.body().data() + section->offset_bytes, section->size_bytes);
    std::memset(to + begin + section->size_bytes, 0, end - begin - section->size_bytes);
  }
}

CompactBatch CompactOf(const wire::Batch& batch, const SlotLayout& layout, const std::byte* slot) {
  const wire::Shape& real = batch.header().real;
  return {.graphs = static_cast<int>(real.graphs),
          .nodes = static_cast<int>(real.nodes),
          .edges = static_cast<int>(real.edges),
          .n_node = static_cast<const std::uint32_t*>(layout.Find(slot, wire::kNodeCountSection)),
          .n_edge = static_cast<const std::uint32_t*>(layout.Find(slot, wire::kEdgeCountSection)),
          .endpoint_bytes = static_cast<int>(EndpointBytes(batch)),
          .senders = layout.Find(slot, wire::kSendersSection),
          .receivers = layout.Find(slot, wire::kReceiversSection)};
}

// The elements of `field`, which lie at `from` on the device.
RowField RowFieldOf(const wire::Batch& batch, const InputField& field, const void* from,
                    const at::Tensor& class_of, const GraphTensors& out) {
  const wire::Section& section = *batch.FindSection(field.name);
  const at::Tensor& tensor = out.*field.tensor;
  const std::size_t element_bytes = wire::SizeOf(section.dtype);
  return {
      .from = from,
      .to = static_cast<std::uint32_t*>(tensor.mutable_data_ptr()),
      .real = static_cast<std::int64_t>(section.size_bytes / element_bytes),
      .padded = tensor.numel(),
      .element_bytes = static_cast<int>(element_bytes),
      .class_of = field.conversion == Conversion::kClass ? class_of.const_data_ptr<std::int32_t>() : nullptr};
}

// Bytes of the columns, on the device; undefined where there are none.
at::Tensor UploadColumns(const std::vector<Target>& targets, at::Device device) {
  if (targets.empty()) return {};
  std::vector<TargetColumn> columns;
  for (const Target& target : targets) {
    columns.push_back({.column = static_cast<int>(target.column), .mean = target.mean, .scale = target.scale});
  }
  const auto bytes = static_cast<std::int64_t>(columns.size() * sizeof(TargetColumn));
  return at::from_blob(columns.data(), {bytes}, at::kByte).to(device);
}

TargetColumns TargetColumnsOf(const std::vector<Target>& targets, const at::Tensor& columns, const void* y,
                              const GraphTensors& out) {
  return {.y = static_cast<const double*>(y),
          .columns = static_cast<int>(targets.front().columns),
          .chosen = static_cast<const TargetColumn*>(columns.const_data_ptr()),
          .count = static_cast<int>(targets.size()),
          .targets = out.targets.data_ptr<float>(),
          .weights = out.weights.data_ptr<float>()};
}

ExpandedBatch ExpandedOf(const GraphTensors& out, const wire::Shape& padded) {
  return {.graphs = static_cast<int>(padded.graphs),
          .nodes = static_cast<int>(padded.nodes),
          .edges = static_cast<int>(padded.edges),
          .senders = out.senders.data_ptr<std::int32_t>(),
          .receivers = out.receivers.data_ptr<std::int32_t>(),
          .graph_of_node = out.graph_of_node.data_ptr<std::int32_t>(),
          .n_node = out.n_node.data_ptr<std::int32_t>(),
          .in_degree = out.in_degree.data_ptr<float>(),
          .receiver_start = out.receiver_start.data_ptr<std::int32_t>(),
          .by_sender = out.by_sender.data_ptr<std::int32_t>(),
          .sender_start = out.sender_start.data_ptr<std::int32_t>(),
          .real = out.real.data_ptr<std::int32_t>()};
}

at::Tensor Upload(const ClassTable& classes, at::Device device) {
  return at::tensor(at::ArrayRef<std::int32_t>(classes), at::kInt).to(device);
}

at::Tensor NewTally(bool wanted, at::Device device) {
  return wanted ? at::zeros({sizeof(ChecksumTally)}, at::kByte).to(device) : at::Tensor();
}

}  // namespace

// The memory of one batch on its way, on both sides of the bus.
class CudaFeed::Slot {
 public:
  // Waits for what has been enqueued.
  ~Slot() {
    if (expanded_.isCreated()) C10_CUDA_CHECK_WARN(cudaEventSynchronize(expanded_));
  }

  // Puts the sections into the part on the host. Waits for the slot's last copy.
  void Fill(const wire::Batch& batch, const SlotLayout& layout, CUDAStream copies) {
    arrived_.synchronize();
    Grow(layout, copies);
    CopySections(batch, layout, host());
  }

  // Of what Fill has put there.
  std::uint64_t Checksum(const SlotLayout& layout) const {
    return WordChecksum({reinterpret_cast<const std::uint64_t*>(host()), layout.sent_bytes() / 8});
  }

  // The copy, after the slot's last expansion.
  void EnqueueCopy(const SlotLayout& layout, CUDAStream copies) {
    expanded_.block(copies);
    const std::size_t bytes = layout.sent_bytes();
    C10_CUDA_CHECK(cudaMemcpyAsync(device(), host(), bytes, cudaMemcpyHostToDevice, copies));
  }

  // What is enqueued on `reader` from here on follows what `copies` has been given so far.
  void EnqueueArrival(CUDAStream copies, CUDAStream reader) {
    arrived_.record(copies);
    arrived_.block(reader);
  }

  // The part on the device is free for the next batch after what `reader` has been given so far.
  void EnqueueRelease(CUDAStream reader) { expanded_.record(reader); }

  std::byte* device() const { return static_cast<std::byte*>(device_.mutable_data_ptr()); }

 private:
  std::byte* host() const { return static_cast<std::byte*>(host_.mutable_data_ptr()); }

  void Grow(const SlotLayout& layout, CUDAStream copies) {
    if (!Holds(host_, layout.sent_bytes())) host_ = NewBytes(layout.sent_bytes(), PinnedBytes());
    if (Holds(device_, layout.bytes())) return;
    expanded_.synchronize();
    // Memory of another stream could still be in use there.
    const c10::cuda::CUDAStreamGuard guard(copies);
    device_ = NewBytes(layout.bytes(), at::TensorOptions(copies.device()));
  }

  static at::TensorOptions PinnedBytes() { return at::TensorOptions().pinned_memory(true); }

  static bool Holds(const at::Tensor& bytes, std::size_t wanted) {
    return bytes.defined() && static_cast<std::size_t>(bytes.numel()) >= wanted;
  }

  static at::Tensor NewBytes(std::size_t wanted, at::TensorOptions options) {
    const auto bytes = static_cast<std::int64_t>(std::bit_ceil(std::max(wanted, kMinSlotBytes)));
    return at::empty({bytes}, options.dtype(at::kByte));
  }

  at::Tensor host_;                // u8, page-locked
  at::Tensor device_;              // u8, of the stream of copies
  c10::cuda::CUDAEvent arrived_;   // the copy has read the host's part
  c10::cuda::CUDAEvent expanded_;  // the expansion has read the device's part
};

CudaFeed::CudaFeed(FeedOptions options, at::Device device, const CudaFeedOptions& cuda)
    : options_(std::move(options)),
      fields_(FieldsOf(options_.layout.inputs)),
      sections_(SectionsOf(options_.layout.inputs)),
      class_of_(Upload(options_.classes, device)),
      target_columns_(UploadColumns(options_.targets, device)),
      tally_(NewTally(cuda.with_checks, device)),
      copies_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device.index()).unwrap()) {
  for (std::size_t slot = 0; slot < cuda.slots; ++slot) slots_.push_back(std::make_unique<Slot>());
}

CudaFeed::~CudaFeed() = default;

absl::Status CudaFeed::Expand(const wire::Batch& batch, const GraphTensors& out) {
  ABSL_RETURN_IF_ERROR(CheckExpandable(batch, options_, out));
  const CUDAStream copies(copies_), current = c10::cuda::getCurrentCUDAStream();
  const SlotLayout layout(batch, sections_);
  Slot& slot = NextSlot();
  slot.Fill(batch, layout, copies);
  const CompactBatch compact = CompactOf(batch, layout, slot.device());
  const BatchScratch scratch = layout.ScratchIn(slot.device());
  slot.EnqueueCopy(layout, copies);
  C10_CUDA_CHECK(LocateGraphs(compact, scratch, copies));
  slot.EnqueueArrival(copies, current);
  const std::uint64_t checksum = tally_.defined() ? slot.Checksum(layout) : 0;
  EnqueueCheck(slot, layout.sent_bytes(), checksum);
  BatchInputs inputs;
  for (const InputField& field : fields_) {
    inputs.rows.Add(RowFieldOf(batch, field, layout.Find(slot.device(), field.name), class_of_, out));
  }
  if (options_.layout.inputs.Has(Input::kTargets)) {
    const void* y = layout.Find(slot.device(), kTargetField);
    inputs.targets = TargetColumnsOf(options_.targets, target_columns_, y, out);
  }
  C10_CUDA_CHECK(ExpandBatch(compact, inputs, scratch, ExpandedOf(out, batch.header().padded), current));
  EnqueueCheck(slot, layout.sent_bytes(), checksum);
  slot.EnqueueRelease(current);
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> CudaFeed::VerifiedBatches() const {
  const at::Tensor host = tally_.cpu();
  const auto tally = *static_cast<const ChecksumTally*>(host.const_data_ptr());
  if (tally.differing == 0) return tally.checked / kChecksPerBatch;
  return absl::DataLossError(absl::StrCat(tally.differing, " of ", tally.checked,
                                          " checksums on the device are not those on the host"));
}

CudaFeed::Slot& CudaFeed::NextSlot() {
  Slot& slot = *slots_[next_];
  next_ = (next_ + 1) % slots_.size();
  return slot;
}

void CudaFeed::EnqueueCheck(const Slot& slot, std::size_t bytes, std::uint64_t checksum) {
  if (!tally_.defined()) return;
  const auto* words = reinterpret_cast<const std::uint64_t*>(slot.device());
  auto* tally = static_cast<ChecksumTally*>(tally_.mutable_data_ptr());
  C10_CUDA_CHECK(
      CheckWords(words, bytes / sizeof(std::uint64_t), checksum, tally, c10::cuda::getCurrentCUDAStream()));
}

}  // namespace packtrain::trainer
