// A checksum that host and device compute alike, to see that what was copied is what arrived.
#ifndef PACKTRAIN_TRAINER_DATA_WORD_CHECKSUM_H_
#define PACKTRAIN_TRAINER_DATA_WORD_CHECKSUM_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace packtrain::trainer {

// The sum modulo 2^64 of SplitMix64's output function (Steele, Lea, Flood 2014) of each word plus a multiple,
// by its place, of SplitMix64's increment. The order of the additions does not matter, the places of words do.
std::uint64_t WordChecksum(std::span<const std::uint64_t> words);

// What checks found so far, in device memory.
struct ChecksumTally {
  unsigned long long checked;
  unsigned long long differing;
};

// Enqueues one check of `count` words in device memory.
cudaError_t CheckWords(const std::uint64_t* words, std::size_t count, std::uint64_t expected,
                       ChecksumTally* tally, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_WORD_CHECKSUM_H_
