// The options of a server, with their defaults.
#ifndef PACKTRAIN_SERVER_NODE_SERVER_OPTIONS_H_
#define PACKTRAIN_SERVER_NODE_SERVER_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace packtrain::node {

struct ServerOptions {
  // Folder of the stores; created if it does not exist.
  std::filesystem::path data;
  // HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 takes a free one.
  std::string listen = "127.0.0.1:7077";
  // Where scrapes are answered: PORT on loopback or HOST:PORT, by IPv4; port 0 takes a free one. Empty:
  // scrapes are not answered, and RocksDB keeps no statistics.
  std::string metrics_port;
  // HOST:PORT or unix:PATH of the server whose data sets this one copies; empty: the server is not a replica.
  std::string replica_of;
  // Allows plain text on an address that other machines can reach.
  bool insecure = false;
  // Answers gRPC's reflection service, by which generic clients learn the protocol.
  bool reflection = true;
  // Serves BenchService.
  bool enable_bench = false;
  // Threads that build batches; 0: one for each core.
  int builders = 0;
  // Largest body of one batch.
  std::uint64_t max_batch_bytes = std::uint64_t{64} << 20;
  // Largest message received or sent.
  std::uint32_t max_message_bytes = std::uint32_t{64} << 20;
  // Limit of the batch streams that are open at one time.
  std::uint32_t max_streams = 128;
  // The budget of the process's memory; 0: half of what the machine, or the process's control group, has.
  std::uint64_t memory_bytes = 0;
  // Records of whole data sets kept in memory.
  std::uint64_t resident_bytes = std::uint64_t{1} << 30;
  // Plans kept for reuse.
  std::uint64_t plan_cache_bytes = std::uint64_t{256} << 20;
  // Caches of the store of graphs.
  std::uint64_t store_cache_bytes = std::uint64_t{256} << 20;
  // A stream that waits for its client for so long is cut off, and an import that waits for its seal is
  // dropped.
  std::chrono::milliseconds idle_timeout = std::chrono::minutes(10);
  // What an import that breaks off has staged is kept for so long, to go on there; 0: it is dropped.
  std::chrono::milliseconds keep_staged = std::chrono::hours(24);
  // A connection on which nothing came for `ping_after` is pinged, and closed if no answer comes for
  // `ping_timeout`.
  std::chrono::milliseconds ping_after = std::chrono::seconds(30);
  std::chrono::milliseconds ping_timeout = std::chrono::seconds(20);
  // A run without a report for this long is shown as lost.
  std::chrono::seconds run_lost_after{600};
  // How long main lets Server::Drain wait for the calls in flight.
  std::chrono::seconds drain_timeout{30};
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_SERVER_OPTIONS_H_
