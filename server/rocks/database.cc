#include "server/rocks/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/mutex.h"
#include "proto/base/status_macros.h"
#include "server/log/event_log.h"
#include "server/rocks/folder_lock.h"
#include "server/rocks/guarded_env.h"
#include "server/rocks/instance.h"
#include "server/rocks/prefetch.h"
#include "server/rocks/rocks_status.h"

namespace packtrain::rocks {
namespace {

// How many values one read pins at a time.
constexpr std::size_t kMultiGetKeys = 128;

bool Exists(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / "CURRENT", error);
}

}  // namespace

struct Database::State {
  State(const std::filesystem::path& folder, const DatabaseLayout& layout, const DatabaseOptions& from)
      : options{folder, layout, from.env, rocksdb::NewLRUCache(layout.block_cache_bytes),
                from.statistics ? NewStatistics() : nullptr},
        staging_env(from.env),
        reserve(folder, from.reserve_bytes) {}

  std::shared_ptr<Instance> Current() const {
    const base::MutexLock lock(mutex);
    return current;
  }
  void Use(std::shared_ptr<Instance> instance) {
    const base::MutexLock lock(mutex);
    std::swap(current, instance);  // the former one goes without the lock, or with its last reader
  }

  // Opens it for the first time.
  absl::Status Begin() {
    absl::StatusOr<std::shared_ptr<Instance>> opened = Instance::Open(options, Access::kWriting);
    if (absl::IsResourceExhausted(opened.status()) && Exists(options.folder)) {
      const absl::string_view why = opened.status().message();
      log::Log(log::Level::kWarn, "store_opened_for_reading",
               {{"store", options.folder.string()}, {"message", std::string_view(why.data(), why.size())}});
      opened = Instance::Open(options, Access::kReading);
    }
    ABSL_RETURN_IF_ERROR(opened.status());
    Use(*std::move(opened));
    return absl::OkStatus();
  }

  // Makes `change` unless RocksDB does not take it; nullopt then.
  std::optional<rocksdb::Status> Try(ChangeSink change) {
    const std::shared_lock lock(changing);
    const std::shared_ptr<Instance> instance = Current();
    if (!instance->takes_writes()) return std::nullopt;
    return change(*instance);
  }

  // Opens RocksDB again where it takes no writes. A change that frees space does not ask whether there is some.
  absl::Status Renew(bool frees) {
    const std::unique_lock lock(changing);
    const std::shared_ptr<Instance> stopped = Current();
    if (stopped->takes_writes()) return absl::OkStatus();  // another thread was here first
    if (!frees) {
      ABSL_RETURN_IF_ERROR(reserve.Require(0));
    }
    if (checks > 0) return absl::UnavailableError("the files of the store are being checked; try again");
    stopped->Retire();
    absl::StatusOr<std::shared_ptr<Instance>> opened = Instance::Open(options, Access::kWriting);
    ABSL_RETURN_IF_ERROR(opened.status());
    Use(*std::move(opened));
    log::Log(log::Level::kWarn, "store_opened_again", {{"store", options.folder.string()}});
    return absl::OkStatus();
  }

  rocksdb::Status Flush(Instance& instance, const std::vector<Change>& changes) const {
    std::vector<rocksdb::ColumnFamilyHandle*> flushed;
    for (const Change& change : changes) {
      rocksdb::ColumnFamilyHandle* const family = instance.handle(change.family);
      if (std::ranges::find(flushed, family) == flushed.end()) flushed.push_back(family);
    }
    return instance.db().Flush(rocksdb::FlushOptions(), flushed);
  }

  const InstanceOptions options;
  const GuardedEnv staging_env;
  bool for_check = false;
  DiskReserve reserve;
  std::unique_ptr<FolderLock> folder_lock;  // null: for a check
  std::atomic<int> checks = 0;              // LiveFiles that are alive
  // Shared by changes; held alone while RocksDB is opened again.
  std::shared_mutex changing;
  mutable base::Mutex mutex;
  std::shared_ptr<Instance> current ABSL_GUARDED_BY(mutex);
};

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::~Database() = default;

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& folder,
                                                         const DatabaseLayout& layout,
                                                         const DatabaseOptions& options) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(folder, error);
  if (error) return absl::FailedPreconditionError(absl::StrCat(folder.string(), ": ", error.message()));
  auto state = std::make_unique<State>(path, layout, options);
  ABSL_ASSIGN_OR_RETURN(state->folder_lock, FolderLock::Take(path));
  ABSL_RETURN_IF_ERROR(state->Begin());
  state->reserve.Keep();
  return std::unique_ptr<Database>(new Database(std::move(state)));
}

absl::StatusOr<std::unique_ptr<Database>> Database::OpenForCheck(const std::filesystem::path& folder,
                                                                 const DatabaseLayout& layout) {
  auto state = std::make_unique<State>(folder, layout, DatabaseOptions());
  state->for_check = true;
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<Instance> instance, Instance::Open(state->options, Access::kCheck));
  state->Use(std::move(instance));
  return std::unique_ptr<Database>(new Database(std::move(state)));
}

absl::Status Database::Make(bool frees, std::string_view doing, ChangeSink change) {
  if (state_->for_check) {
    return absl::UnavailableError(absl::StrCat(std::string(doing), ": it is open for a check"));
  }
  ABSL_RETURN_IF_ERROR(state_->folder_lock->Keep());
  if (frees) MakeRoom();
  std::optional<rocksdb::Status> made = state_->Try(change);
  // The failure that stops RocksDB says so in no status: the change that meets it is made again like any other.
  if (!made || (!made->ok() && !state_->Current()->takes_writes())) {
    if (frees) MakeMoreRoom();
    absl::Status renewed = state_->Renew(frees);
    if (!renewed.ok()) return made ? ToStatus(*made, doing) : renewed;
    made = state_->Try(change);
  }
  if (!made) return absl::UnavailableError(absl::StrCat(std::string(doing), ": the disk has failed again"));
  if (made->ok()) state_->reserve.Keep();
  return ToStatus(*made, doing);
}

absl::StatusOr<std::optional<std::string>> Database::Get(FamilyId family, std::string_view key) const {
  std::string value;
  const std::shared_ptr<Instance> instance = state_->Current();
  const rocksdb::Status status =
      instance->db().Get(rocksdb::ReadOptions(), instance->handle(family), key, &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return ToStatus(status, state_->options.layout.reading);
  return std::optional<std::string>(std::move(value));
}

absl::Status Database::MultiGet(FamilyId family, std::span<const std::string_view> keys, ValueSink sink) const {
  const std::shared_ptr<Instance> instance = state_->Current();  // outlives the values, which are pinned in it
  std::array<rocksdb::Slice, kMultiGetKeys> slices;
  std::array<rocksdb::PinnableSlice, kMultiGetKeys> values;
  std::array<rocksdb::Status, kMultiGetKeys> statuses;
  for (std::size_t begin = 0; begin < keys.size(); begin += kMultiGetKeys) {
    const std::size_t count = std::min(kMultiGetKeys, keys.size() - begin);
    for (std::size_t k = 0; k < count; ++k) slices[k] = keys[begin + k];
    instance->db().MultiGet(rocksdb::ReadOptions(), instance->handle(family), count, slices.data(),
                            values.data(), statuses.data(), /*sorted_input=*/true);
    // Of a value RocksDB has seen no more than the key before it.
    const auto prefetch = [&](std::size_t k) {
      Prefetch(std::as_bytes(std::span(values[std::min(k, count - 1)].ToStringView())));
    };
    for (std::size_t k = 0; k < kValuesAhead; ++k) prefetch(k);
    for (std::size_t k = 0; k < count; ++k) {
      prefetch(k + kValuesAhead);
      absl::StatusOr<std::string_view> value = values[k].ToStringView();
      if (!statuses[k].ok()) value = ToStatus(statuses[k], state_->options.layout.reading);
      ABSL_RETURN_IF_ERROR(sink(begin + k, value));
      values[k].Reset();
    }
  }
  return absl::OkStatus();
}

absl::Status Database::Scan(FamilyId family, std::string_view prefix, Visitor visit) const {
  rocksdb::ReadOptions options;
  options.fill_cache = !state_->options.layout.families[family.index()].scanned_once;
  const std::shared_ptr<Instance> instance = state_->Current();  // which the iterator must not outlive
  const std::unique_ptr<rocksdb::Iterator> it(instance->db().NewIterator(options, instance->handle(family)));
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    ABSL_RETURN_IF_ERROR(visit(it->key().ToStringView(), it->value().ToStringView()));
  }
  return ToStatus(it->status(), state_->options.layout.scanning);
}

absl::Status Database::SkipScan(FamilyId family, std::string_view prefix, NextKey next) const {
  const std::shared_ptr<Instance> instance = state_->Current();  // which the iterator must not outlive
  const std::unique_ptr<rocksdb::Iterator> it(
      instance->db().NewIterator(rocksdb::ReadOptions(), instance->handle(family)));
  it->Seek(prefix);
  while (it->Valid() && it->key().starts_with(prefix)) {
    ABSL_ASSIGN_OR_RETURN(const std::optional<std::string> sought, next(it->key().ToStringView()));
    if (!sought) break;
    it->Seek(*sought);
  }
  return ToStatus(it->status(), state_->options.layout.scanning);
}

absl::Status Database::Write(const std::vector<Change>& changes, Durability durability) {
  bool removes = false;
  std::uint64_t bytes = 0;
  for (const Change& change : changes) {
    removes = removes || !change.value;
    bytes += change.key.size() + (change.value ? change.value->size() : 0);
  }
  if (!removes) {
    ABSL_RETURN_IF_ERROR(state_->reserve.Require(bytes));
  }
  return Make(removes, state_->options.layout.writing, [&](Instance& instance) {
    rocksdb::WriteBatch batch;
    for (const Change& change : changes) {
      rocksdb::ColumnFamilyHandle* const family = instance.handle(change.family);
      rocksdb::Status added =
          change.value ? batch.Put(family, change.key, *change.value) : batch.Delete(family, change.key);
      if (!added.ok()) return added;
    }
    rocksdb::WriteOptions options;
    options.sync = durability != Durability::kProcess;
    rocksdb::Status status = instance.db().Write(options, &batch);
    // A failed flush takes nothing back: the log holds the changes, synced.
    if (status.ok() && durability == Durability::kFile) state_->Flush(instance, changes).PermitUncheckedError();
    return status;
  });
}

void Database::MakeRoom() { state_->reserve.Lend(); }
void Database::MakeMoreRoom() { state_->reserve.LendAnother(); }

absl::Status Database::DropRange(FamilyId family, std::string_view begin, std::string_view end) {
  const rocksdb::Slice from = begin, to = end;
  const rocksdb::RangePtr range(&from, &to);
  return Make(/*frees=*/true, state_->options.layout.dropping, [&](Instance& instance) {
    rocksdb::ColumnFamilyHandle* const handle = instance.handle(family);
    rocksdb::DB& db = instance.db();
    // Whole files at once, which is all there is as a rule. The tombstone is for what a file might share, and
    // the compaction for files of the first level, which DeleteFilesInRanges leaves alone.
    rocksdb::Status status = rocksdb::DeleteFilesInRanges(&db, handle, &range, 1, false);
    if (status.ok()) status = db.DeleteRange(rocksdb::WriteOptions(), handle, from, to);
    if (status.ok()) status = db.CompactRange(rocksdb::CompactRangeOptions(), handle, &from, &to);
    return status;
  });
}

std::uint64_t Database::memory_bytes() const {
  std::uint64_t memtables = 0;
  state_->Current()->db().GetAggregatedIntProperty(rocksdb::DB::Properties::kSizeAllMemTables, &memtables);
  return state_->options.cache->GetUsage() + memtables;
}

DatabaseStatistics Database::statistics() const {
  return ReadStatistics(state_->Current()->db(), state_->options.statistics.get());
}

std::unique_ptr<LiveFiles> Database::live_files() const {
  const std::shared_lock lock(state_->changing);
  return std::make_unique<LiveFiles>(state_->Current(), state_->checks);
}

std::vector<StoredFile> Database::sorted_files() const { return SortedFilesOf(state_->Current()->db()); }

const DiskReserve& Database::reserve() const { return state_->reserve; }

rocksdb::Env* Database::env() const { return state_->staging_env.env(); }

std::shared_ptr<Instance> Database::instance() const { return state_->Current(); }

}  // namespace packtrain::rocks
