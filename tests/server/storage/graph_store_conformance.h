// What the tests of GraphStore's contract (graph_store.h) share. They run on each implementation.
#ifndef PACKTRAIN_TESTS_SERVER_STORAGE_GRAPH_STORE_CONFORMANCE_H_
#define PACKTRAIN_TESTS_SERVER_STORAGE_GRAPH_STORE_CONFORMANCE_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {

struct Fake {
  testing::FakeGraphStore store;
};

struct Rocks {
  TemporaryFolder folder;
  std::unique_ptr<RocksGraphStore> opened = RocksGraphStore::Open(folder.path(), {}).value();
  RocksGraphStore& store = *opened;
};

template <typename Implementation>
class GraphStoreConformanceTest : public ::testing::Test {
 protected:
  GraphStore& store() { return implementation_.store; }

  v1::Dataset MustImport(std::span<const testing::Molecule> molecules, const v1::SealDatasetRequest& request) {
    const auto result = Import(store(), molecules, request);
    EXPECT_THAT(result, testing::IsOk());
    return result->dataset;
  }

  std::vector<std::uint32_t> SplitOf(const Dataset& dataset, std::string_view name) {
    const auto split = dataset.Split(name);
    EXPECT_THAT(split, testing::IsOk());
    return {split->begin(), split->end()};
  }

 private:
  Implementation implementation_;
};

using Implementations = ::testing::Types<Fake, Rocks>;

}  // namespace packtrain::storage

#endif  // PACKTRAIN_TESTS_SERVER_STORAGE_GRAPH_STORE_CONFORMANCE_H_
