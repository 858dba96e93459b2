// The subcommand `selftest`.
#ifndef PACKTRAIN_TRAINER_SELFTEST_SELFTEST_COMMAND_H_
#define PACKTRAIN_TRAINER_SELFTEST_SELFTEST_COMMAND_H_

namespace packtrain::trainer {

// What --help does not show: `PROGRAM selftest [--only REGEX] [--bench [--write-batch FILE]]` runs the checks
// whose names the expression finds on the first CUDA device, one line each on stderr as it ends, and with
// --bench times training steps. The last line on stdout is JSON: Selftest::ToJson with "table", the rows of
// bench.h. `argv` begins with "selftest". Returns the exit code: 1 where a check failed, 2 for wrong usage.
//
// The program that is linked decides what is there to be checked: without a GPU nothing is, and the
// subcommand is refused.
int SelftestCommand(int argc, const char* const* argv);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_SELFTEST_COMMAND_H_
