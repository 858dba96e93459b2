// Runs tasks side by side.
#ifndef PACKTRAIN_CLIENT_CLI_PLAN_THREAD_LOOP_H_
#define PACKTRAIN_CLIENT_CLI_PLAN_THREAD_LOOP_H_

#include <cstddef>
#include <functional>

namespace packtrain::cli {

// The threads of the machine, at least one.
std::size_t HardwareThreads();

// Calls `run` with each of 0 .. tasks-1 once, on the calling thread and up to threads-1 more, which begin and
// end with the call.
void RunOnThreads(std::size_t threads, std::size_t tasks, const std::function<void(std::size_t task)>& run);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_PLAN_THREAD_LOOP_H_
