#include "server/node/memory_shares.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/wire/body_pool.h"
#include "server/batches/stream_environment.h"
#include "server/node/machine_memory.h"

namespace packtrain::node {
namespace {

using limits::MemoryBudget;
using limits::MemoryPart;

constexpr std::uint64_t kProcessBytes = 64 << 20;
constexpr std::uint64_t kMemtableBytes = 64 << 20;
constexpr std::uint64_t kTransportBytes = 256 << 20;
constexpr std::uint64_t kMinWindowBytes = 64 << 10;
constexpr MemoryPart kFixed[] = {MemoryPart::kProcess, MemoryPart::kTransport, MemoryPart::kStoreCache,
                                 MemoryPart::kMemtables};

}  // namespace

std::uint64_t MemoryBytesOf(const ServerOptions& options) {
  if (options.memory_bytes != 0) return options.memory_bytes;
  return std::max(MachineMemoryBytes() / 2, kMinMemoryBytes);
}

MemoryBudget::Shares MemorySharesOf(const ServerOptions& options, std::uint64_t memory_bytes) {
  MemoryBudget::Shares shares = {};
  const auto set = [&shares](MemoryPart part, std::uint64_t max_bytes, std::uint64_t guaranteed_bytes) {
    shares[static_cast<std::size_t>(part)] = {max_bytes, std::min(guaranteed_bytes, max_bytes)};
  };
  const auto fix = [&set](MemoryPart part, std::uint64_t bytes) { set(part, bytes, bytes); };
  const std::uint64_t eighth = memory_bytes / 8;
  fix(MemoryPart::kProcess, std::min(kProcessBytes, eighth) + KeptBodyBytes(memory_bytes));
  fix(MemoryPart::kTransport, std::min(kTransportBytes, eighth));
  fix(MemoryPart::kStoreCache, std::min(options.store_cache_bytes, eighth));
  fix(MemoryPart::kMemtables, std::min(kMemtableBytes, eighth));
  set(MemoryPart::kResidentDatasets, std::min(options.resident_bytes, memory_bytes / 2), memory_bytes / 64);
  set(MemoryPart::kSizes, memory_bytes / 2, memory_bytes / 32);
  set(MemoryPart::kPlans, memory_bytes / 2, memory_bytes / 64 * 3);
  set(MemoryPart::kStreams, memory_bytes / 2, eighth);
  set(MemoryPart::kPlannedBatches, eighth, memory_bytes / 64);
  set(MemoryPart::kReports, eighth, memory_bytes / 16);
  set(MemoryPart::kImports, memory_bytes / 4, memory_bytes / 32);
  set(MemoryPart::kListings, memory_bytes / 2, memory_bytes / 32);
  return shares;
}

std::shared_ptr<MemoryBudget> BudgetOf(const ServerOptions& options) {
  const std::uint64_t bytes = MemoryBytesOf(options);
  return MemoryBudget::Create(bytes, MemorySharesOf(options, bytes));
}

std::vector<MemoryBudget::Reservation> TakeFixedParts(MemoryBudget& budget) {
  std::vector<MemoryBudget::Reservation> taken;
  for (const MemoryPart part : kFixed) {
    std::optional<MemoryBudget::Reservation> memory = budget.TryReserve(part, budget.max_bytes(part));
    if (memory.has_value()) taken.push_back(*std::move(memory));
  }
  return taken;
}

std::uint32_t ReceivedMessageBytes(const ServerOptions& options, const MemoryBudget& budget) {
  const std::uint64_t most = budget.max_bytes(MemoryPart::kTransport) / 4;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(options.max_message_bytes, most));
}

std::uint64_t InboundBytes(const MemoryBudget& budget) { return budget.max_bytes(MemoryPart::kTransport) / 2; }

std::uint64_t StreamWindowBytes(const ServerOptions& options, const MemoryBudget& budget) {
  const std::uint64_t window = budget.max_bytes(MemoryPart::kStreams) / 2 / options.max_streams;
  return std::clamp(window, kMinWindowBytes, batches::kStreamWindowBytes);
}

std::uint64_t KeptBodyBytes(std::uint64_t memory_bytes) {
  return std::min(wire::kMaxKeptBodyBytes, memory_bytes / 16);
}

}  // namespace packtrain::node
