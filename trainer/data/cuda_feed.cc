#include "trainer/data/cuda_feed.h"

#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <algorithm>
#include <array>
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

// What lies in a slot, in this order: sections as they came, then what only the device has.
enum Part {
  kNodeCount,
  kEdgeCount,
  kZ,
  kPos,
  kY,
  kSenders,
  kReceivers,
  kNodeStart,
  kEdgeStart,
  kSends,
  kParts
};
constexpr std::size_t kSections = kNodeStart;
constexpr std::array<std::string_view, kSections> kFields = {
    wire::kNodeCountSection, wire::kEdgeCountSection, kAtomicNumbers, kPositions, kTargets,
    wire::kSendersSection,   wire::kReceiversSection};

// So that batches of about one size do not make a slot grow again and again.
constexpr std::size_t kSmallestSlotBytes = 1 << 16;
// Before and behind the expansion.
constexpr std::uint64_t kChecksPerBatch = 2;

constexpr std::size_t AlignUp(std::size_t bytes) {
  return (bytes + wire::kSectionAlignment - 1) / wire::kSectionAlignment * wire::kSectionAlignment;
}

// Bytes of the element at the start of an edge; 0 where edges are not sent.
std::size_t EndpointBytes(const wire::Batch& batch) {
  const bool sent = batch.header().edge_rule == wire::EdgeRule::kStored;
  return sent ? wire::SizeOf(batch.FindSection(wire::kSendersSection)->dtype) : 0;
}

std::size_t PartBytes(const wire::Batch& batch, std::size_t part) {
  const wire::Shape& real = batch.header().real;
  if (part < kSections) {
    const wire::Section* section = batch.FindSection(kFields[part]);
    return section == nullptr ? 0 : section->size_bytes;
  }
  if (part != kSends) return (std::size_t{real.graphs} + 1) * sizeof(std::int32_t);
  return EndpointBytes(batch) == 0 ? 0 : kSortWarps * std::size_t{real.nodes} * sizeof(std::int32_t);
}

// Where each part of one batch begins in its slot, in bytes, and where the last one ends.
class SlotLayout {
 public:
  explicit SlotLayout(const wire::Batch& batch) {
    for (std::size_t part = 0; part < kParts; ++part) {
      begin_[part + 1] = begin_[part] + AlignUp(PartBytes(batch, part));
    }
  }

  template <typename T>
  T* At(std::byte* slot, std::size_t part) const {
    return reinterpret_cast<T*>(slot + begin_[part]);
  }
  std::size_t PaddedBytes(std::size_t part) const { return begin_[part + 1] - begin_[part]; }
  std::size_t sent_bytes() const { return begin_[kSections]; }
  std::size_t bytes() const { return begin_[kParts]; }

 private:
  std::array<std::size_t, kParts + 1> begin_{};
};

// The sections that are sent, with zeros between them.
void CopySections(const wire::Batch& batch, const SlotLayout& layout, std::byte* to) {
  for (std::size_t part = 0; part < kSections; ++part) {
    const wire::Section* section = batch.FindSection(kFields[part]);
    if (section == nullptr) continue;
    std::byte* const begin = layout.At<std::byte>(to, part);
    std::memcpy(begin, batch.body().data() + section->offset_bytes, section->size_bytes);
    std::memset(begin + section->size_bytes, 0, layout.PaddedBytes(part) - section->size_bytes);
  }
}

CompactBatch CompactOf(const wire::Batch& batch, const SlotLayout& layout, std::byte* slot) {
  const wire::Shape& real = batch.header().real;
  return {.graphs = static_cast<int>(real.graphs),
          .nodes = static_cast<int>(real.nodes),
          .edges = static_cast<int>(real.edges),
          .n_node = layout.At<const std::uint32_t>(slot, kNodeCount),
          .n_edge = layout.At<const std::uint32_t>(slot, kEdgeCount),
          .z = layout.At<const std::uint8_t>(slot, kZ),
          .pos = layout.At<const float>(slot, kPos),
          .y = layout.At<const double>(slot, kY),
          .endpoint_bytes = static_cast<int>(EndpointBytes(batch)),
          .senders = layout.At<const void>(slot, kSenders),
          .receivers = layout.At<const void>(slot, kReceivers)};
}

BatchScratch ScratchOf(const SlotLayout& layout, std::byte* slot) {
  return {.node_start = layout.At<std::int32_t>(slot, kNodeStart),
          .edge_start = layout.At<std::int32_t>(slot, kEdgeStart),
          .sends_of_warp = layout.At<std::int32_t>(slot, kSends)};
}

BatchMeaning MeaningOf(const Target& target, const at::Tensor& class_of) {
  return {.column = static_cast<int>(target.column),
          .columns = static_cast<int>(target.columns),
          .mean = target.mean,
          .scale = target.scale,
          .class_of = class_of.const_data_ptr<std::int32_t>()};
}

ExpandedBatch ExpandedOf(const GraphTensors& out, const wire::Shape& padded) {
  return {.graphs = static_cast<int>(padded.graphs),
          .nodes = static_cast<int>(padded.nodes),
          .edges = static_cast<int>(padded.edges),
          .classes = out.classes.data_ptr<std::int32_t>(),
          .positions = out.positions.data_ptr<float>(),
          .senders = out.senders.data_ptr<std::int32_t>(),
          .receivers = out.receivers.data_ptr<std::int32_t>(),
          .graph_of_node = out.graph_of_node.data_ptr<std::int32_t>(),
          .n_node = out.n_node.data_ptr<std::int32_t>(),
          .target = out.target.data_ptr<float>(),
          .weight = out.weight.data_ptr<float>(),
          .in_degree = out.in_degree.data_ptr<float>(),
          .receiver_start = out.receiver_start.data_ptr<std::int32_t>(),
          .by_sender = out.by_sender.data_ptr<std::int32_t>(),
          .sender_start = out.sender_start.data_ptr<std::int32_t>(),
          .real = out.real.data_ptr<std::int32_t>()};
}

absl::Status CheckShape(const GraphTensors& out, const wire::Shape& padded) {
  if (out.n_node.numel() == padded.graphs && out.classes.numel() == padded.nodes &&
      out.senders.numel() == padded.edges) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("tensors of ", out.n_node.numel(), " graphs, ",
                                                 out.classes.numel(), " nodes and ", out.senders.numel(),
                                                 " edges for a batch of another padded shape"));
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

  // The copy, behind the slot's last expansion.
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

  // The part on the device is free for the next batch behind what `reader` has been given so far.
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
    const auto bytes = static_cast<std::int64_t>(std::bit_ceil(std::max(wanted, kSmallestSlotBytes)));
    return at::empty({bytes}, options.dtype(at::kByte));
  }

  at::Tensor host_;                // u8, page-locked
  at::Tensor device_;              // u8, of the stream of copies
  c10::cuda::CUDAEvent arrived_;   // the copy has read the host's part
  c10::cuda::CUDAEvent expanded_;  // the expansion has read the device's part
};

CudaFeed::CudaFeed(Target target, const ClassTable& classes, at::Device device, const CudaFeedOptions& options)
    : target_(std::move(target)),
      classes_(classes),
      class_of_(Upload(classes, device)),
      tally_(NewTally(options.with_checks, device)),
      copies_(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device.index()).unwrap()) {
  for (std::size_t slot = 0; slot < options.slots; ++slot) slots_.push_back(std::make_unique<Slot>());
}

CudaFeed::~CudaFeed() = default;

absl::Status CudaFeed::Expand(const wire::Batch& batch, const GraphTensors& out) {
  ABSL_RETURN_IF_ERROR(CheckExpandable(batch, target_, classes_));
  const wire::Shape& padded = batch.header().padded;
  ABSL_RETURN_IF_ERROR(CheckShape(out, padded));
  const CUDAStream copies(copies_), current = c10::cuda::getCurrentCUDAStream();
  const SlotLayout layout(batch);
  Slot& slot = NextSlot();
  slot.Fill(batch, layout, copies);
  const CompactBatch compact = CompactOf(batch, layout, slot.device());
  const BatchScratch scratch = ScratchOf(layout, slot.device());
  slot.EnqueueCopy(layout, copies);
  C10_CUDA_CHECK(LocateGraphs(compact, scratch, copies));
  slot.EnqueueArrival(copies, current);
  const std::uint64_t checksum = tally_.defined() ? slot.Checksum(layout) : 0;
  EnqueueCheck(slot, layout.sent_bytes(), checksum);
  const BatchMeaning meaning = MeaningOf(target_, class_of_);
  C10_CUDA_CHECK(ExpandBatch(compact, meaning, scratch, ExpandedOf(out, padded), current));
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
