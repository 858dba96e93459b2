// The words by which servers, filters and programs name the states, the hardware and the input of runs.
#ifndef PACKTRAIN_PROTO_WIRE_RUN_WORDS_H_
#define PACKTRAIN_PROTO_WIRE_RUN_WORDS_H_

#include <string>

#include "packtrain/v1/batch.pb.h"
#include "packtrain/v1/run.pb.h"
#include "proto/wire/words.h"

namespace packtrain::wire {

inline constexpr Word<v1::OnCorrupt> kOnCorruptWords[] = {{"stop", v1::ON_CORRUPT_STOP},
                                                          {"skip", v1::ON_CORRUPT_SKIP}};
inline constexpr Word<v1::RunState> kStateWords[] = {{"running", v1::RUN_STATE_RUNNING},
                                                     {"done", v1::RUN_STATE_DONE},
                                                     {"failed", v1::RUN_STATE_FAILED},
                                                     {"lost", v1::RUN_STATE_LOST}};

// "running", "done", "failed", "lost".
std::string StateName(v1::RunState state);

// Name of the training device, with "N x " in front where there are several; "cpu" or "cuda" where it has
// no name.
std::string HardwareName(const v1::Hardware& hardware);

// "served" or "synthetic": where a run's batches came from. Older clients say it by the label `input`.
std::string InputOf(const v1::RunDescription& description);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_RUN_WORDS_H_
