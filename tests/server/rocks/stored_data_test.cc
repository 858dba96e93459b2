// Stores that an earlier version of the programs wrote (tests/data/stored/README.md): opening one changes
// nothing in it, so whatever could read it before still can.
#include <gmock/gmock.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/runs/rocks_run_store.h"
#include "server/storage/rocks_graph_store.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::rocks {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::TempFolder;
using ::testing::Gt;
using ::testing::Key;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Keys and values by family.
using Content = std::map<std::string, std::map<std::string, std::string>>;

Content ReadAll(const std::string& folder) {
  std::vector<std::string> names;
  EXPECT_TRUE(rocksdb::DB::ListColumnFamilies({}, folder, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  EXPECT_TRUE(rocksdb::DB::OpenForReadOnly({}, folder, families, &handles, &opened).ok());
  const std::unique_ptr<rocksdb::DB> db(opened);
  Content content;
  for (std::size_t k = 0; k < handles.size(); ++k) {
    std::map<std::string, std::string>& family = content[names[k]];
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}, handles[k]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) family[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok());
  }
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  return content;
}

class StoredDataTest : public ::testing::Test {
 protected:
  StoredDataTest() {
    const std::string unpack = "tar -xzf " PACKTRAIN_TEST_DATA "/stored/store.tar.gz -C " + folder_.PathOf("");
    EXPECT_EQ(std::system(unpack.c_str()), 0);
  }

  std::string graphs() const { return folder_.PathOf("data/graphs"); }
  std::string runs() const { return folder_.PathOf("data/runs"); }

  const TempFolder folder_;
};

TEST_F(StoredDataTest, OpeningAStoreOfGraphsChangesNothingInIt) {
  const std::string database = storage::RocksGraphStore::DatabaseFolder(graphs()).string();
  const Content before = ReadAll(database);
  {
    const auto store = storage::RocksGraphStore::Open(graphs(), {});
    ASSERT_THAT(store, IsOk());
    const auto datasets = (*store)->List();
    ASSERT_THAT(datasets.status(), IsOk());
    EXPECT_EQ(datasets->size(), 2u);
    for (const v1::Dataset& dataset : *datasets) EXPECT_THAT((*store)->Open(dataset.name()), IsOk());
  }
  const Content after = ReadAll(database);
  EXPECT_EQ(after, before);
  EXPECT_THAT(after, UnorderedElementsAre(Key("default"), Key("meta"), Key("graphs"), Key("sizes")));
  EXPECT_EQ(after.at("meta").at("format"), "1");
  EXPECT_THAT(after.at("graphs"), SizeIs(Gt(0)));
}

TEST_F(StoredDataTest, OpeningAStoreOfRunsChangesNothingInIt) {
  const Content before = ReadAll(runs());
  {
    const auto store = runs::RocksRunStore::Open(runs(), {});
    ASSERT_THAT(store, IsOk());
    EXPECT_EQ((*store)->List()->size(), 2u);
  }
  const Content after = ReadAll(runs());
  EXPECT_EQ(after, before);
  EXPECT_THAT(after, UnorderedElementsAre(Key("default"), Key("runs"), Key("steps"), Key("samples")));
  EXPECT_EQ(after.at("default").at("format"), "1");
  EXPECT_THAT(after.at("steps"), SizeIs(Gt(0)));
}

}  // namespace
}  // namespace packtrain::rocks
