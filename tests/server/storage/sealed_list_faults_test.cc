// Seals and deletions that fail, or are killed, at each of their operations: nothing looks lost that is not,
// and what is lost stays known until it is deleted.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/faulty_disk.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

namespace fs = std::filesystem;

using ::packtrain::testing::Duration;
using ::packtrain::testing::Fault;
using ::packtrain::testing::FaultyDisk;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kPatienceMs = 30'000;

std::string Seal(RocksGraphStore& store, const char* name, std::uint32_t graphs) {
  return Import(store, ManyMolecules(graphs), SealAs(name))->dataset.version();
}

std::string ListIn(const fs::path& folder) {
  std::ifstream file(SealedList::FileIn(folder));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> VersionsOf(const std::vector<v1::Dataset>& datasets) {
  std::vector<std::string> versions;
  for (const v1::Dataset& dataset : datasets) versions.push_back(dataset.version());
  return versions;
}

using Files = std::map<fs::path, std::pair<std::uintmax_t, fs::file_time_type>>;

// Size and time of the last change of each file below `folder` by its relative path, but for RocksDB's logs and
// options, which no start reads and which a store that waits for its disk writes again and again. Nothing where
// a file was removed meanwhile.
std::optional<Files> FilesIn(const fs::path& folder) {
  Files files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("LOG") || name.starts_with("OPTIONS") || !entry.is_regular_file(error)) continue;
    files[entry.path().lexically_relative(folder)] = {entry.file_size(error), entry.last_write_time(error)};
    if (error) return std::nullopt;
  }
  return files;
}

bool CopyFiles(const fs::path& from, const fs::path& to, const Files& files) {
  fs::remove_all(to);
  for (const auto& [path, state] : files) {
    fs::create_directories((to / path).parent_path());
    std::error_code error;
    if (!fs::copy_file(from / path, to / path, error)) return false;
  }
  return true;
}

// Copies the folder of an open store as it is at one moment: RocksDB removes files in the background, and a
// copy during which any file changed is made again.
void CopyAtOneMoment(const fs::path& from, const fs::path& to) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (std::chrono::steady_clock::now() < deadline) {
    const std::optional<Files> before = FilesIn(from);
    if (before && CopyFiles(from, to, *before) && before == FilesIn(from)) return;
  }
  FAIL() << from << " does not come to rest";
}

// A store that holds "other", one version of "a", and has lost a later one of it.
class StoreWithALoss {
 public:
  explicit StoreWithALoss(rocksdb::Env* env = nullptr)
      : options_{.database = {.reserve_bytes = 0, .env = env}} {
    fs::copy(Template().folder.path(), folder_.path(), fs::copy_options::recursive);
    Open();
  }

  void Open() {
    store_.reset();
    store_ = RocksGraphStore::Open(folder_.path(), options_).value();
  }

  static const std::string& kept() { return Template().kept; }
  static const std::string& lost() { return Template().lost; }

  fs::path path() const { return folder_.path(); }
  fs::path new_list() const { return SealedList::FileIn(path()).string() + ".new"; }
  // No list can be written until this is undone.
  void RefuseLists() { fs::create_directory(new_list()); }
  void TakeLists() { fs::remove(new_list()); }

  RocksGraphStore& operator*() { return *store_; }
  RocksGraphStore* operator->() { return store_.get(); }

  // What a start finds if the process is killed now.
  struct Start {
    std::vector<std::string> lost;
    absl::StatusCode kept;
    absl::StatusCode other;
  };
  Start StartAfterAKill() const {
    const TemporaryFolder copy;
    CopyAtOneMoment(folder_.path(), copy.path());
    const auto store = RocksGraphStore::Open(copy.path(), {}).value();
    return {VersionsOf(store->Lost("")), store->Versions("a@" + kept()).status().code(),
            store->Versions("other").status().code()};
  }

 private:
  struct Prepared {
    TemporaryFolder folder;
    std::string kept, lost;
  };
  static const Prepared& Template() {
    static const Prepared& prepared = *[] {
      auto* made = new Prepared;
      const fs::path database = RocksGraphStore::DatabaseFolder(made->folder.path());
      const TemporaryFolder before;
      const auto open = [made] { return RocksGraphStore::Open(made->folder.path(), {}).value(); };
      auto store = open();
      Seal(*store, "other", 7);
      made->kept = Seal(*store, "a", 5);
      store.reset();
      fs::copy(database, before.path(), fs::copy_options::recursive);
      store = open();
      made->lost = Seal(*store, "a", 6);
      store.reset();
      fs::remove_all(database);
      fs::copy(before.path(), database, fs::copy_options::recursive);
      return made;
    }();
    return prepared;
  }

  const TemporaryFolder folder_;
  const RocksGraphStoreOptions options_;
  std::unique_ptr<RocksGraphStore> store_;
};

class SealedListFaultsTest : public ::testing::TestWithParam<packtrain::testing::FaultCase> {
 protected:
  // Calls `step` with operation n of the database failing, for n = 0, 1, ... until none is left to fail.
  template <typename Step>
  static void ForEveryOperation(Step step) {
    for (std::uint64_t n = 0;; ++n) {
      FaultyDisk disk;
      StoreWithALoss store(disk.env());
      disk.Fail(n, GetParam().fault, GetParam().duration);
      SCOPED_TRACE("operation " + std::to_string(n));
      step(store, disk);
      if (disk.Failed().empty() || HasFailure()) return;
    }
  }
};

TEST_P(SealedListFaultsTest, ADeletionThatFailsOrIsKilledForgetsNoLossAndMakesNone) {
  ForEveryOperation([](StoreWithALoss& store, FaultyDisk& disk) {
    const bool deleted = store->Delete("a").ok();
    const StoreWithALoss::Start start = store.StartAfterAKill();
    EXPECT_EQ(start.other, absl::StatusCode::kOk);
    if (deleted) {
      EXPECT_THAT(start.lost, IsEmpty());
      EXPECT_EQ(start.kept, absl::StatusCode::kNotFound);
    } else {
      EXPECT_THAT(start.lost, ElementsAre(store.lost()));
      EXPECT_THAT(start.kept, AnyOf(absl::StatusCode::kOk, absl::StatusCode::kNotFound));
      EXPECT_THAT(VersionsOf(store->Lost("a")), ElementsAre(store.lost()));
    }
    disk.Heal();
    if (!deleted) {
      EXPECT_THAT(store->Delete("a"), IsOk());
    }
    EXPECT_THAT(store->Lost(""), IsEmpty());
    store.Open();
    EXPECT_THAT(store->Lost(""), IsEmpty());
    EXPECT_THAT(store->Versions("a").status().code(), absl::StatusCode::kNotFound);
  });
}

TEST_P(SealedListFaultsTest, ASealThatFailsOrIsKilledNeverLooksLikeALoss) {
  ForEveryOperation([](StoreWithALoss& store, FaultyDisk& disk) {
    const auto writer = store->NewDataset(testing::MoleculeSchema());
    ASSERT_THAT(writer, IsOk());
    bool staged = true;
    for (const testing::Molecule& molecule : ManyMolecules(4)) {
      const std::string record = testing::RecordOf(molecule);
      staged = staged && (*writer)->Append(std::as_bytes(std::span(record))).ok();
    }
    const bool sealed = staged && (*writer)->Seal(SealAs("new")).ok();
    const StoreWithALoss::Start start = store.StartAfterAKill();
    EXPECT_THAT(start.lost, ElementsAre(store.lost()));
    EXPECT_EQ(start.kept, absl::StatusCode::kOk);
    EXPECT_EQ(start.other, absl::StatusCode::kOk);
    if (sealed) {
      EXPECT_THAT(ListIn(store.path()), HasSubstr("sealed new "));
    }
    disk.Heal();
    const std::string version = Seal(*store, "later", 3);
    EXPECT_THAT(ListIn(store.path()), HasSubstr("sealed later " + version));
  });
}

INSTANTIATE_TEST_SUITE_P(, SealedListFaultsTest, ::testing::ValuesIn(packtrain::testing::FaultCases()),
                         [](const auto& tried) { return std::string(tried.param.name); });

TEST(SealedListFileTest, WhatADeletionThatFailedHasLeftIsListedAgainByTheNextChange) {
  FaultyDisk disk;
  StoreWithALoss store(disk.env());
  disk.Fail(0, Fault::kNoSpace, Duration::kUntilHealed);
  ASSERT_THAT(store->Delete("other"), Not(IsOk()));
  disk.Heal();
  EXPECT_THAT(ListIn(store.path()), Not(HasSubstr("sealed other")));
  Seal(*store, "later", 3);
  EXPECT_THAT(ListIn(store.path()), HasSubstr("sealed other"));
  ASSERT_THAT(store->Delete("other"), IsOk());
  EXPECT_THAT(ListIn(store.path()), Not(HasSubstr("sealed other")));
}

TEST(SealedListFileTest, ADeletionWhoseListCannotBeWrittenIsNotBegun) {
  StoreWithALoss store;
  store.RefuseLists();
  EXPECT_THAT(store->Delete("a"), Not(IsOk()));
  EXPECT_THAT(store->Versions("a@" + store.kept()), IsOk());
  EXPECT_THAT(VersionsOf(store->Lost("a")), ElementsAre(store.lost()));
  const StoreWithALoss::Start start = store.StartAfterAKill();
  EXPECT_THAT(start.lost, ElementsAre(store.lost()));
  EXPECT_EQ(start.kept, absl::StatusCode::kOk);
  store.TakeLists();
  EXPECT_THAT(store->Delete("a"), IsOk());
}

TEST(SealedListFileTest, AKillBetweenADeletionAndTheListKeepsTheLossAndMakesNone) {
  FaultyDisk disk;
  StoreWithALoss store(disk.env());
  disk.Fail(0, Fault::kNoSpace, Duration::kUntilHealed);
  ASSERT_THAT(store->Delete("a"), Not(IsOk()));
  disk.Heal();
  const TemporaryFolder before;
  fs::copy(SealedList::FileIn(store.path()), before.path());
  ASSERT_THAT(store->Delete("a"), IsOk());
  fs::copy_file(SealedList::FileIn(before.path()), SealedList::FileIn(store.path()),
                fs::copy_options::overwrite_existing);
  store.Open();
  EXPECT_THAT(VersionsOf(store->Lost("")), ElementsAre(store.lost()));
  EXPECT_THAT(store->Versions("a@" + store.kept()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(store->Delete("a"), IsOk());
  EXPECT_THAT(store->Lost(""), IsEmpty());
}

TEST(SealedListFileTest, ALossWhoseDeletionCannotBeListedStaysKnown) {
  StoreWithALoss store;
  const std::string lost = "a@" + store.lost();
  store.RefuseLists();
  EXPECT_THAT(store->Delete(lost), Not(IsOk()));
  EXPECT_THAT(VersionsOf(store->Lost("")), ElementsAre(store.lost()));
  EXPECT_THAT(store.StartAfterAKill().lost, ElementsAre(store.lost()));
  store.TakeLists();
  EXPECT_THAT(store->Delete(lost), IsOk());
  EXPECT_THAT(store->Lost(""), IsEmpty());
  EXPECT_THAT(store.StartAfterAKill().lost, IsEmpty());
}

// A pipe in the place of the list that is being written. It is full, so that the write does not end.
class StuckList {
 public:
  explicit StuckList(const fs::path& path) : watch_(::inotify_init1(IN_CLOEXEC)) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    pipe_ = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const std::string page(4096, 'x');
    while (::write(pipe_, page.data(), page.size()) > 0) ++pages_;
    EXPECT_GE(::inotify_add_watch(watch_, path.c_str(), IN_OPEN), 0);
  }
  ~StuckList() {
    ::close(pipe_);
    ::close(watch_);
  }

  bool AwaitWriter() const {
    pollfd opened = {watch_, POLLIN, 0};
    return ::poll(&opened, 1, kPatienceMs) == 1;
  }
  void LetGo() {
    std::string page(4096, 'x');
    for (; pages_ > 0; --pages_) EXPECT_GT(::read(pipe_, page.data(), page.size()), 0);
  }

 private:
  const int watch_;
  int pipe_ = -1;
  int pages_ = 0;
};

TEST(SealedListFileTest, NobodyWaitsForTheListWhoOnlyReads) {
  StoreWithALoss store;
  StuckList stuck(store.new_list());
  std::thread writer([&] { EXPECT_THAT(store->MakeCurrent("a@" + store.kept()), IsOk()); });
  EXPECT_TRUE(stuck.AwaitWriter());
  std::future<absl::Status> read =
      std::async(std::launch::async, [&] { return store->Open("other").status(); });
  EXPECT_EQ(read.wait_for(std::chrono::milliseconds(kPatienceMs)), std::future_status::ready);
  stuck.LetGo();
  writer.join();
  EXPECT_THAT(read.get(), IsOk());
}

}  // namespace
}  // namespace packtrain::storage
