// What trainers do with a server, for as long as standard input is open, and whether they got what they should.
//
// usage: soak_trainers SERVER DATASET GRAPHS SEED
//   GRAPHS  of the split that is streamed
// Says "ready" once it knows what the batches are when nobody disturbs the server; faults may begin then. Exit
// code 0: all of it held, and the last line is a JSON object of counts. Else 1, and a line on stderr says what
// did not.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "client/connection.h"
#include "tests/soak/reported_run.h"
#include "tests/soak/share_reader.h"
#include "tests/soak/worker.h"

namespace packtrain::soak {
namespace {

using std::chrono::milliseconds;

constexpr std::array<const char*, 4> kPolicies = {"static", "dynamic", "packed", "tuple"};
constexpr std::array<std::uint32_t, 2> kWorldSizes = {1, 2};
constexpr std::uint64_t kEpochs = 4;  // of a round
// Clients that read alone, and those that share epochs with another one.
constexpr int kLoneClients = 4;
constexpr int kPairs = 2;
constexpr int kNeverReading = 6;
constexpr int kReporters = 2;
constexpr std::array<milliseconds, 4> kPauses = {milliseconds(0), milliseconds(0), milliseconds(2),
                                                 milliseconds(10)};
constexpr std::array<std::size_t, 3> kReadAhead = {0, 1, 16};
constexpr milliseconds kBetweenSteps{1};
constexpr milliseconds kMaxUnread{8'000};
// Each absence of the server ends within seconds.
constexpr std::chrono::seconds kGiveUp{60};

struct Counts {
  std::atomic<std::uint64_t> epochs = 0;
  std::atomic<std::uint64_t> batches = 0;
  std::atomic<std::uint64_t> refusals = 0;
  std::atomic<std::uint64_t> unread = 0;
  std::atomic<std::uint64_t> losses = 0;
  std::atomic<std::uint64_t> runs = 0;
};

template <typename T, std::size_t kSize>
T OneOf(const std::array<T, kSize>& choices, std::mt19937_64& random) {
  return choices[random() % kSize];
}

struct Options {
  std::string server;
  std::string dataset;
  std::uint64_t graphs = 0;
  std::uint64_t seed = 0;
};

class Soak {
 public:
  explicit Soak(Options options) : options_(std::move(options)) {}

  // Reads each share's epochs once.
  void Learn() {
    for (const char* policy : kPolicies) {
      for (const std::uint32_t world_size : kWorldSizes) LearnWorld(policy, world_size);
    }
  }

  // Until standard input ends.
  void Run();

  void PrintCounts() const {
    std::printf(R"({"epochs": %ju, "batches": %ju, "refusals": %ju, "unread": %ju, "losses": %ju, "runs": %ju})"
                "\n",
                std::uintmax_t{counts_.epochs}, std::uintmax_t{counts_.batches},
                std::uintmax_t{counts_.refusals}, std::uintmax_t{counts_.unread},
                std::uintmax_t{counts_.losses}, std::uintmax_t{counts_.runs});
  }

 private:
  std::shared_ptr<client::Connection> Connect(const std::string& who) {
    client::ConnectionOptions options;
    options.server = options_.server;
    options.give_up = kGiveUp;
    options.on_notice = [this](const std::string&) { ++counts_.losses; };
    auto connection = client::Connection::Open(std::move(options));
    if (!connection.ok()) Fail(who, connection.status());
    return *std::move(connection);
  }

  void LearnWorld(const std::string& policy, std::uint32_t world_size) {
    std::vector<std::vector<std::uint64_t>> graphs(kEpochs);  // of all ranks
    for (std::uint32_t rank = 0; rank < world_size; ++rank) {
      const Share share{options_.dataset, policy, rank, world_size};
      ShareReader reader(Connect(NameOf(share)), share, kEpochs, /*read_ahead=*/1);
      Worker undisturbed(NameOf(share));
      ReadAll(undisturbed, reader, milliseconds(0));
      whole_[share] = reader.epochs();
      for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
        const std::vector<std::uint64_t>& of_rank = reader.epochs()[epoch].graphs;
        graphs[epoch].insert(graphs[epoch].end(), of_rank.begin(), of_rank.end());
      }
    }
    for (std::vector<std::uint64_t>& epoch : graphs) CheckGraphs(policy, epoch);
  }

  // Each graph of the split once.
  void CheckGraphs(const std::string& policy, std::vector<std::uint64_t>& graphs) const {
    std::sort(graphs.begin(), graphs.end());
    const bool twice = std::adjacent_find(graphs.begin(), graphs.end()) != graphs.end();
    if (!twice && graphs.size() == options_.graphs) return;
    Fail(policy, absl::DataLossError(absl::StrCat("an undisturbed epoch has ", graphs.size(), " graphs of ",
                                                  options_.graphs, twice ? ", some twice" : "")));
  }

  void ReadAll(Worker& worker, ShareReader& reader, milliseconds pause) {
    while (true) {
      const absl::StatusOr<bool> more = reader.Next();
      if (!more.ok()) Fail(worker.name(), more.status());
      worker.GotOn();
      if (!*more) return;
      if (pause.count() > 0) std::this_thread::sleep_for(pause);
    }
  }

  // A trainer that reads epochs, over and over. `world` numbers the worlds: ranks of one choose alike.
  void Stream(Worker& worker, std::uint64_t world, std::uint32_t rank, std::uint32_t world_size) {
    std::mt19937_64 common(options_.seed + world), own(options_.seed + 1000 * (world + 1) + rank);
    while (!end_.came()) {
      const Share share{options_.dataset, OneOf(kPolicies, common), rank, world_size};
      ShareReader reader(Connect(worker.name()), share, kEpochs, OneOf(kReadAhead, own));
      ReadAll(worker, reader, OneOf(kPauses, own));
      if (absl::Status status = CheckEpochs(whole_.at(share), reader.epochs()); !status.ok()) {
        Fail(absl::StrCat(worker.name(), ", ", NameOf(share)), status);
      }
      counts_.epochs += kEpochs;
      for (const EpochTrace& epoch : reader.epochs()) counts_.batches += epoch.batches.size();
      counts_.refusals += reader.refusals();
    }
  }

  // A trainer that reads a batch and then nothing, often for so long that the server ends its stream.
  void NeverRead(Worker& worker, std::uint64_t number) {
    std::mt19937_64 random(options_.seed + 100 + number);
    const std::shared_ptr<client::Connection> connection = Connect(worker.name());
    while (!end_.came()) {
      const Share share{options_.dataset, OneOf(kPolicies, random), 0, 1};
      ShareReader reader(connection, share, /*epochs=*/0, /*read_ahead=*/0);
      for (int batch = 0; batch < 3; ++batch) {
        if (const absl::StatusOr<bool> more = reader.Next(); !more.ok()) Fail(worker.name(), more.status());
        worker.GotOn();
        end_.WaitFor(milliseconds(random() % kMaxUnread.count()));
      }
      if (absl::Status status = CheckBatches(whole_.at(share), reader.epochs()); !status.ok()) {
        Fail(absl::StrCat(worker.name(), ", ", NameOf(share)), status);
      }
      ++counts_.unread;
      counts_.refusals += reader.refusals();
    }
  }

  // A trainer that reports; in the end the server still has every run.
  void Report(Worker& worker) {
    const std::shared_ptr<client::Connection> connection = Connect(worker.name());
    std::vector<std::string> runs;
    while (!end_.came()) {
      const std::string key = absl::StrCat("soak-", options_.seed, "-", worker.name(), "-", runs.size());
      const absl::StatusOr<std::string> run = ReportRun(connection, key, [&worker] {
        worker.GotOn();
        std::this_thread::sleep_for(kBetweenSteps);
      });
      if (!run.ok()) Fail(worker.name(), run.status());
      runs.push_back(*run);
      Check(worker, connection, *run);
      ++counts_.runs;
    }
    for (const std::string& run : runs) Check(worker, connection, run);
  }

  void Check(Worker& worker, const std::shared_ptr<client::Connection>& connection, const std::string& run) {
    if (absl::Status status = CheckRun(connection, run); !status.ok()) Fail(worker.name(), status);
    worker.GotOn();
  }

  // Starts `work` on a thread of its own.
  template <typename Work>
  void Start(std::string name, Work work) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>(std::move(name)));
    threads_.emplace_back([&worker, work] {
      work(worker);
      worker.Done();
    });
  }

  void StartAll();
  void AwaitAll();

  const Options options_;
  std::map<Share, std::vector<EpochTrace>> whole_;  // what nobody disturbed; constant once it is learnt
  Counts counts_;
  End end_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

void Soak::StartAll() {
  for (int k = 0; k < kLoneClients; ++k) {
    Start(absl::StrCat("client ", k), [this, k](Worker& worker) { Stream(worker, k, 0, 1); });
  }
  for (int k = 0; k < 2 * kPairs; ++k) {
    Start(absl::StrCat("client ", kLoneClients + k),
          [this, k](Worker& worker) { Stream(worker, kLoneClients + k / 2, k % 2, 2); });
  }
  for (int k = 0; k < kNeverReading; ++k) {
    Start(absl::StrCat("unread ", k), [this, k](Worker& worker) { NeverRead(worker, k); });
  }
  for (int k = 0; k < kReporters; ++k) {
    Start(absl::StrCat("reporter ", k), [this](Worker& worker) { Report(worker); });
  }
}

void Soak::AwaitAll() {
  const auto is_done = [](const std::unique_ptr<Worker>& worker) { return worker->done(); };
  while (!std::all_of(workers_.begin(), workers_.end(), is_done)) {
    for (const std::unique_ptr<Worker>& worker : workers_) {
      if (worker->IsLost()) {
        Fail(worker->name(),
             absl::DeadlineExceededError(absl::StrCat("nothing came for ", Worker::kLost.count(), " s")));
      }
    }
    std::this_thread::sleep_for(milliseconds(100));
  }
  for (std::thread& thread : threads_) thread.join();
}

void Soak::Run() {
  StartAll();
  std::thread input([this] {
    while (std::getchar() != EOF) {
    }
    end_.Come();
  });
  AwaitAll();
  input.join();
}

bool ParseNumber(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

int Main(int argc, char** argv) {
  Options options;
  if (argc != 5 || !ParseNumber(argv[3], options.graphs) || !ParseNumber(argv[4], options.seed)) {
    std::fprintf(stderr, "usage: soak_trainers SERVER DATASET GRAPHS SEED\n");
    return 2;
  }
  options.server = argv[1];
  options.dataset = argv[2];
  Soak soak(std::move(options));
  soak.Learn();
  std::puts("ready");
  std::fflush(stdout);
  soak.Run();
  soak.PrintCounts();
  return 0;
}

}  // namespace
}  // namespace packtrain::soak

int main(int argc, char** argv) { return packtrain::soak::Main(argc, argv); }
