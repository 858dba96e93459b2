// What a reporter has of steps and evaluations that no server has acknowledged.
#ifndef PACKTRAIN_CLIENT_INTERNAL_UNSENT_RECORDS_H_
#define PACKTRAIN_CLIENT_INTERNAL_UNSENT_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "client/internal/record_spool.h"
#include "client/internal/report_kinds.h"
#include "client/run_reporter.h"

namespace packtrain::client {

// Collects them: first what is in memory, under the lock of the outboxes, then what is in the spool, without
// it. What is delivered between the two may be left out. Not thread-safe.
class UnsentCollector {
 public:
  // Takes the newest `most` of either kind.
  UnsentCollector(const Outboxes& outboxes, std::size_t most);

  // In the order in which they were added: what is in flight, in the spool, and waits in memory. Of a spool
  // that is corrupt only what is before the damage. To be called once.
  UnsentRecords Finish(const RecordSpool& spool);
  // How many records Finish has left out, being older than the newest.
  std::uint64_t left_out() const { return left_out_; }

 private:
  // Of one kind.
  template <typename Record>
  struct Part {
    std::size_t skip = 0;           // so many of the oldest are left out
    std::uint64_t spilled_end = 0;  // the spool's records from this number on are in `waiting`, too
    std::vector<Record> in_flight = {};
    std::vector<Record> waiting = {};
  };

  template <typename Record>
  static Part<Record> InMemory(const Outboxes& outboxes, std::size_t most);
  template <typename Kind>
  void TakeSpooled(const SpooledBlock& block, Part<typename Kind::Record>& part);
  template <typename Record>
  void TakeAll(const std::vector<Record>& records, Part<Record>& part);
  void Take(const AddressedStep& step);
  void Take(const Evaluation& evaluation) { unsent_.evaluations.push_back(evaluation); }

  Part<AddressedStep> steps_;
  Part<Evaluation> evaluations_;
  UnsentRecords unsent_;
  std::uint64_t left_out_ = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_UNSENT_RECORDS_H_
