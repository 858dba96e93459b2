// Where a check of a store tells what it reads and finds.
#ifndef PACKTRAIN_SERVER_ROCKS_CHECK_REPORT_H_
#define PACKTRAIN_SERVER_ROCKS_CHECK_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "packtrain/v1/admin.pb.h"

namespace packtrain::rocks {

// Takes a finding or a progress message; one that fails ends the check.
using FsckSink = absl::FunctionRef<absl::Status(const v1::FsckResponse& event)>;

v1::FsckFinding Finding(v1::FsckKind kind, std::string_view message);

// Used by one thread.
class CheckReport {
 public:
  // `sink` is borrowed.
  explicit CheckReport(FsckSink sink) : sink_(sink) {}

  // Each of these fails where the sink does.
  absl::Status Find(v1::FsckFinding finding);
  // `done` of `total` of `subject`.
  absl::Status Tell(std::string_view subject, std::uint64_t done, std::uint64_t total);

  // What was read and found so far.
  v1::FsckSummary& summary() { return summary_; }
  void CountBytes(std::uint64_t bytes) { summary_.set_bytes(summary_.bytes() + bytes); }
  // How much the whole check is to read, as far as is known.
  void Expect(std::uint64_t bytes) { total_bytes_ += bytes; }

 private:
  const FsckSink sink_;
  v1::FsckSummary summary_;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_CHECK_REPORT_H_
