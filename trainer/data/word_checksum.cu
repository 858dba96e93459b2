#include <cub/block/block_reduce.cuh>

#include "trainer/data/word_checksum.h"

namespace packtrain::trainer {
namespace {

constexpr int kThreads = 1024;

__host__ __device__ std::uint64_t Mix(std::uint64_t word, std::size_t place) {
  std::uint64_t mixed = word + (place + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  return mixed ^ mixed >> 31;
}

// One block.
__global__ void __launch_bounds__(kThreads)
    Check(const std::uint64_t* words, std::size_t count, std::uint64_t expected, ChecksumTally* tally) {
  using Reduce = cub::BlockReduce<std::uint64_t, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  std::uint64_t sum = 0;
  for (std::size_t place = threadIdx.x; place < count; place += kThreads) sum += Mix(words[place], place);
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x != 0) return;
  ++tally->checked;
  if (sum != expected) ++tally->differing;
}

}  // namespace

std::uint64_t WordChecksum(std::span<const std::uint64_t> words) {
  std::uint64_t sum = 0;
  for (std::size_t place = 0; place < words.size(); ++place) sum += Mix(words[place], place);
  return sum;
}

cudaError_t CheckWords(const std::uint64_t* words, std::size_t count, std::uint64_t expected,
                       ChecksumTally* tally, cudaStream_t stream) {
  Check<<<1, kThreads, 0, stream>>>(words, count, expected, tally);
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
