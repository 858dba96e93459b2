#include "tests/server/storage/store_testing.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <system_error>

namespace packtrain::storage {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "packtrain-store-XXXXXX").string();
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

v1::SealDatasetRequest SealAs(std::string_view name) {
  v1::SealDatasetRequest request;
  request.set_name(std::string(name));
  return request;
}

v1::SealDatasetRequest SealWithFractions(std::string_view name, std::uint32_t train, std::uint32_t val,
                                         std::uint32_t test, std::uint32_t seed) {
  v1::SealDatasetRequest request = SealAs(name);
  v1::SplitFractions& fractions = *request.mutable_fractions();
  fractions.set_train_permille(train);
  fractions.set_val_permille(val);
  fractions.set_test_permille(test);
  fractions.set_seed(seed);
  return request;
}

std::unique_ptr<DatasetWriter> Stage(GraphStore& store, std::span<const testing::Molecule> molecules) {
  absl::StatusOr<std::unique_ptr<DatasetWriter>> writer = store.NewDataset(testing::MoleculeSchema());
  EXPECT_TRUE(writer.ok()) << writer.status();
  for (const testing::Molecule& molecule : molecules) {
    const std::string record = testing::RecordOf(molecule);
    const absl::Status status = (*writer)->Append(std::as_bytes(std::span(record)));
    EXPECT_TRUE(status.ok()) << status;
  }
  return *std::move(writer);
}

absl::StatusOr<DatasetWriter::SealResult> Import(GraphStore& store,
                                                 std::span<const testing::Molecule> molecules,
                                                 const v1::SealDatasetRequest& request) {
  return Stage(store, molecules)->Seal(request);
}

absl::StatusOr<std::vector<std::string>> Read(const Dataset& dataset, std::vector<std::uint32_t> graphs) {
  std::vector<std::string> records(graphs.size());
  const absl::Status status =
      dataset.ReadRecords(graphs, [&](std::size_t k, const records::RecordView& record) {
        EXPECT_TRUE(records.at(k).empty()) << "record " << k << " came twice";
        EXPECT_EQ(record.n_node(), dataset.n_node()[graphs[k]]);
        EXPECT_EQ(record.n_edge(), dataset.n_edge()[graphs[k]]);
        records.at(k).assign(reinterpret_cast<const char*>(record.bytes().data()), record.bytes().size());
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return records;
}

}  // namespace packtrain::storage
