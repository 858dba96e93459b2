// Chains of nodes whose source numbers them in another order than that of the chain, as graphs to renumber.
#ifndef PACKTRAIN_TESTS_TESTING_SAMPLE_CHAINS_H_
#define PACKTRAIN_TESTS_TESTING_SAMPLE_CHAINS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::testing {

struct Chain {
  std::string id;
  std::uint32_t nodes = 1;
  std::uint32_t step =
      1;  // from a node to the next one of the chain, modulo `nodes`, which it has no factor with

  // The greatest difference of the indices of joined nodes, as the source has them.
  std::uint32_t BandwidthAsRead() const;
};

// Of 1 to 11 nodes, each of another bandwidth than renumbered where it has more than three.
std::vector<Chain> SampleChains();

// `count` chains, SampleChains over and over under ids of their own.
std::vector<Chain> ManyChains(std::uint32_t count);

// Fields place (node, I32: along the chain), link (edge, U8: the lower place of its ends) and y (F64 [1],
// target "length"), edges "chain", which are stored.
v1::Schema ChainSchema();

// The same with field source_node, renumbered by RCM.
v1::Schema RenumberedChainSchema();

// The chains as one block of an import under ChainSchema, with each edge in both directions.
v1::GraphBlock ChainBlock(std::span<const Chain> chains);

// The record of a chain under RenumberedChainSchema, renumbered.
std::string RenumberedRecordOf(const Chain& chain);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_SAMPLE_CHAINS_H_
