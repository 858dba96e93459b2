// The process's one budget of memory, in bytes, divided among named parts.
//
//   const auto budget = MemoryBudget::Create(512 << 20, shares);
//   ABSL_ASSIGN_OR_RETURN(MemoryBudget::Reservation memory,
//                         budget->Reserve(MemoryPart::kReports, bytes, MemoryBudget::StatedWait()));
//   ...  // allocate; the bytes are given back when `memory` goes
#ifndef PACKTRAIN_SERVER_LIMITS_MEMORY_BUDGET_H_
#define PACKTRAIN_SERVER_LIMITS_MEMORY_BUDGET_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/mutex.h"

namespace packtrain::limits {

// What memory is used for.
enum class MemoryPart {
  kProcess,           // the program itself, its threads and what the allocator keeps; fixed
  kTransport,         // what gRPC holds of calls before the program sees them; fixed
  kStoreCache,        // blocks of the stores; fixed
  kMemtables,         // what the stores have not written to files yet; fixed
  kResidentDatasets,  // records of whole data sets
  kSizes,             // of the graphs of open data sets
  kPlans,             // of epochs
  kStreams,           // batches that are built or sent
  kPlannedBatches,    // batches of which a client asks for the checksum
  kReports,           // what trainers report, and all other small requests
  kImports,           // blocks that are read, and what is kept until the seal
  kListings,          // steps for summaries, listings and comparisons, and pages of lists
};
inline constexpr std::size_t kMemoryParts = 12;

// As `packtrain server info` shows it, such as "planned_batches".
std::string_view NameOf(MemoryPart part);

// How long a call waits for memory before it is refused.
inline constexpr std::chrono::seconds kMemoryWait{10};

// Any number of threads may use it. It is shared with its reservations, which may outlive the server by a
// moment, because gRPC frees what it has sent when it likes.
//
// A part may use its `max_bytes`. The first `guaranteed_bytes` of each are its own; what lies beyond comes out
// of what all parts share, first come, first served: a request that waits for it lets no later one pass, but
// for those that stay inside what is their part's own.
class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  using Clock = std::chrono::steady_clock;

  struct Share {
    std::uint64_t max_bytes = 0;
    std::uint64_t guaranteed_bytes = 0;
  };
  // By part.
  using Shares = std::array<Share, kMemoryParts>;

  // Guaranteed bytes add up to `cap_bytes` at most; where they do not, all shares are cut in proportion.
  static std::shared_ptr<MemoryBudget> Create(std::uint64_t cap_bytes, Shares shares);
  // All of `cap_bytes` for whoever asks first.
  static std::shared_ptr<MemoryBudget> Undivided(std::uint64_t cap_bytes);
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // When a wait ends: at `deadline`, or soon after `wanted` returns false. The waiting thread calls `wanted`
  // every 20 ms; null: always true. A call that holds `held` bytes of the same part already waits in vain
  // where the part may never have both.
  struct Wait {
    // NOLINTNEXTLINE(google-explicit-constructor)
    Wait(Clock::time_point until, std::function<bool()> still_wanted = nullptr, std::uint64_t held_bytes = 0)
        : deadline(until), wanted(std::move(still_wanted)), held(held_bytes) {}

    Clock::time_point deadline;
    std::function<bool()> wanted;
    std::uint64_t held;
  };

  // Bytes of a part that are taken for as long as this lives. Movable; an empty one has none.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept
        : budget_(std::move(other.budget_)), part_(other.part_), bytes_(std::exchange(other.bytes_, 0)) {}
    Reservation& operator=(Reservation&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(part_, other.part_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Reservation();

    std::uint64_t bytes() const { return bytes_; }
    // Gives back what is above `bytes`.
    void ShrinkTo(std::uint64_t bytes);
    // Takes what is missing up to `bytes`, or gives back what is above it. Codes as Reserve; a failure changes
    // nothing. Not of an empty one.
    absl::Status Resize(std::uint64_t bytes, const Wait& wait);

   private:
    friend class MemoryBudget;
    Reservation(std::shared_ptr<MemoryBudget> budget, MemoryPart part, std::uint64_t bytes)
        : budget_(std::move(budget)), part_(part), bytes_(bytes) {}

    std::shared_ptr<MemoryBudget> budget_;
    MemoryPart part_ = MemoryPart::kProcess;
    std::uint64_t bytes_ = 0;
  };

  // The deadline of a call that begins to wait now.
  static Clock::time_point StatedWait() { return Clock::now() + kMemoryWait; }

  // Waits its turn. RESOURCE_EXHAUSTED: the deadline has passed (the status says when to come again), or the
  // part may never have so much. CANCELLED: nobody wants it any more. UNAVAILABLE: after EndWaiting.
  absl::StatusOr<Reservation> Reserve(MemoryPart part, std::uint64_t bytes, const Wait& wait);
  // Never waits, and passes nobody who does.
  std::optional<Reservation> TryReserve(MemoryPart part, std::uint64_t bytes);
  // As Reserve, for threads that must not block: `done` is called once, at once or by whoever gives memory back
  // or cancels the request, or a thread of the budget's, and must not block. The result names the request.
  using Done = std::function<void(absl::StatusOr<Reservation>)>;
  using RequestId = std::uint64_t;
  RequestId ReserveLater(MemoryPart part, std::uint64_t bytes, Clock::time_point deadline, Done done);
  // Takes a request that waits out of the queue; `done` gets CANCELLED. Nothing where it waits no more.
  void Cancel(RequestId request);

  // A cache that uses a part. `give_way` frees what it can spare, until about so many bytes are free; it is
  // called before anybody waits and again and again while somebody does, where that part is what is full or the
  // budget as a whole is, and must not reserve. It may be called, by any thread, for as long as the result
  // lives.
  using GiveWay = std::function<void(std::uint64_t bytes)>;
  class Cache {
   public:
    Cache(MemoryBudget& budget, MemoryPart part, GiveWay give_way);
    ~Cache();
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;

   private:
    friend class MemoryBudget;
    const std::shared_ptr<MemoryBudget> budget_;
    const MemoryPart part_;
    const GiveWay give_way_;
  };

  // Nobody waits any more.
  void EndWaiting();

  struct PartUse {
    std::string_view name;
    std::uint64_t max_bytes = 0;
    std::uint64_t used_bytes = 0;
  };
  std::uint64_t cap_bytes() const { return cap_bytes_; }
  std::uint64_t max_bytes(MemoryPart part) const { return shares_[Index(part)].max_bytes; }
  std::uint64_t used_bytes() const;
  std::uint64_t used_bytes(MemoryPart part) const;
  // The largest use so far.
  std::uint64_t peak_bytes() const;
  std::vector<PartUse> parts() const;
  // Requests that wait.
  std::size_t waiting() const;

 private:
  struct Waiter {
    RequestId id;
    MemoryPart part;
    std::uint64_t bytes;
    Clock::time_point deadline;
    Done done;
  };
  using Waiters = std::list<Waiter>;
  // To be called without the lock.
  using Calls = std::vector<std::pair<Done, absl::StatusOr<Reservation>>>;

  MemoryBudget(std::uint64_t cap_bytes, const Shares& shares);

  static constexpr std::size_t Index(MemoryPart part) { return static_cast<std::size_t>(part); }
  static void Run(Calls calls);

  bool FitsPart(MemoryPart part, std::uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FitsBudget(MemoryPart part, std::uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsGuaranteed(MemoryPart part, std::uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether a request that comes now may be granted without passing those who wait.
  bool MayTake(MemoryPart part, std::uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Reservation Take(MemoryPart part, std::uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<Reservation> TryTake(MemoryPart part, std::uint64_t bytes);
  void Release(MemoryPart part, std::uint64_t bytes);
  // Grants those whose turn it is.
  Calls Grant() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a waiter out, who gets `status`; those behind it may be next.
  Calls Withdraw(Waiters::iterator waiter, absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AskCaches(MemoryPart part, std::uint64_t bytes);
  absl::Status NeverFits(MemoryPart part, std::uint64_t bytes) const;
  absl::Status Refusal(MemoryPart part, std::uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What the first waiter of each part waits for.
  using Needs = std::vector<std::pair<MemoryPart, std::uint64_t>>;
  Needs FirstOfEachPart() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Until EndWaiting: refuses those whose deadline has passed, and asks caches on behalf of the others.
  void ServeWaiters();
  // Waits for something to do; false after EndWaiting.
  bool AwaitWork(Calls& late, Needs& needs);

  const std::uint64_t cap_bytes_;
  const Shares shares_;

  base::CondVar changed_;
  mutable base::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::array<std::uint64_t, kMemoryParts> used_ ABSL_GUARDED_BY(mutex_) = {};
  std::uint64_t total_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t peak_ ABSL_GUARDED_BY(mutex_) = 0;
  Waiters waiters_ ABSL_GUARDED_BY(mutex_);  // in the order in which they came
  RequestId last_request_ ABSL_GUARDED_BY(mutex_) = 0;

  base::Mutex caches_mutex_;
  std::set<Cache*> caches_ ABSL_GUARDED_BY(caches_mutex_);

  // Used by queue_thread_ alone: the budget went with a call that this thread made.
  const std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);
  std::thread queue_thread_;  // runs ServeWaiters
};

}  // namespace packtrain::limits

#endif  // PACKTRAIN_SERVER_LIMITS_MEMORY_BUDGET_H_
