// The subcommand `selftest` of packtrain-trainer.
#include "absl/status/status.h"
#include "trainer/run/output.h"
#include "trainer/selftest/selftest_command.h"

namespace packtrain::trainer {

int SelftestCommand(int, const char* const*) {
  PrintFailure(
      PACKTRAIN_PROGRAM,
      absl::InvalidArgumentError("selftest: this program trains on the CPU; packtrain-trainer-cuda has it"),
      /*json=*/false);
  return 2;
}

}  // namespace packtrain::trainer
