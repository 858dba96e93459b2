// What the calls of a client make of a run's record.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_CHANGES_H_
#define PACKTRAIN_SERVER_RUNS_RUN_CHANGES_H_

#include <cstdint>
#include <string>

#include "packtrain/v1/run.pb.h"

namespace packtrain::runs {

inline bool IsFinished(const v1::Run& run) { return run.state() != v1::RUN_STATE_RUNNING; }

// A run that begins now.
v1::Run NewRun(const v1::StartRunRequest& request, std::string name, std::int64_t now_ms);

// An attempt is opened on the run. Where another run has followed it, an attempt with steps to make takes it
// back from that one; an attempt that plans none (RunDescription.planned_steps is not above its first step)
// only ends it, and the planned steps stay. Planned steps that are not given are those of the run.
void Resume(const v1::StartRunRequest& request, std::int64_t date_ms, v1::Run& run);

// The run ends. Its message is cut to what fits into the memory of a run; see run_limits.h.
void PutEnd(const v1::FinishRunRequest& request, std::int64_t date_ms, v1::Run& run);

// Completes a run by what older servers did not store: the end of one that is done. Steps behind an end do not
// count.
void CompleteRun(v1::Run& run);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_CHANGES_H_
