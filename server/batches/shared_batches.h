// Builds once what several streams send.
//
// Each stream has a reader of its plan, and says how a batch is built that no other stream has:
//
//   SharedBatches shared(kMaxSharedBytes, *memory);
//   SharedBatches::Reader reader(shared, plan_key);
//   const auto build = [&] { return Build(index); };
//   ABSL_ASSIGN_OR_RETURN(const BuiltBatch batch, reader.Get(epoch, index, quick, build));
#ifndef PACKTRAIN_SERVER_BATCHES_SHARED_BATCHES_H_
#define PACKTRAIN_SERVER_BATCHES_SHARED_BATCHES_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "proto/base/mutex.h"
#include "server/batches/batch_builder.h"
#include "server/limits/memory_budget.h"

namespace packtrain::batches {

// Limit of the bodies that are kept for streams a little behind, beside those that are being sent.
inline constexpr std::uint64_t kMaxSharedBytes = 32 << 20;

// Batches are pure, so streams of one plan that are at about the same place send the same body. Nothing is kept
// of a plan that has one reader, and what is kept gives way when `memory` is needed elsewhere. Any number of
// threads may use it.
class SharedBatches {
 public:
  using Build = absl::FunctionRef<absl::StatusOr<BuiltBatch>()>;

  SharedBatches(std::uint64_t max_kept_bytes, limits::MemoryBudget& memory);
  SharedBatches(const SharedBatches&) = delete;
  SharedBatches& operator=(const SharedBatches&) = delete;

  // One stream's access to one plan; readers of equal `plan` get equal batches at equal positions. `batches`
  // outlives it.
  class Reader {
   public:
    Reader(SharedBatches& batches, std::string plan);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Batch `index` of `epoch`: the one that is still alive, or else the one that `build` returns. Waits while
    // another reader builds it; a `quick` call waits for a quick build only, so that it never waits for a disk.
    absl::StatusOr<BuiltBatch> Get(std::uint64_t epoch, std::uint64_t index, bool quick, Build build) const;

   private:
    SharedBatches& batches_;
    const std::string plan_;
  };

  // Bytes of the bodies that are kept.
  std::uint64_t kept_bytes() const;

 private:
  using Key = std::tuple<std::string, std::uint64_t, std::uint64_t>;  // plan, epoch, index
  struct Slot {
    explicit Slot(bool is_quick) : quick(is_quick) {}
    const bool quick;
    bool built = false;  // or failed to
    wire::BatchHeader header;
    std::weak_ptr<const std::byte> body;
  };
  struct Entry {
    Key key;
    std::shared_ptr<Slot> slot;
  };
  struct Kept {
    std::string plan;
    std::uint64_t bytes = 0;
    std::shared_ptr<const std::byte> body;
  };

  static absl::StatusOr<BuiltBatch> BatchOf(const Slot& slot);
  // The slot to build into; null where the caller keeps its batch to itself.
  std::shared_ptr<Slot> Claim(const Key& key, bool quick) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Publish(const Key& key, Slot& slot, const absl::StatusOr<BuiltBatch>& batch);
  void Keep(const Key& key, const BuiltBatch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Frees bodies that are not being sent, the oldest first, until `bytes` are free.
  void GiveWay(std::uint64_t bytes);
  // Forgets slots whose bodies are gone, oldest first, and the oldest where there are too many.
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enter(const std::string& plan);
  void Leave(const std::string& plan);

  const std::uint64_t max_kept_bytes_;

  base::CondVar built_;
  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, std::uint32_t> readers_ ABSL_GUARDED_BY(mutex_);  // by plan
  absl::flat_hash_map<Key, std::shared_ptr<Slot>> slots_ ABSL_GUARDED_BY(mutex_);
  std::deque<Entry> order_ ABSL_GUARDED_BY(mutex_);  // of slots, oldest first
  std::deque<Kept> kept_ ABSL_GUARDED_BY(mutex_);    // oldest first
  std::uint64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;

  const limits::MemoryBudget::Cache cache_;
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_SHARED_BATCHES_H_
