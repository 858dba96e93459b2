#include "server/runs/run_entry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/runs/run_changes.h"

namespace packtrain::runs {
namespace {

// Of the node that holds it in the store, its name there and here, and what the allocator adds.
constexpr std::size_t kNodeBytes = 256;

}  // namespace

RunEntry::RunEntry(v1::Run initial, std::uint64_t its_place, RunDates its_dates)
    : name(initial.run()),
      place(its_place),
      dates(its_dates),
      run(std::move(initial)),
      heard_steady_ms(its_dates.steady_ms) {}

absl::Status RunEntry::CheckTakesReports() const {
  if (!IsFinished(run)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("run ", name, " is finished and takes no more reports"));
}

std::size_t RunEntry::bytes() const {
  return sizeof(RunEntry) - sizeof(v1::Run) + static_cast<std::size_t>(run.SpaceUsedLong()) + kNodeBytes;
}

}  // namespace packtrain::runs
