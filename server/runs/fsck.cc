#include "server/runs/fsck.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace packtrain::runs {
namespace {

using Sink = absl::FunctionRef<absl::Status(const v1::FsckResponse& event)>;

// One sort of rows after the other: damage in one hides none in the next.
std::vector<std::string> Unreadable(const RunStore& store, const std::string& run) {
  std::vector<std::string> messages;
  const auto note = [&messages](const char* what, const absl::Status& status) {
    if (!status.ok()) messages.push_back(absl::StrCat(what, ": ", status.message()));
  };
  note("steps", store.ReadSteps(run, [](const auto&, const auto&) { return absl::OkStatus(); }));
  note("evaluations", store.ReadEvaluations(run).status());
  note("samples", store.ReadSamples(run, [](const auto&, const auto&) { return absl::OkStatus(); }));
  note("events", store.ReadEvents(run, [](const auto&) { return absl::OkStatus(); }));
  return messages;
}

v1::FsckResponse Finding(const std::string& run, const std::string& message) {
  v1::FsckResponse event;
  event.mutable_finding()->set_kind(v1::FSCK_KIND_RUN);
  event.mutable_finding()->set_run(run);
  event.mutable_finding()->set_message(message);
  return event;
}

v1::FsckResponse Progress(std::uint64_t done, std::uint64_t total) {
  v1::FsckResponse event;
  event.mutable_progress()->set_subject("runs");
  event.mutable_progress()->set_done(done);
  event.mutable_progress()->set_total(total);
  return event;
}

}  // namespace

absl::Status Fsck(const RunStore& store, v1::FsckSummary& summary, Sink sink) {
  const absl::StatusOr<std::vector<v1::Run>> runs = store.List();
  if (!runs.ok()) return runs.status();
  for (const v1::Run& run : *runs) {
    if (absl::Status status = sink(Progress(summary.runs(), runs->size())); !status.ok()) return status;
    summary.set_runs(summary.runs() + 1);
    for (const std::string& message : Unreadable(store, run.run())) {
      summary.set_findings(summary.findings() + 1);
      if (absl::Status status = sink(Finding(run.run(), message)); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace packtrain::runs
