#include "trainer/selftest/sum_checks.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/ranks/communicator.h"
#include "trainer/ranks/nccl_communicator.h"
#include "trainer/ranks/rank_errors.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// As many as the gradients of a model of some millions of parameters.
constexpr std::int64_t kElements = 1 << 22;
// An abort takes milliseconds.
constexpr std::chrono::seconds kTimeout{10};

constexpr std::uint32_t kCards = 2;

std::string WhyNotHere() {
  const int visible = c10::cuda::device_count();
  if (visible >= static_cast<int>(kCards)) return "";
  return absl::StrCat("a sum of cards takes ", kCards, " of them; CUDA shows ", visible);
}

// One of the cards, as this thread's device, and what it shares with the others.
struct Rank {
  World world;
  Communicator& communicator;

  at::Tensor Ones() const {
    return at::ones({kElements}, at::device({at::kCUDA, static_cast<c10::DeviceIndex>(world.rank)}));
  }
};

using Body = absl::Status (*)(const Rank& rank);

absl::Status RunOn(const World& world, const std::string& token, Body body) {
  const auto index = static_cast<c10::DeviceIndex>(world.rank);
  c10::cuda::set_device(index);
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, index));
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Communicator> communicator, NcclOn(index)->Connect(token, world));
  absl::Status status = body({.world = world, .communicator = *communicator});
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  return status;
}

absl::Status Guarded(const World& world, const std::string& token, Body body) {
  try {
    return RunOn(world, token, body);
  } catch (const std::exception& error) {
    return absl::InternalError(FirstLine(error));
  }
}

// Runs `body` for each card, on a thread of its own.
absl::Status OnAllCards(Body body) {
  ABSL_ASSIGN_OR_RETURN(const std::string token, NcclOn(0)->NewToken());
  std::vector<absl::Status> results(kCards);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < results.size(); ++rank) {
    World world;
    world.rank = rank;
    world.size = static_cast<std::uint32_t>(results.size());
    threads.emplace_back(
        [&results, &token, world, body] { results[world.rank] = Guarded(world, token, body); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& result : results) {
    ABSL_RETURN_IF_ERROR(result);
  }
  return absl::OkStatus();
}

// Twice the values, summed.
absl::Status Capture(const Rank& rank, const at::Tensor& values, at::cuda::CUDAGraph& graph) {
  graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  values.mul_(2);
  absl::Status status = rank.communicator.Sum(values);
  graph.capture_end();
  return status;
}

// At once and twice in a replay, so that each sum is that of the sums before.
absl::Status SumInAReplay(const Rank& rank) {
  const at::Tensor values = rank.Ones();
  at::cuda::CUDAGraph graph;
  ABSL_RETURN_IF_ERROR(rank.communicator.Sum(values));
  ABSL_RETURN_IF_ERROR(Capture(rank, values, graph));
  graph.replay();
  graph.replay();
  const double expected = 4 * std::pow(rank.world.size, 3);
  if (values.eq(expected).all().item<bool>()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("a sum of ones over ", rank.world.size,
                                          " ranks, doubled and summed twice, begins with ",
                                          values[0].item<float>(), " instead of ", expected));
}

absl::Status AwaitStream() {
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  const Clock::time_point deadline = Clock::now() + kTimeout;
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    if (Clock::now() > deadline) return absl::InternalError("a sum that was aborted does not end");
    std::this_thread::yield();
  }
  return absl::OkStatus();
}

// Replays a sum in which no other rank takes part.
absl::Status AbortOwnReplay(const Rank& rank, const at::Tensor& values) {
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  absl::Status status = Capture(rank, values, *graph);
  if (status.ok()) graph->replay();
  std::thread abort([&rank] { rank.communicator.Abort(); });
  if (status.ok()) status = AwaitStream();
  graph.reset();  // an abort may wait for it
  abort.join();
  return status;
}

// The others wait for rank 0, as their communicators end with theirs.
absl::Status AbortAReplay(const Rank& rank) {
  static std::latch aborted{1};
  const at::Tensor values = rank.Ones();
  ABSL_RETURN_IF_ERROR(rank.communicator.Sum(values));
  C10_CUDA_CHECK(cudaDeviceSynchronize());
  if (rank.world.rank > 0) {
    aborted.wait();
    return absl::OkStatus();
  }
  const absl::Status status = AbortOwnReplay(rank, values);
  aborted.count_down();
  return status;
}

absl::Status AreRightInAReplay() { return OnAllCards(SumInAReplay); }
absl::Status EndByAnAbort() { return OnAllCards(AbortAReplay); }

constexpr std::array<Check, 2> kChecks = {
    {{"sums of cards: are right, at once and in a replay", AreRightInAReplay, WhyNotHere},
     {"sums of cards: a replay that waits for another card ends by an abort", EndByAnAbort, WhyNotHere}}};

}  // namespace

std::span<const Check> SumChecks() { return kChecks; }

}  // namespace packtrain::trainer
