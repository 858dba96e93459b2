// How far a trainer receives ahead of its steps.
#ifndef PACKTRAIN_TRAINER_DATA_READ_AHEAD_H_
#define PACKTRAIN_TRAINER_DATA_READ_AHEAD_H_

#include <cstdint>

namespace packtrain::trainer {

// Batches that have come before they are due may fill so much memory, so that a pause of the server, of the
// network or of the host's threads is over before a step would have to wait.
inline constexpr std::uint64_t kReadAheadMib = 64;

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_READ_AHEAD_H_
