#include "server/storage/record_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/rocks/prefetch.h"

namespace packtrain::storage {
namespace {

// Each record starts where its fields are aligned too.
constexpr std::uint64_t kAlignment = records::kRecordAlignment;

// Of records, with what aligning them may take.
std::uint64_t Capacity(const v1::Dataset& description) {
  return description.bytes() + description.graphs() * (kAlignment - 1);
}

// A record's offset is asked of memory before the record is.
constexpr std::size_t kOffsetsAhead = 24;

// Large pages, where the system has them: with small ones most reads would miss the processor's page table too.
constexpr std::size_t kLargePage = 2 << 20;

}  // namespace

std::uint64_t RecordArena::BytesFor(const v1::Dataset& description) {
  return Capacity(description) + (description.graphs() + 1) * sizeof(std::uint64_t);
}

absl::StatusOr<std::unique_ptr<const RecordArena>> RecordArena::Load(const Dataset& dataset,
                                                                     std::stop_token stop) {
  const v1::Dataset& description = dataset.description();
  ABSL_ASSIGN_OR_RETURN(records::RecordLayout layout, records::RecordLayout::Create(description.schema()));
  const std::uint64_t capacity = Capacity(description);
  Memory bytes = Allocate(capacity);
  if (bytes == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for the ", capacity, " bytes of data set ", description.name()));
  }
  std::unique_ptr<RecordArena> arena(new RecordArena(std::move(layout), std::move(bytes), capacity));
  arena->offsets_.reserve(description.graphs() + 1);
  const auto append = [&](std::size_t, const records::RecordView& record) {
    if (stop.stop_requested()) return absl::CancelledError("the records are not wanted any more");
    return arena->Append(record);
  };
  ABSL_RETURN_IF_ERROR(dataset.ScanRecords(append));
  return arena;
}

absl::Status RecordArena::Read(std::span<const std::uint32_t> graphs, Dataset::RecordSink sink) const {
  if (graphs.empty()) return absl::OkStatus();
  // Of the k-th graph, or of the last.
  const auto offset = [&](std::size_t k) { return &offsets_[graphs[std::min(k, graphs.size() - 1)]]; };
  const auto record = [&](std::size_t k) {
    const std::uint64_t* const begin = offset(k);
    return std::span<const std::byte>(bytes_.get() + begin[0], begin[1] - begin[0]);
  };
  for (std::size_t k = 0; k < kOffsetsAhead; ++k) __builtin_prefetch(offset(k));
  for (std::size_t k = 0; k < rocks::kValuesAhead; ++k) rocks::Prefetch(record(k));
  for (std::size_t k = 0; k < graphs.size(); ++k) {
    __builtin_prefetch(offset(k + kOffsetsAhead));
    rocks::Prefetch(record(k + rocks::kValuesAhead));
    const records::RecordView view = records::RecordView::OfParsed(layout_, record(k).data());
    ABSL_RETURN_IF_ERROR(sink(k, view));
  }
  return absl::OkStatus();
}

RecordArena::RecordArena(records::RecordLayout layout, Memory bytes, std::uint64_t capacity)
    : layout_(std::move(layout)), bytes_(std::move(bytes)), capacity_bytes_(capacity), offsets_(1, 0) {}

void RecordArena::Free::operator()(std::byte* memory) const { std::free(memory); }

RecordArena::Memory RecordArena::Allocate(std::uint64_t size) {
  const bool large = size >= kLargePage;
  void* memory = nullptr;
  if (::posix_memalign(&memory, large ? kLargePage : rocks::kCacheLine, size) != 0) return nullptr;
  // Only a wish: without large pages the arena works too.
  if (large) (void)::madvise(memory, size, MADV_HUGEPAGE);
  return Memory(static_cast<std::byte*>(memory));
}

absl::Status RecordArena::Append(const records::RecordView& record) {
  const std::size_t size = record.bytes().size();
  if (size > capacity_bytes_ - used_bytes_) {
    return absl::DataLossError(absl::StrCat("graph ", graphs(), ", '", std::string(record.source_id()),
                                            "': the records are larger than the data set's description says"));
  }
  std::memcpy(bytes_.get() + used_bytes_, record.bytes().data(), size);
  used_bytes_ = std::min(capacity_bytes_, (used_bytes_ + size + kAlignment - 1) / kAlignment * kAlignment);
  offsets_.push_back(used_bytes_);
  return absl::OkStatus();
}

}  // namespace packtrain::storage
