// The words by which servers, filters and programs name batch specs, run states and hardware.
#ifndef PACKTRAIN_PROTO_WIRE_RUN_WORDS_H_
#define PACKTRAIN_PROTO_WIRE_RUN_WORDS_H_

#include <string>

#include "packtrain/v1/batch.pb.h"
#include "packtrain/v1/run.pb.h"

namespace packtrain::wire {

template <typename Enum>
struct Word {
  const char* text;
  Enum value;
};

inline constexpr Word<v1::Policy> kPolicyWords[] = {{"static", v1::POLICY_STATIC},
                                                    {"dynamic", v1::POLICY_DYNAMIC},
                                                    {"packed", v1::POLICY_PACKED},
                                                    {"tuple", v1::POLICY_TUPLE}};
inline constexpr Word<v1::Pad> kPadWords[] = {{"none", v1::PAD_NONE},
                                              {"multiple", v1::PAD_MULTIPLE},
                                              {"pow2", v1::PAD_POW2},
                                              {"constant", v1::PAD_CONSTANT}};
inline constexpr Word<v1::Oversize> kOversizeWords[] = {
    {"error", v1::OVERSIZE_ERROR}, {"alone", v1::OVERSIZE_ALONE}, {"skip", v1::OVERSIZE_SKIP}};
inline constexpr Word<v1::OnCorrupt> kOnCorruptWords[] = {{"stop", v1::ON_CORRUPT_STOP},
                                                          {"skip", v1::ON_CORRUPT_SKIP}};
inline constexpr Word<v1::RunState> kStateWords[] = {{"running", v1::RUN_STATE_RUNNING},
                                                     {"done", v1::RUN_STATE_DONE},
                                                     {"failed", v1::RUN_STATE_FAILED},
                                                     {"lost", v1::RUN_STATE_LOST}};

// Empty for an unspecified value, "unknown(NUMBER)" for one of a newer peer.
template <typename Enum, std::size_t N>
std::string WordOf(Enum value, const Word<Enum> (&words)[N]) {
  for (const Word<Enum>& word : words) {
    if (word.value == value) return word.text;
  }
  return value == 0 ? "" : "unknown(" + std::to_string(static_cast<int>(value)) + ")";
}

// The pad as --pad spells it, such as "pow2" and "ladder:8"; empty where it is unspecified.
std::string PadName(const v1::BatchSpec& spec);

// Policy and pad in one word, as runs are compared by it: "dynamic"; or "static-" and the pad, such as
// "static-multiple", which an unspecified pad is, and "static-ladder:8".
std::string PolicyName(const v1::BatchSpec& spec);

// "running", "done", "failed", "lost".
std::string StateName(v1::RunState state);

// Name of the training device, with "N x " in front where there are several; "cpu" or "cuda" where it has
// no name.
std::string HardwareName(const v1::Hardware& hardware);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_RUN_WORDS_H_
