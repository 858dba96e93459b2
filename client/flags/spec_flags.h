// The SPEC flags of the command line, equal in every program that takes them.
#ifndef PACKTRAIN_CLIENT_FLAGS_SPEC_FLAGS_H_
#define PACKTRAIN_CLIENT_FLAGS_SPEC_FLAGS_H_

#include <cstdint>

#include "proto/wire/batch_spec.h"

namespace CLI {
class App;
}

namespace packtrain::client {

// What the flags set. `epoch` and `world_size` keep their defaults where their flags are not added.
struct SpecFlags {
  wire::BatchSpec spec;
  std::uint64_t epoch = 0;
  std::uint32_t world_size = 1;
};

// Which of the flags a command takes; the rest of SPEC it always takes.
struct SpecFlagChoice {
  // Refuse a command line without --policy and --graphs.
  bool required = true;
  bool epoch = false;
  bool world_size = false;
};

// Adds the flags to `app`. Parsing fills `flags`, which must outlive `app`; words and ranges are checked
// then, what belongs together is left to whoever plans.
void AddSpecFlags(CLI::App& app, SpecFlags& flags, const SpecFlagChoice& choice);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_FLAGS_SPEC_FLAGS_H_
