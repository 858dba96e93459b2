// How a server's memory is divided.
#ifndef PACKTRAIN_SERVER_NODE_MEMORY_SHARES_H_
#define PACKTRAIN_SERVER_NODE_MEMORY_SHARES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "server/limits/memory_budget.h"
#include "server/node/server_options.h"

namespace packtrain::node {

inline constexpr std::uint64_t kMinMemoryBytes = std::uint64_t{256} << 20;

// `memory_bytes` of the options, or its default where that is 0: half of what the machine has for the process.
std::uint64_t MemoryBytesOf(const ServerOptions& options);

// Divided by what the options say, and so that no part can take from another one what is that one's own.
limits::MemoryBudget::Shares MemorySharesOf(const ServerOptions& options, std::uint64_t memory_bytes);

// The budget of a server with these options.
std::shared_ptr<limits::MemoryBudget> BudgetOf(const ServerOptions& options);

// Takes the parts that are fixed, for as long as the result lives.
std::vector<limits::MemoryBudget::Reservation> TakeFixedParts(limits::MemoryBudget& budget);

// The largest message that is taken: --max-message-bytes, or a quarter of what gRPC may hold where that is
// less.
std::uint32_t ReceivedMessageBytes(const ServerOptions& options, const limits::MemoryBudget& budget);
// What requests that are being received may hold: half of what gRPC may, so that these requests alone do
// not make it take memory back.
std::uint64_t InboundBytes(const limits::MemoryBudget& budget);
// What a stream may build ahead, so that all streams can at one time and half of their part is left for large
// batches.
std::uint64_t StreamWindowBytes(const ServerOptions& options, const limits::MemoryBudget& budget);
// Bodies that are kept for reuse, and bodies for streams a little behind.
std::uint64_t KeptBodyBytes(std::uint64_t memory_bytes);

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_MEMORY_SHARES_H_
