// packtraind: flags -> options -> server.
#include <execinfo.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <ratio>
#include <string>

#include "absl/debugging/failure_signal_handler.h"
#include "absl/debugging/symbolize.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/flag_checks.h"
#include "proto/base/lock_order.h"
#include "proto/base/standard_descriptors.h"
#include "proto/wire/fsck_report.h"
#include "server/log/event_log.h"
#include "server/log/ping_complaint.h"
#include "server/node/descriptor_limit.h"
#include "server/node/machine_memory.h"
#include "server/node/server.h"
#include "server/node/store_check.h"
#include "server/rocks/check_report.h"

namespace packtrain {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMaxCount = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxBuilders = std::numeric_limits<int>::max();

struct Flags {
  node::ServerOptions options;
  bool fsck = false;
  log::Options log;
};

const std::map<std::string, log::Format> kLogFormats = {{"logfmt", log::Format::kLogfmt},
                                                        {"json", log::Format::kJson}};
const std::map<std::string, log::Level> kLogLevels = {{"debug", log::Level::kDebug},
                                                      {"info", log::Level::kInfo},
                                                      {"warn", log::Level::kWarn},
                                                      {"error", log::Level::kError}};

// One of the keys of `words`.
template <typename T>
void AddWord(CLI::App& app, const std::string& flag, T& value, const std::map<std::string, T>& words,
             const std::string& help, const std::string& preset) {
  const auto take = [&value, &words](const std::string& word) { value = words.at(word); };
  app.add_option_function<std::string>(flag, take, help)->check(CLI::IsMember(words))->default_str(preset);
}

// A number of seconds, of type `T`.
template <typename T, typename Duration>
CLI::Option* AddSeconds(CLI::App& app, const std::string& flag, Duration& value, const std::string& help) {
  const auto take = [&value](T seconds) {
    value = std::chrono::duration_cast<Duration>(std::chrono::duration<T>(seconds));
  };
  const auto preset = std::chrono::duration_cast<std::chrono::duration<T>>(value);
  return app.add_option_function<T>(flag, take, help)->default_str(absl::StrCat(preset.count()));
}

// A number of hours.
CLI::Option* AddHours(CLI::App& app, const std::string& flag, std::chrono::milliseconds& value,
                      const std::string& help) {
  using Hours = std::chrono::duration<double, std::ratio<3600>>;
  const auto take = [&value](double hours) {
    value = std::chrono::ceil<std::chrono::milliseconds>(Hours(hours));
  };
  const std::string preset = absl::StrCat(std::chrono::duration_cast<Hours>(value).count());
  return app.add_option_function<double>(flag, take, help)->default_str(preset);
}

// For flags that mean something else when they are absent, as an unset variable of a shell would make them.
CLI::Validator NotEmpty() {
  return {[](const std::string& value) { return value.empty() ? std::string("is empty") : std::string(); }, "",
          ""};
}

void AddFlags(CLI::App& app, Flags& flags) {
  node::ServerOptions& options = flags.options;
  app.add_option("--data", options.data, "Folder of the stores; made where it does not exist")->required();
  app.add_flag(
      "--fsck", flags.fsck,
      "Serve nothing: read all that --data holds, print what is damaged, and exit with 1 where anything "
      "is. Changes nothing, and also reads stores that cannot be served any more; `packtrain fsck` asks a "
      "server that runs");
  app.add_option("--listen", options.listen, "HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 takes a free one")
      ->capture_default_str();
  app.add_option("--metrics-port", options.metrics_port,
                 "Answer Prometheus' scrapes, GET /metrics, on this port of 127.0.0.1, or on HOST:PORT by "
                 "IPv4; port 0 takes a free one")
      ->check(NotEmpty());
  app.add_option("--memory", options.memory_bytes,
                 "Memory for the whole process, in bytes or such as 512M or 8G; calls for which there is none "
                 "wait 10 s "
                 "and are then refused; 0: half of the machine's or the control group's memory")
      ->transform(CLI::AsSizeValue(false))
      ->check(base::CountBetween(0, kMaxBytes))
      ->capture_default_str();
  app.add_option(
         "--resident-bytes", options.resident_bytes,
         "Memory for the records of data sets that fit into it whole, at most half of --memory; the least "
         "recently used that no stream reads goes first")
      ->check(base::CountBetween(0, kMaxBytes))
      ->capture_default_str();
  app.add_option("--plan-cache-bytes", options.plan_cache_bytes,
                 "Memory for plans of epochs, kept for streams to come; the least recently used go first")
      ->check(base::CountBetween(0, kMaxBytes))
      ->capture_default_str();
  app.add_option(
         "--store-cache-bytes", options.store_cache_bytes,
         "Memory for blocks of the stored graphs that were read from disk, at most an eighth of --memory")
      ->check(base::CountBetween(0, kMaxBytes))
      ->capture_default_str();
  app.add_option("--builders", options.builders, "Threads that build batches; 0: one for each core")
      ->check(base::CountBetween(0, kMaxBuilders))
      ->capture_default_str();
  AddSeconds<std::uint32_t>(app, "--drain", options.drain_timeout,
                            "Seconds that open streams have to end on SIGTERM or SIGINT")
      ->check(base::CountBetween(0, kMaxCount));
  AddSeconds<double>(app, "--idle-timeout", options.idle_timeout,
                     "Seconds that a stream may wait for its client, and an import for its seal")
      ->check(base::NumberBetween(0.001, 1e6));
  AddHours(app, "--keep-staged", options.keep_staged,
           "Hours for which what an import that breaks off has stored is kept on the disk, so that `packtrain "
           "import --continue` goes on there, after a restart, too; 0: it is dropped")
      ->check(base::NumberBetween(0, 1e6));
  AddSeconds<double>(app, "--ping-after", options.ping_after,
                     "Seconds without a sign of life after which a client is pinged")
      ->check(base::NumberBetween(0.001, 1e6));
  AddSeconds<double>(app, "--ping-timeout", options.ping_timeout,
                     "Seconds without an answer to a ping after which the connection is closed")
      ->check(base::NumberBetween(0.001, 1e6));
  AddSeconds<std::uint32_t>(app, "--lost-after", options.run_lost_after,
                            "Seconds without a report after which a run is shown as lost")
      ->check(base::CountBetween(0, kMaxCount));
  app.add_option("--max-batch-bytes", options.max_batch_bytes, "Largest body of one batch")
      ->check(base::CountBetween(0, kMaxBytes))
      ->capture_default_str();
  app.add_option("--max-message-bytes", options.max_message_bytes, "Largest message received or sent")
      ->check(base::CountBetween(0, kMaxCount))
      ->capture_default_str();
  app.add_option("--max-streams", options.max_streams, "Most batch streams open at one time")
      ->check(base::CountBetween(0, kMaxCount))
      ->capture_default_str();
  AddWord(app, "--log-format", flags.log.format, kLogFormats,
          "Lines on stderr: logfmt (KEY=VALUE) or json, one object a line", "logfmt");
  AddWord(app, "--log-level", flags.log.least, kLogLevels, "Least level of a line: debug, info, warn or error",
          "info");
  app.add_flag("!--no-reflection", options.reflection, "Do not answer gRPC's reflection service");
  app.add_flag("--enable-bench", options.enable_bench,
               "Serve the bare byte stream that `packtrain bench stream` measures batches against");
  app.add_option("--replica-of", options.replica_of,
                 "Copy the data sets of this server, HOST:PORT, into --data and serve them; take no writes")
      ->check(NotEmpty());
  app.add_flag("--insecure", options.insecure, "Allow plain text on an address that other machines can reach");
}

log::Level LevelOf(gpr_log_severity severity) {
  switch (severity) {
    case GPR_LOG_SEVERITY_ERROR:
      return log::Level::kError;
    case GPR_LOG_SEVERITY_INFO:
      return log::Level::kInfo;
    default:
      return log::Level::kDebug;
  }
}

// The lowest severity that $GRPC_VERBOSITY logs, by gRPC's own words and default.
int LeastSeverity() {
  const char* verbosity = std::getenv("GRPC_VERBOSITY");
  const std::string word = verbosity == nullptr ? "ERROR" : verbosity;
  if (word == "DEBUG") return GPR_LOG_SEVERITY_DEBUG;
  if (word == "INFO") return GPR_LOG_SEVERITY_INFO;
  return word == "NONE" ? GPR_LOG_SEVERITY_ERROR + 1 : GPR_LOG_SEVERITY_ERROR;
}

void LogForGrpc(gpr_log_func_args* args) {
  static const int least = LeastSeverity();
  if (const auto peer = log::PeerThatPingsTooOften(args->message)) {
    log::Log(log::Level::kWarn, "client_cut_off",
             {{"peer", *peer}, {"message", "it pings more often than is permitted; see Keepalive"}});
  } else if (args->severity >= least) {
    log::Log(LevelOf(args->severity), "grpc", {{"message", args->message}});
  }
}

// gRPC's line on a client that it cuts off is one for debugging.
void SetUpLog(const log::Options& options) {
  log::SetUp(options);
  gpr_set_log_function(&LogForGrpc);
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_DEBUG);
}

// Before any thread is made, so that every thread inherits it and the signals wait for sigwait.
sigset_t BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// What absl's handler has to say, and behind it the stack that the unwinder finds, for absl follows frame
// pointers alone, which libraries lack. Null: the end.
void WriteCrash(const char* text) {
  if (text != nullptr) {
    (void)!::write(STDERR_FILENO, text, ::strlen(text));
    return;
  }
  std::array<void*, 64> frames;
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), static_cast<int>(frames.size())),
                         STDERR_FILENO);
}

// A fault of the program, such as SIGSEGV, ends it with the signal and the stack on stderr. SIGTERM is none.
void TraceCrashes(const char* program) {
  absl::InitializeSymbolizer(program);
  void* frame = nullptr;
  ::backtrace(&frame, 1);  // loads the unwinder, which a handler could not
  absl::InstallFailureSignalHandler({.call_previous_handler = true, .writerfn = WriteCrash});
  ::signal(SIGTERM, SIG_DFL);
}

int WrongUsage(const std::string& message) {
  std::fprintf(stderr, "packtraind: %s (--help shows the usage)\n", message.c_str());
  return kWrongUsage;
}

void LogServing(const Flags& flags, const node::Server& server) {
  log::Log(log::Level::kInfo, "listening",
           {{"address", server.address()},
            {"metrics", server.metrics_address()},
            {"data", flags.options.data.string()},
            {"version", PACKTRAIN_VERSION},
            {"pid", static_cast<std::uint64_t>(getpid())}});
}

void PrintServing(const node::Server& server) {
  std::printf("listening on %s\n", server.address().c_str());
  if (!server.metrics_address().empty()) {
    std::printf("metrics on http://%s/metrics\n", server.metrics_address().c_str());
  }
  std::fflush(stdout);
}

// Until a signal comes; then drains.
void ServeUntilStopped(const Flags& flags, std::unique_ptr<node::Server> server, const sigset_t& signals) {
  int signal = 0;
  sigwait(&signals, &signal);
  const std::chrono::seconds timeout = flags.options.drain_timeout;
  const auto seconds = static_cast<std::uint64_t>(timeout.count());
  log::Log(log::Level::kInfo, "drain_began", {{"signal", sigabbrev_np(signal)}, {"drain_seconds", seconds}});
  const bool ended = server->Drain(timeout);
  if (!ended) {
    log::Log(log::Level::kWarn, "drain_cut_off",
             {{"drain_seconds", seconds},
              {"message", "streams or calls had not ended within --drain and were cut off"}});
  }
  server.reset();
  log::Log(log::Level::kInfo, "stopped", {});
}

int Serve(const Flags& flags) {
  const sigset_t signals = BlockStopSignals();
  SetUpLog(flags.log);
  // Never given back: gRPC's last shutdown waits up to 10 s for a poller that a blocked write has started.
  grpc_init();
  node::LimitAllocator();
  node::RaiseDescriptorLimit();
  absl::StatusOr<std::unique_ptr<node::Server>> server = node::Server::Start(flags.options);
  if (!server.ok()) {
    const std::string message(server.status().message());
    if (absl::IsInvalidArgument(server.status())) return WrongUsage(message);
    log::Log(log::Level::kError, "start_failed",
             {{"code", absl::StatusCodeToString(server.status().code())}, {"message", message}});
    return kFailed;
  }
  PrintServing(**server);
  LogServing(flags, **server);
  ServeUntilStopped(flags, *std::move(server), signals);
  return 0;
}

// Prints what is damaged, and what was read.
int Check(const Flags& flags) {
  std::string lines;
  absl::Status status;
  {
    wire::FsckProgress progress(std::cerr, base::IsTerminal(STDERR_FILENO));
    const auto take = [&](const v1::FsckResponse& event) {
      if (event.has_progress()) progress.Show(event.progress());
      if (event.has_finding()) lines += wire::FsckLine(event.finding());
      return absl::OkStatus();
    };
    rocks::CheckReport report(take);
    status = node::CheckFolder(flags.options.data, report);
    if (status.ok()) lines += wire::FsckLines(report.summary());
    if (status.ok() && report.summary().findings() > 0) status = absl::DataLossError("the stores are damaged");
  }
  std::cout << lines << std::flush;
  if (!status.ok()) std::fprintf(stderr, "packtraind: %s\n", std::string(status.message()).c_str());
  return status.ok() && std::cout.good() ? 0 : kFailed;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Stores graphs and streams packed batches of them.\n\n"
      "  packtraind --data /srv/packtrain\n"
      "  packtraind --data /srv/copy --listen 127.0.0.1:7078 --replica-of 127.0.0.1:7077\n"
      "  packtraind --data /srv/packtrain --listen 0.0.0.0:7077 --insecure\n"
      "  packtraind --data /srv/packtrain --fsck\n",
      "packtraind");
  app.set_version_flag("--version", PACKTRAIN_VERSION);
  Flags flags;
  AddFlags(app, flags);
  try {
    base::RefuseFlagsWithoutValue(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : WrongUsage(error.what());
  }
  TraceCrashes(argv[0]);
  if (flags.fsck) return Check(flags);
  return Serve(flags);
}

}  // namespace
}  // namespace packtrain

int main(int argc, char** argv) {
  if (!packtrain::base::HoldStandardDescriptors()) return 1;
  packtrain::base::ForgetLockOrder();
  try {
    return packtrain::Main(argc, argv);
  } catch (const std::exception& error) {  // the flags' and the log's libraries throw
    std::fprintf(stderr, "packtraind: %s\n", error.what());
    return 1;
  }
}
