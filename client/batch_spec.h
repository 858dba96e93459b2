// What a client asks of the server's planner. Words are those of the command line.
#ifndef PACKTRAIN_CLIENT_BATCH_SPEC_H_
#define PACKTRAIN_CLIENT_BATCH_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>

namespace packtrain::client {

// What a graph costs, or a batch: graph * graphs + node * nodes + edge * edges.
struct CostCoefficients {
  std::uint32_t graph = 0;
  std::uint32_t node = 1;
  std::uint32_t edge = 1;
  friend bool operator==(const CostCoefficients&, const CostCoefficients&) = default;
};

// See BatchSpec in packtrain/v1/batch.proto for the meaning of each field.
struct BatchSpec {
  std::string policy;        // static, dynamic, packed, tuple
  std::string pad;           // none, multiple, pow2, constant, ladder:K; empty: default
  std::uint32_t graphs = 0;  // G
  std::optional<std::uint32_t> max_graphs;
  std::optional<std::uint32_t> nodes;
  std::optional<std::uint32_t> edges;
  std::string order = "full";  // full, none, window:K
  std::uint32_t seed = 0;
  std::string split;               // empty: train where there is one, else all
  std::string oversize = "error";  // error, alone, skip
  bool drop_last = false;
  std::optional<std::uint32_t> budget_sample;
  std::string balance = "none";          // none, cost
  std::optional<CostCoefficients> cost;  // for balance cost
  std::optional<std::uint32_t> lookahead;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_BATCH_SPEC_H_
