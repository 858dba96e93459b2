// The words by which programs name what an import does to graphs.
#ifndef PACKTRAIN_PROTO_WIRE_IMPORT_WORDS_H_
#define PACKTRAIN_PROTO_WIRE_IMPORT_WORDS_H_

#include "packtrain/v1/dataset.pb.h"
#include "proto/wire/words.h"

namespace packtrain::wire {

inline constexpr Word<v1::Renumbering> kRenumberingWords[] = {{"rcm", v1::RENUMBERING_RCM}};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_IMPORT_WORDS_H_
