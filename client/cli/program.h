// The packtrain program, apart from its process.
#ifndef PACKTRAIN_CLIENT_CLI_PROGRAM_H_
#define PACKTRAIN_CLIENT_CLI_PROGRAM_H_

#include <iosfwd>

namespace packtrain::cli {

// Parses and runs one command line; data goes to `out`, messages to `err`. Returns the exit code.
int RunProgram(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_PROGRAM_H_
