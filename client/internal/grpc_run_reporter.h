// Sends the records of a run.
#ifndef PACKTRAIN_CLIENT_INTERNAL_GRPC_RUN_REPORTER_H_
#define PACKTRAIN_CLIENT_INTERNAL_GRPC_RUN_REPORTER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "client/connection.h"
#include "client/internal/loss_counts.h"
#include "client/internal/reachability.h"
#include "client/internal/record_spool.h"
#include "client/internal/report_kinds.h"
#include "client/internal/stop_signal.h"
#include "client/run_reporter.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "proto/base/mutex.h"

namespace packtrain::client {

// The server is not there, or does not answer.
bool IsAbsence(const absl::Status& status);

// Two threads: one sends, and one moves what piles up to the spool. Records of a kind go in the order in which
// they were added: first those in flight, then those in the spool, then those that wait in memory.
class GrpcRunReporter final : public RunReporter {
 public:
  GrpcRunReporter(std::shared_ptr<Connection> connection, std::unique_ptr<v1::RunService::Stub> stub,
                  ReporterOptions options, Sender self);
  ~GrpcRunReporter() override;

  const std::string& run() const override { return self_.run; }
  std::uint32_t attempt() const override { return self_.attempt; }

  absl::Status Flush() override;
  void Hurry() override;
  UnsentRecords unsent() const override;
  std::size_t outstanding() const override;
  std::uint64_t lost() const override;

 private:
  using Clock = std::chrono::steady_clock;

  absl::Status End(bool failed, const std::string& message, std::optional<std::uint64_t> end_step) override;
  void Add(ReportedRecord record) override;
  template <typename Record>
  void AddOne(Record record);
  void AddOne(const AttemptSteps& steps);
  void AwaitRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteAdded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Put(const wire::StepRecord& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Put(const AddressedStep& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Put(LostRecords lost) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Put(Evaluation evaluation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Put(Sample sample) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <typename Record>
  void Put(Record record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Status AwaitDelivery();
  bool AwaitSettled(const Outboxes::Position& position) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CloseRun(bool failed, const std::string& message, std::optional<std::uint64_t> end_step);
  bool IsSettled(const Outboxes::Position& position) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Refusal() const;
  absl::Status NotDelivered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Send();
  bool WaitUntilDue();
  bool IsDue() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendSpooled();
  bool HasSpooled() const;
  template <typename Kind>
  bool SendSpooled(const SpooledBlock& block);
  template <typename... Kinds>
  void SendAll(std::tuple<Kinds...> kinds);
  template <typename Kind>
  void SendWaiting();
  template <typename Kind>
  std::vector<typename Kind::Record> Take();
  void SendLost();
  std::optional<LostRecords> UntoldLoss() const;
  template <typename Request, typename Response>
  absl::Status Deliver(grpc::Status (v1::RunService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                    Response*),
                       const Request& request);
  bool WaitToRetry(const absl::Status& failure, std::chrono::milliseconds delay);
  void CountRefused(const absl::Status& status, std::size_t records) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteSettled() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LoseSpool(const absl::Status& reason);

  void Spill();
  bool AwaitSpill();
  template <typename Record>
  bool PilesUp(const Outbox<Record>& outbox) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <typename... Kinds>
  void SpillAll(std::tuple<Kinds...> kinds);
  template <typename Kind>
  void SpillWaiting();

  const std::shared_ptr<Connection> connection_;
  const std::unique_ptr<v1::RunService::Stub> stub_;
  const ReporterOptions options_;
  const Sender self_;

  StopSignal stop_;          // cancels the call in progress
  StopSignal hurry_;         // ends the wait for a server that is to close the run
  Reachability::View view_;  // the sender's
  RecordSpool spool_;        // locks itself

  mutable base::Mutex mutex_;
  base::CondVar wake_;     // the sender waits: a block is full, a Flush began, the end
  base::CondVar settled_;  // Flush and AddSteps wait: a block was settled or spilled, or an attempt failed
  base::CondVar spill_;    // the other thread waits: many records wait, the end
  Outboxes outboxes_ ABSL_GUARDED_BY(mutex_);
  std::size_t spooled_blocks_ ABSL_GUARDED_BY(mutex_) = 0;
  LossCounts losses_ ABSL_GUARDED_BY(mutex_);
  // The spool took nothing at the last attempt, and is tried again from then on; nullopt: it did.
  std::optional<Clock::time_point> spill_after_ ABSL_GUARDED_BY(mutex_);
  std::int64_t last_step_ ABSL_GUARDED_BY(mutex_) = -1;  // that was added of this process's own
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool hurried_ ABSL_GUARDED_BY(mutex_) = false;
  std::size_t awaiting_room_ ABSL_GUARDED_BY(mutex_) = 0;  // calls of AddSteps that wait
  std::size_t flushing_ ABSL_GUARDED_BY(mutex_) = 0;       // calls of Flush that wait
  std::uint64_t flushes_ ABSL_GUARDED_BY(mutex_) = 0;      // reasons to try again at once, so far
  std::uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;     // of attempts
  std::uint64_t settlements_ ABSL_GUARDED_BY(mutex_) = 0;  // of blocks, and of counts of lost records
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);           // of the last attempt; OK: it succeeded
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);           // the first
  std::uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;      // records

  std::thread sender_;  // the last two: they use all of the above
  std::thread spiller_;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_GRPC_RUN_REPORTER_H_
