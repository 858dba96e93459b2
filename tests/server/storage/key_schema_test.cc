// The keys and values of the sealed-graph database, as an earlier version of the programs wrote them for a data
// set of three molecules.
#include "server/storage/key_schema.h"
#include "proto/wire/full_name.h"

#include <gmock/gmock.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/storage/rocks_graph_store.h"
#include "server/storage/stored_dataset.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/golden.h"
#include "tests/testing/sample_chains.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::Chain;
using ::packtrain::testing::GoldenBlocks;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::RenumberedChainSchema;
using ::packtrain::testing::RenumberedRecordOf;
using ::packtrain::testing::SampleChains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr std::uint64_t kStorageId = 1;
constexpr char kHash[] = "2236086dc843a08eef3d2cc3663ffb4be5f29d9d15b41bb057cd139606ef8d42";
constexpr char kName[] = "three";
constexpr char kVersion[] = "7666deddb24e0e66";

// The blocks of tests/golden/key_schema.hex, in their order.
struct Golden {
  std::string format_key, format;
  std::string content_key, content;
  std::string dataset_key, dataset;
  std::string deleted_key;
  std::string name_key, name;
  std::string split_key, split;
  std::string graph_key;
  std::string sizes_key, sizes;
  std::string renumbered_sizes;
};

Golden ReadGolden() {
  std::vector<std::string> blocks = GoldenBlocks("key_schema.hex");
  EXPECT_THAT(blocks, SizeIs(15));
  blocks.resize(15);
  return {blocks[0], blocks[1], blocks[2],  blocks[3],  blocks[4],  blocks[5],  blocks[6], blocks[7],
          blocks[8], blocks[9], blocks[10], blocks[11], blocks[12], blocks[13], blocks[14]};
}

TEST(KeySchemaTest, WritesTheGoldenKeys) {
  const Golden golden = ReadGolden();
  EXPECT_EQ(kFormatKey, golden.format_key);
  EXPECT_EQ(ContentKey(kHash), golden.content_key);
  EXPECT_EQ(DatasetKey(kName, kVersion), golden.dataset_key);
  EXPECT_EQ(DeletedKey(kName, kVersion), golden.deleted_key);
  EXPECT_EQ(NameKey(kName), golden.name_key);
  EXPECT_EQ(SplitKey(kVersion, "train"), golden.split_key);
  EXPECT_EQ(StorageKey(kStorageId, 2).view(), golden.graph_key);
  EXPECT_EQ(StorageKey(kStorageId, 0).view(), golden.sizes_key);
}

TEST(KeySchemaTest, WritesTheGoldenValues) {
  const Golden golden = ReadGolden();
  EXPECT_EQ(kStoreFormat, golden.format);
  EXPECT_EQ(EncodeStorageId(kStorageId), golden.content);
  EXPECT_EQ(kVersion, golden.name);
  EXPECT_EQ(IndexBytes(std::vector<std::uint32_t>{1}), golden.split);
  const std::vector<std::uint32_t> n_node = {3, 2, 1}, n_edge = {6, 2, 0}, bandwidth = {2, 1, 0};
  EXPECT_EQ(IndexBytes(n_node) + IndexBytes(n_edge) + IndexBytes(bandwidth), golden.sizes);
  const auto stored = DecodeDataset(golden.dataset);
  ASSERT_THAT(stored, IsOk());
  EXPECT_EQ(Encode(*stored), golden.dataset);
}

TEST(KeySchemaTest, SizesOfRenumberedGraphsAreTheGoldenOnes) {
  const TemporaryFolder folder;
  const auto store = RocksGraphStore::Open(folder.path(), {}).value();
  const std::vector<Chain> chains = SampleChains();
  const auto writer = store->NewDataset(RenumberedChainSchema()).value();
  for (const Chain& chain : std::span(chains).first(3)) {
    const std::string record = RenumberedRecordOf(chain);
    ASSERT_THAT(writer->Append(std::as_bytes(std::span(record))), IsOk());
  }
  ASSERT_THAT(writer->Seal(SealAs("chains")), IsOk());
  std::vector<std::string> values;
  ASSERT_THAT(store->database().Scan(Family::kSizes, "",
                                     [&](std::string_view, std::string_view value) {
                                       values.emplace_back(value);
                                       return absl::OkStatus();
                                     }),
              IsOk());
  EXPECT_THAT(values, ElementsAre(ReadGolden().renumbered_sizes));
}

TEST(KeySchemaTest, ReadsTheGoldenKeysAndValues) {
  const Golden golden = ReadGolden();
  EXPECT_EQ(StorageIdOf(golden.graph_key), kStorageId);
  EXPECT_EQ(StorageIdOf(golden.sizes_key), kStorageId);
  std::vector<std::uint32_t> train;
  AppendIndices(golden.split, train);
  EXPECT_THAT(train, ElementsAre(1));
  const auto stored = DecodeDataset(golden.dataset);
  ASSERT_THAT(stored, IsOk());
  EXPECT_EQ(stored->storage_id, kStorageId);
  EXPECT_EQ(wire::FullName(stored->description), std::string(kName) + "@" + kVersion);
  EXPECT_EQ(stored->description.graphs(), 3u);
  EXPECT_EQ(stored->description.schema().edges(), "radius:2");
}

TEST(KeySchemaTest, SizesComeInChunks) {
  EXPECT_EQ(ChunksOf(0), 0u);
  EXPECT_EQ(ChunksOf(kSizesPerChunk), 1u);
  EXPECT_EQ(ChunksOf(kSizesPerChunk + 1), 2u);
  EXPECT_EQ(GraphsOfChunk(kSizesPerChunk + 1, 0), kSizesPerChunk);
  EXPECT_EQ(GraphsOfChunk(kSizesPerChunk + 1, 1), 1u);
}

TEST(KeySchemaTest, AKeyThatIsTooShortHasNoStorageId) { EXPECT_EQ(StorageIdOf("1234567"), std::nullopt); }

}  // namespace
}  // namespace packtrain::storage
