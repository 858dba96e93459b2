#include "server/limits/memory_budget.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"

namespace packtrain::limits {
namespace {

// How often a waiting thread asks whether its request is still wanted.
constexpr std::chrono::milliseconds kBetweenLooks{20};

// The retry delay of a refused call, which grows with the number of calls that wait.
constexpr std::chrono::milliseconds kRetryDelay{2'000};
constexpr std::chrono::milliseconds kRetryDelayOfAWaiter{100};
constexpr std::chrono::milliseconds kMaxRetryDelay{30'000};

// Between two questions to the caches while somebody waits: what they hold may have grown, or be held by nobody
// else any more.
constexpr std::chrono::milliseconds kAskAgain{50};

std::uint64_t GuaranteedBytes(const MemoryBudget::Shares& shares) {
  std::uint64_t sum = 0;
  for (const MemoryBudget::Share& share : shares) sum += share.guaranteed_bytes;
  return sum;
}

// Guaranteed bytes above the cap are cut, so that one part cannot take what another one was promised; and no
// part may have more than what the others' guarantees leave, so that what can never be had is refused at once.
MemoryBudget::Shares Cut(MemoryBudget::Shares shares, std::uint64_t cap_bytes) {
  const std::uint64_t asked = GuaranteedBytes(shares);
  if (asked > cap_bytes) {
    const double part = static_cast<double>(cap_bytes) / static_cast<double>(asked);
    for (MemoryBudget::Share& share : shares) {
      share.guaranteed_bytes = static_cast<std::uint64_t>(static_cast<double>(share.guaranteed_bytes) * part);
    }
  }
  const std::uint64_t guaranteed = GuaranteedBytes(shares);
  for (MemoryBudget::Share& share : shares) {
    const std::uint64_t reachable = cap_bytes - (guaranteed - share.guaranteed_bytes);
    share.max_bytes = std::min(std::max(share.max_bytes, share.guaranteed_bytes), reachable);
  }
  return shares;
}

absl::Status Ended() {
  return base::WithReason(absl::UnavailableError("the server is shutting down; reconnect"), "SHUTTING_DOWN");
}

}  // namespace

std::string_view NameOf(MemoryPart part) {
  switch (part) {
    case MemoryPart::kProcess:
      return "process";
    case MemoryPart::kTransport:
      return base::kTransportPart;
    case MemoryPart::kStoreCache:
      return "store_cache";
    case MemoryPart::kMemtables:
      return "memtables";
    case MemoryPart::kResidentDatasets:
      return "resident_datasets";
    case MemoryPart::kSizes:
      return "sizes";
    case MemoryPart::kPlans:
      return "plans";
    case MemoryPart::kStreams:
      return "streams";
    case MemoryPart::kPlannedBatches:
      return "planned_batches";
    case MemoryPart::kReports:
      return "reports";
    case MemoryPart::kImports:
      return "imports";
    case MemoryPart::kListings:
      return "listings";
  }
  std::abort();
}

std::shared_ptr<MemoryBudget> MemoryBudget::Create(std::uint64_t cap_bytes, Shares shares) {
  return std::shared_ptr<MemoryBudget>(new MemoryBudget(cap_bytes, Cut(shares, cap_bytes)));
}

std::shared_ptr<MemoryBudget> MemoryBudget::Undivided(std::uint64_t cap_bytes) {
  Shares shares;
  shares.fill({.max_bytes = cap_bytes, .guaranteed_bytes = 0});
  return Create(cap_bytes, shares);
}

MemoryBudget::MemoryBudget(std::uint64_t cap_bytes, const Shares& shares)
    : cap_bytes_(cap_bytes), shares_(shares), queue_thread_([this] { ServeWaiters(); }) {}

MemoryBudget::~MemoryBudget() {
  EndWaiting();
  if (!queue_thread_.joinable()) return;
  // This is that thread: the last reservation was given back by a call that it made.
  *gone_ = true;
  queue_thread_.detach();
}

MemoryBudget::Reservation::~Reservation() {
  if (budget_ != nullptr) budget_->Release(part_, bytes_);
}

void MemoryBudget::Reservation::ShrinkTo(std::uint64_t bytes) {
  if (budget_ == nullptr || bytes >= bytes_) return;
  budget_->Release(part_, bytes_ - bytes);
  bytes_ = bytes;
}

absl::Status MemoryBudget::Reservation::Resize(std::uint64_t bytes, const Wait& wait) {
  ShrinkTo(bytes);
  if (bytes <= bytes_) return absl::OkStatus();
  if (bytes + wait.held > budget_->max_bytes(part_)) return budget_->NeverFits(part_, bytes + wait.held);
  absl::StatusOr<Reservation> more = budget_->Reserve(part_, bytes - bytes_, wait);
  if (!more.ok()) return more.status();
  bytes_ += std::exchange(more->bytes_, 0);
  return absl::OkStatus();
}

absl::StatusOr<MemoryBudget::Reservation> MemoryBudget::Reserve(MemoryPart part, std::uint64_t bytes,
                                                                const Wait& wait) {
  if (std::optional<Reservation> taken = TryTake(part, bytes)) return *std::move(taken);
  if (bytes + wait.held > max_bytes(part)) return NeverFits(part, bytes + wait.held);
  // Shared, because set_value may still be returning when the result is here.
  const auto result = std::make_shared<std::promise<absl::StatusOr<Reservation>>>();
  std::future<absl::StatusOr<Reservation>> reserved = result->get_future();
  const RequestId request =
      ReserveLater(part, bytes, wait.deadline,
                   [result](absl::StatusOr<Reservation> answer) { result->set_value(std::move(answer)); });
  while (wait.wanted && reserved.wait_for(kBetweenLooks) == std::future_status::timeout) {
    if (!wait.wanted()) Cancel(request);
  }
  return reserved.get();
}

std::optional<MemoryBudget::Reservation> MemoryBudget::TryReserve(MemoryPart part, std::uint64_t bytes) {
  if (std::optional<Reservation> taken = TryTake(part, bytes)) return taken;
  AskCaches(part, bytes);
  return TryTake(part, bytes);
}

MemoryBudget::RequestId MemoryBudget::ReserveLater(MemoryPart part, std::uint64_t bytes,
                                                   Clock::time_point deadline, Done done) {
  RequestId request = 0;
  Calls calls;
  if (bytes > max_bytes(part)) {
    calls.emplace_back(std::move(done), NeverFits(part, bytes));
  } else if (std::optional<Reservation> taken = TryReserve(part, bytes)) {
    calls.emplace_back(std::move(done), *std::move(taken));
  } else {
    base::MutexLock lock(mutex_);
    request = ++last_request_;
    if (ended_) {
      calls.emplace_back(std::move(done), Ended());
    } else {
      waiters_.push_back({request, part, bytes, deadline, std::move(done)});
      calls = Grant();  // what was given back meanwhile
      changed_.NotifyAll();
    }
  }
  Run(std::move(calls));
  return request;
}

void MemoryBudget::Cancel(RequestId request) {
  Calls calls;
  {
    base::MutexLock lock(mutex_);
    const auto waiter = std::ranges::find(waiters_, request, &Waiter::id);
    if (waiter == waiters_.end()) return;
    calls = Withdraw(waiter, absl::CancelledError("nobody waits for this memory any more"));
  }
  Run(std::move(calls));
}

MemoryBudget::Cache::Cache(MemoryBudget& budget, MemoryPart part, GiveWay give_way)
    : budget_(budget.shared_from_this()), part_(part), give_way_(std::move(give_way)) {
  base::MutexLock lock(budget_->caches_mutex_);
  budget_->caches_.insert(this);
}

MemoryBudget::Cache::~Cache() {
  base::MutexLock lock(budget_->caches_mutex_);
  budget_->caches_.erase(this);
}

void MemoryBudget::EndWaiting() {
  Waiters waiters;
  {
    base::MutexLock lock(mutex_);
    ended_ = true;
    waiters.swap(waiters_);
  }
  changed_.NotifyAll();
  for (Waiter& waiter : waiters) waiter.done(Ended());
  if (queue_thread_.joinable() && queue_thread_.get_id() != std::this_thread::get_id()) queue_thread_.join();
}

std::uint64_t MemoryBudget::used_bytes() const {
  base::MutexLock lock(mutex_);
  return total_;
}

std::uint64_t MemoryBudget::used_bytes(MemoryPart part) const {
  base::MutexLock lock(mutex_);
  return used_[Index(part)];
}

std::uint64_t MemoryBudget::peak_bytes() const {
  base::MutexLock lock(mutex_);
  return peak_;
}

std::vector<MemoryBudget::PartUse> MemoryBudget::parts() const {
  std::vector<PartUse> parts;
  base::MutexLock lock(mutex_);
  for (std::size_t k = 0; k < kMemoryParts; ++k) {
    parts.push_back({NameOf(static_cast<MemoryPart>(k)), shares_[k].max_bytes, used_[k]});
  }
  return parts;
}

std::size_t MemoryBudget::waiting() const {
  base::MutexLock lock(mutex_);
  return waiters_.size();
}

bool MemoryBudget::FitsPart(MemoryPart part, std::uint64_t bytes) const {
  const std::uint64_t used = used_[Index(part)];
  return bytes <= shares_[Index(part)].max_bytes - std::min(used, shares_[Index(part)].max_bytes);
}

bool MemoryBudget::IsGuaranteed(MemoryPart part, std::uint64_t bytes) const {
  return used_[Index(part)] + bytes <= shares_[Index(part)].guaranteed_bytes;
}

bool MemoryBudget::FitsBudget(MemoryPart part, std::uint64_t bytes) const {
  std::uint64_t others = 0;
  for (std::size_t k = 0; k < kMemoryParts; ++k) {
    if (k != Index(part)) others += std::max(used_[k], shares_[k].guaranteed_bytes);
  }
  return others <= cap_bytes_ && used_[Index(part)] + bytes <= cap_bytes_ - others;
}

bool MemoryBudget::MayTake(MemoryPart part, std::uint64_t bytes) const {
  if (!FitsPart(part, bytes) || !FitsBudget(part, bytes)) return false;
  for (const Waiter& waiter : waiters_) {
    if (waiter.part == part) return false;
    if (!IsGuaranteed(part, bytes) && FitsPart(waiter.part, waiter.bytes)) return false;
  }
  return true;
}

MemoryBudget::Reservation MemoryBudget::Take(MemoryPart part, std::uint64_t bytes) {
  used_[Index(part)] += bytes;
  total_ += bytes;
  peak_ = std::max(peak_, total_);
  return Reservation(shared_from_this(), part, bytes);
}

std::optional<MemoryBudget::Reservation> MemoryBudget::TryTake(MemoryPart part, std::uint64_t bytes) {
  base::MutexLock lock(mutex_);
  if (!MayTake(part, bytes)) return std::nullopt;
  return Take(part, bytes);
}

void MemoryBudget::Release(MemoryPart part, std::uint64_t bytes) {
  Calls calls;
  {
    base::MutexLock lock(mutex_);
    used_[Index(part)] -= bytes;
    total_ -= bytes;
    if (!waiters_.empty()) calls = Grant();
  }
  Run(std::move(calls));
}

MemoryBudget::Calls MemoryBudget::Grant() {
  Calls calls;
  std::array<bool, kMemoryParts> part_waits = {};
  bool budget_waits = false;
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    const MemoryPart part = waiter->part;
    const bool fits_part = FitsPart(part, waiter->bytes);
    const bool passes = !budget_waits || IsGuaranteed(part, waiter->bytes);
    if (!part_waits[Index(part)] && fits_part && passes && FitsBudget(part, waiter->bytes)) {
      calls.emplace_back(std::move(waiter->done), Take(part, waiter->bytes));
      waiter = waiters_.erase(waiter);
      continue;
    }
    // A request that waits for its part blocks later requests of that part alone.
    if (!part_waits[Index(part)] && fits_part) budget_waits = true;
    part_waits[Index(part)] = true;
    ++waiter;
  }
  return calls;
}

MemoryBudget::Calls MemoryBudget::Withdraw(Waiters::iterator waiter, absl::Status status) {
  Done done = std::move(waiter->done);
  waiters_.erase(waiter);
  Calls calls = Grant();
  calls.emplace_back(std::move(done), std::move(status));
  return calls;
}

MemoryBudget::Needs MemoryBudget::FirstOfEachPart() const {
  Needs needs;
  std::array<bool, kMemoryParts> seen = {};
  for (const Waiter& waiter : waiters_) {
    if (!std::exchange(seen[Index(waiter.part)], true)) needs.emplace_back(waiter.part, waiter.bytes);
  }
  return needs;
}

void MemoryBudget::Run(Calls calls) {
  for (auto& call : calls) call.first(std::move(call.second));
}

void MemoryBudget::AskCaches(MemoryPart part, std::uint64_t bytes) {
  bool part_is_full = false;
  {
    base::MutexLock lock(mutex_);
    part_is_full = !FitsPart(part, bytes);
  }
  base::MutexLock lock(caches_mutex_);
  for (const Cache* cache : caches_) {
    if (!part_is_full || cache->part_ == part) cache->give_way_(bytes);
  }
}

absl::Status MemoryBudget::NeverFits(MemoryPart part, std::uint64_t bytes) const {
  const std::string limit = absl::StrCat(max_bytes(part));
  const std::string name(NameOf(part));
  return base::WithReason(
      absl::ResourceExhaustedError(
          absl::StrCat("this needs ", bytes, " bytes of memory for ", name, ", of which the server has ", limit,
                       " in all; ask for less, or start packtraind with a greater --memory")),
      base::kAboveMemory,
      {{"part", name}, {"bytes", absl::StrCat(bytes)}, {"limit", limit}, {"flag", base::kMemoryFlag}});
}

absl::Status MemoryBudget::Refusal(MemoryPart part, std::uint64_t bytes) const {
  const std::string name(NameOf(part));
  const std::string limit = absl::StrCat(max_bytes(part));
  const auto delay =
      std::min(kRetryDelay + kRetryDelayOfAWaiter * static_cast<int>(waiters_.size()), kMaxRetryDelay);
  return base::WithRetryDelay(
      base::WithReason(
          absl::ResourceExhaustedError(
              absl::StrCat("the server's memory is in use: ", total_, " of ", cap_bytes_, " bytes, ",
                           used_[Index(part)], " of ", limit, " for ", name, ", and ", bytes,
                           " more did not come free in time; start packtraind with a ", "greater --memory")),
          base::kMemoryLimit,
          {{"part", name}, {"bytes", absl::StrCat(bytes)}, {"limit", limit}, {"flag", base::kMemoryFlag}}),
      delay);
}

void MemoryBudget::ServeWaiters() {
  const std::shared_ptr<const bool> gone = gone_;
  while (!*gone) {
    Calls late;
    Needs needs;
    if (!AwaitWork(late, needs)) return;
    for (const auto& [part, bytes] : needs) AskCaches(part, bytes);
    Run(std::move(late));  // last: it may give back the last reservation, and the budget with it
  }
}

bool MemoryBudget::AwaitWork(Calls& late, Needs& needs) {
  base::MutexLock lock(mutex_);
  while (!ended_ && waiters_.empty()) changed_.Wait(mutex_);
  if (ended_) return false;
  const auto first = std::ranges::min_element(waiters_, {}, &Waiter::deadline);
  const Clock::time_point now = Clock::now();
  if (first->deadline <= now) {
    late = Withdraw(first, Refusal(first->part, first->bytes));
  } else {
    changed_.WaitUntil(mutex_, std::min(first->deadline, now + kAskAgain));
    needs = FirstOfEachPart();
  }
  return !ended_;
}

}  // namespace packtrain::limits
