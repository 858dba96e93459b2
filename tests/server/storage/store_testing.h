// Steps that tests of graph stores share. A step that fails ends the test program's current test.
#ifndef PACKTRAIN_TESTS_SERVER_STORAGE_STORE_TESTING_H_
#define PACKTRAIN_TESTS_SERVER_STORAGE_STORE_TESTING_H_

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/graph_store.h"
#include "tests/testing/sample_molecules.h"

namespace packtrain::storage {

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

v1::SealDatasetRequest SealAs(std::string_view name);
v1::SealDatasetRequest SealWithFractions(std::string_view name, std::uint32_t train, std::uint32_t val,
                                         std::uint32_t test, std::uint32_t seed);

// A writer that holds the molecules.
std::unique_ptr<DatasetWriter> Stage(GraphStore& store, std::span<const testing::Molecule> molecules);

absl::StatusOr<DatasetWriter::SealResult> Import(GraphStore& store,
                                                 std::span<const testing::Molecule> molecules,
                                                 const v1::SealDatasetRequest& request);

// The records of `graphs`, in that order.
absl::StatusOr<std::vector<std::string>> Read(const Dataset& dataset, std::vector<std::uint32_t> graphs);

}  // namespace packtrain::storage

#endif  // PACKTRAIN_TESTS_SERVER_STORAGE_STORE_TESTING_H_
