// The program as its users meet it: first line, messages, exit codes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "packtrain/v1/dataset.grpc.pb.h"
#include "proto/wire/body_pool.h"
#include "server/batches/build_ahead.h"
#include "server/log/line_limit.h"
#include "tests/server/serving/serving_client.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Reads until the writers have closed.
std::string ReadAll(FILE* file) {
  std::string all;
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) all.push_back(static_cast<char>(c));
  return all;
}

// One run of packtraind. Killed when it goes, unless it has been waited for.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    int out[2];
    int err[2];
    EXPECT_EQ(pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    arguments.insert(arguments.begin(), PACKTRAIND);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, PACKTRAIND, &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    out_ = fdopen(out[0], "r");
    err_ = fdopen(err[0], "r");
  }

  ~Program() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    if (pid_ > 0) Wait();
    fclose(out_);
    fclose(err_);
  }

  // Of stdout.
  std::string NextLine() {
    std::string line;
    for (int c = fgetc(out_); c != EOF && c != '\n'; c = fgetc(out_)) line.push_back(static_cast<char>(c));
    return line;
  }
  void Signal(int signal) { kill(pid_, signal); }

  // The exit code; -1 where a signal ended it.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string Stdout() { return ReadAll(out_); }
  std::string Stderr() { return ReadAll(err_); }

 private:
  pid_t pid_ = -1;
  FILE* out_ = nullptr;
  FILE* err_ = nullptr;
};

class PacktraindTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = (std::filesystem::temp_directory_path() / "packtraind-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Data(const std::string& name = "data") const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(PacktraindTest, SaysWhereItListensAndStopsWhenAsked) {
  for (int signal : {SIGTERM, SIGINT}) {
    Program program({"--data", Data(), "--listen", "127.0.0.1:0"});
    EXPECT_THAT(program.NextLine(), MatchesRegex("listening on 127\\.0\\.0\\.1:[1-9][0-9]*"));
    program.Signal(signal);
    EXPECT_EQ(program.Wait(), 0);
    EXPECT_THAT(program.Stderr(), HasSubstr("event=stopped\n"));
  }
}

// Of stderr, once a program has ended that was started with --log-format json.
std::vector<nlohmann::json> Lines(Program& program) {
  std::istringstream text(program.Stderr());
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

std::vector<nlohmann::json> Of(const std::vector<nlohmann::json>& lines, const std::string& event) {
  std::vector<nlohmann::json> found;
  for (const nlohmann::json& line : lines) {
    if (line.at("event") == event) found.push_back(line);
  }
  return found;
}

// The line that tells the end of the stream that `opened` tells the beginning of; an empty object: there is
// none.
nlohmann::json EndOf(const std::vector<nlohmann::json>& lines, const nlohmann::json& opened) {
  for (const nlohmann::json& ended : Of(lines, "stream_ended")) {
    if (ended.at("stream") == opened.at("stream")) return ended;
  }
  return nlohmann::json::object();
}

TEST_F(PacktraindTest, EachEventIsALineOfItsNameAndFields) {
  Program program({"--data", Data(), "--listen", "127.0.0.1:0", "--log-format", "json"});
  const std::string address = program.NextLine().substr(sizeof("listening on ") - 1);
  ServingClient client(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  const auto stored = client.Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(20)));
  ASSERT_THAT(stored, IsOk());
  v1::StreamBatchesRequest request;
  request.set_dataset("molecules");
  request.mutable_spec()->set_policy(v1::POLICY_STATIC);
  request.mutable_spec()->set_graphs(10);
  request.set_epochs(1);
  EXPECT_THAT(client.Stream(request).status, IsOk());
  request.set_start_step(9);
  EXPECT_THAT(client.Stream(request).status, StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(client.Get("none\n\"}"), StatusIs(absl::StatusCode::kNotFound));
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
  const std::vector<nlohmann::json> lines = Lines(program);
  ASSERT_EQ(Of(lines, "listening").size(), 1);
  EXPECT_EQ(Of(lines, "listening")[0].at("address"), address);
  EXPECT_EQ(Of(lines, "import_began").size(), 1);
  ASSERT_EQ(Of(lines, "import_staged").size(), 1);
  EXPECT_EQ(Of(lines, "import_staged")[0].at("staged"), 20);
  ASSERT_EQ(Of(lines, "dataset_sealed").size(), 1);
  EXPECT_EQ(Of(lines, "dataset_sealed")[0].at("dataset"), *stored);
  EXPECT_EQ(Of(lines, "dataset_sealed")[0].at("graphs"), 20);
  ASSERT_EQ(Of(lines, "stream_opened").size(), 2);
  EXPECT_EQ(Of(lines, "stream_opened")[0].at("dataset"), "molecules");
  EXPECT_EQ(Of(lines, "stream_opened")[0].at("policy"), "static");
  EXPECT_EQ(Of(lines, "stream_opened")[1].at("step"), 9);
  ASSERT_EQ(Of(lines, "stream_ended").size(), 2);  // in any order: a client may be told before the log is
  const nlohmann::json whole = EndOf(lines, Of(lines, "stream_opened")[0]);
  EXPECT_EQ(whole.at("code"), "OK");
  EXPECT_EQ(whole.at("batches"), 2);
  EXPECT_EQ(whole.at("graphs"), 20);
  const nlohmann::json refused = EndOf(lines, Of(lines, "stream_opened")[1]);
  EXPECT_EQ(refused.at("code"), "OUT_OF_RANGE");
  EXPECT_EQ(refused.at("batches"), 0);
  ASSERT_EQ(Of(lines, "call_failed").size(), 1);
  EXPECT_EQ(Of(lines, "call_failed")[0].at("method"), "/packtrain.v1.DatasetService/GetDataset");
  EXPECT_EQ(Of(lines, "call_failed")[0].at("code"), "NOT_FOUND");
  EXPECT_THAT(Of(lines, "call_failed")[0].at("message").get<std::string>(), HasSubstr("none\n\"}"));
  EXPECT_EQ(Of(lines, "drain_began").size(), 1);
  EXPECT_EQ(Of(lines, "drain_began")[0].at("signal"), "TERM");
  EXPECT_EQ(lines.back().at("event"), "stopped");
}

TEST_F(PacktraindTest, AFloodOfFailingCallsWritesAFewLines) {
  constexpr std::uint64_t kCalls = 10'000;
  Program program({"--data", Data(), "--listen", "127.0.0.1:0", "--log-format", "json"});
  const std::string address = program.NextLine().substr(sizeof("listening on ") - 1);
  ServingClient client(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  for (std::uint64_t call = 0; call < kCalls; ++call) EXPECT_FALSE(client.Get("none").ok());
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
  const std::vector<nlohmann::json> failed = Of(Lines(program), "call_failed");
  EXPECT_GE(failed.size(), log::LineLimit::kLines);
  EXPECT_LT(failed.size(), kCalls / 10);
  EXPECT_EQ(failed[0].at("left_out"), 0);
}

TEST_F(PacktraindTest, LinesBelowTheLevelAreLeftOut) {
  Program program({"--data", Data(), "--listen", "127.0.0.1:0", "--log-level", "warn"});
  program.NextLine();
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
  EXPECT_EQ(program.Stderr(), "");
}

TEST_F(PacktraindTest, SaysWhereItIsScraped) {
  Program program({"--data", Data(), "--listen", "127.0.0.1:0", "--metrics-port", "0"});
  EXPECT_THAT(program.NextLine(), StartsWith("listening on "));
  EXPECT_THAT(program.NextLine(), MatchesRegex("metrics on http://127\\.0\\.0\\.1:[1-9][0-9]*/metrics"));
}

TEST_F(PacktraindTest, AMetricsPortThatIsTakenEndsInOneLineAndLeavesNoFolder) {
  Program first({"--data", Data(), "--listen", "127.0.0.1:0"});
  const std::string taken = first.NextLine().substr(sizeof("listening on ") - 1);
  Program program({"--data", Data("other"), "--listen", "127.0.0.1:0", "--metrics-port", taken});
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_THAT(program.Stderr(), MatchesRegex("[^\n]*cannot listen on " + taken + "[^\n]*--metrics-port\"\n"));
  EXPECT_FALSE(std::filesystem::exists(Data("other")));
}

TEST_F(PacktraindTest, AnAddressThatCannotBeHadEndsInOneLineAndLeavesNoFolder) {
  Program first({"--data", Data(), "--listen", "127.0.0.1:0"});
  const std::string taken = first.NextLine().substr(sizeof("listening on ") - 1);
  for (const std::string& address : {taken, std::string("unix:/nonexistent/socket"), "unix:" + folder_.string(),
                                     std::string("unix:/tmp/") + std::string(200, 'x')}) {
    Program program({"--data", Data("other"), "--listen", address});
    EXPECT_EQ(program.Wait(), 1) << address;
    EXPECT_EQ(program.Stdout(), "");
    EXPECT_THAT(program.Stderr(), MatchesRegex("[^\n]*cannot listen on " + address + ": [^\n]*--listen\"\n"));
    EXPECT_FALSE(std::filesystem::exists(Data("other"))) << address;
  }
}

TEST_F(PacktraindTest, ADrainEndsInTimeThoughOneOfEightStreamsIsNotRead) {
  Program program({"--data", Data(), "--listen", "127.0.0.1:0", "--drain", "2"});
  const std::string address = program.NextLine().substr(sizeof("listening on ") - 1);
  const auto channel = [&address] { return grpc::CreateChannel(address, grpc::InsecureChannelCredentials()); };
  ASSERT_THAT(ServingClient(channel()).Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(20'000))),
              IsOk());
  v1::StreamBatchesRequest request;
  request.set_dataset("molecules");
  request.mutable_spec()->set_policy(v1::POLICY_STATIC);
  request.mutable_spec()->set_graphs(20'000);
  request.set_max_message_bytes(64 << 10);
  OpenStream unread(NarrowChannel(address), request);
  ASSERT_TRUE(unread.Read());
  constexpr int kReaders = 7;
  std::latch reading(kReaders);
  std::vector<std::thread> readers;
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&] {
      OpenStream stream(channel(), request);
      EXPECT_TRUE(stream.Read());
      reading.count_down();
      bool whole = false;
      while (stream.Read()) whole = stream.message().last();
      EXPECT_TRUE(whole);
      EXPECT_THAT(stream.Finish(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("reconnect")));
    });
  }
  reading.wait();
  program.Signal(SIGTERM);
  for (std::thread& reader : readers) reader.join();
  EXPECT_THAT(OpenStream(channel(), request).Finish(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(program.Wait(), 0);
  EXPECT_THAT(program.Stderr(), HasSubstr("event=drain_cut_off drain_seconds=2 "));
  EXPECT_FALSE(unread.Finish().ok());
}

// One import that its client has opened and sends nothing more of.
struct SilentImport {
  explicit SilentImport(const std::string& address)
      : stub(v1::DatasetService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        stream(stub->ImportGraphs(&context, &response)) {}

  grpc::ClientContext context;
  v1::ImportGraphsResponse response;
  std::unique_ptr<v1::DatasetService::Stub> stub;
  std::unique_ptr<grpc::ClientWriter<v1::ImportGraphsRequest>> stream;
};

TEST_F(PacktraindTest, ADrainDoesNotWaitForSilentImports) {
  Program program({"--data", Data(), "--listen", "127.0.0.1:0", "--drain", "3600"});
  const std::string address = program.NextLine().substr(sizeof("listening on ") - 1);
  SilentImport bare(address), begun(address);
  v1::ImportGraphsRequest header;
  *header.mutable_header()->mutable_schema() = MoleculeSchema();
  ASSERT_TRUE(begun.stream->Write(header));
  ASSERT_THAT(ServingClient(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())).List(), IsOk());
  program.Signal(SIGTERM);
  EXPECT_EQ(program.Wait(), 0);
  for (SilentImport* import : {&bare, &begun}) {
    EXPECT_EQ(import->stream->Finish().error_code(), grpc::UNAVAILABLE);
  }
  EXPECT_THAT(program.Stderr(), Not(HasSubstr("drain_cut_off")));
}

TEST_F(PacktraindTest, ACheckOfAFolderNamesWhatIsDamagedAndExitsWithOne) {
  {
    Program program({"--data", Data(), "--listen", "127.0.0.1:0"});
    const std::string address = program.NextLine().substr(sizeof("listening on ") - 1);
    ServingClient client(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    ASSERT_THAT(client.Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(20))), IsOk());
    Program held({"--data", Data(), "--fsck"});
    EXPECT_EQ(held.Wait(), 1);
    EXPECT_THAT(held.Stderr(), HasSubstr("in use by process"));
    program.Signal(SIGTERM);
    EXPECT_EQ(program.Wait(), 0);
  }
  Program whole({"--data", Data(), "--fsck"});
  EXPECT_EQ(whole.Wait(), 0);
  EXPECT_THAT(whole.Stdout(), HasSubstr("20 graphs of 1 data sets"));
  EXPECT_EQ(whole.Stderr(), "");
  const std::filesystem::path current = folder_ / "data" / "graphs" / "db" / "CURRENT";
  std::ofstream(current) << "nothing\n";
  Program refused({"--data", Data(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(refused.Wait(), 1);
  Program damaged({"--data", Data(), "--fsck"});
  EXPECT_EQ(damaged.Wait(), 1);
  EXPECT_THAT(damaged.Stdout(), HasSubstr("file " + current.string() + ": "));
  Program nothing({"--data", Data("none"), "--fsck"});
  EXPECT_EQ(nothing.Wait(), 1);
  EXPECT_FALSE(std::filesystem::exists(Data("none")));
}

TEST_F(PacktraindTest, AStoreInUseIsNamedWithItsHolder) {
  Program first({"--data", Data(), "--listen", "127.0.0.1:0"});
  first.NextLine();
  Program second({"--data", Data(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_THAT(second.Stderr(), AllOf(HasSubstr(Data()), HasSubstr("in use by process")));
}

TEST_F(PacktraindTest, AKilledServerStartsAgainWithoutAHand) {
  Program first({"--data", Data(), "--listen", "127.0.0.1:0"});
  first.NextLine();
  first.Signal(SIGKILL);
  EXPECT_EQ(first.Wait(), -1);
  Program second({"--data", Data(), "--listen", "127.0.0.1:0"});
  EXPECT_THAT(second.NextLine(), HasSubstr("listening on"));
}

TEST_F(PacktraindTest, ClientsThatNeverReadHoldNoMoreThanIsStated) {
  constexpr int kStreams = 8;
  constexpr std::uint64_t kDatasetAndPlans = 16 << 20;
  Program program({"--data", Data(), "--listen", "127.0.0.1:0", "--max-streams", std::to_string(kStreams),
                   "--max-batch-bytes", std::to_string(4 << 20), "--resident-bytes", std::to_string(8 << 20)});
  const std::string address = program.NextLine().substr(sizeof("listening on ") - 1);
  const auto connect = [&] { return grpc::CreateChannel(address, grpc::InsecureChannelCredentials()); };
  ServingClient client(connect());
  ASSERT_THAT(client.Store("many", MoleculeSchema(), BlockOf(ManyMolecules(50'000))), IsOk());
  const std::uint64_t before = client.GetServerInfo()->memory().used_bytes();

  v1::StreamBatchesRequest request;
  request.set_dataset("many");
  request.mutable_spec()->set_policy(v1::POLICY_STATIC);
  request.mutable_spec()->set_graphs(50'000);
  std::vector<std::unique_ptr<OpenStream>> streams;
  for (int k = 0; k < kStreams; ++k) {
    streams.push_back(std::make_unique<OpenStream>(connect(), request));
    ASSERT_TRUE(streams.back()->Read());
  }
  const std::uint64_t body = streams[0]->message().header().body_bytes();
  ASSERT_GT(body, 1 << 20);
  const std::uint64_t stated =
      kStreams * (2 * wire::BodyPool::CapacityOf(body) + batches::kStreamWindowBytes) + kDatasetAndPlans;
  for (int look = 0; look < 50; ++look) {
    const v1::MemoryUse memory = client.GetServerInfo()->memory();
    EXPECT_LE(memory.used_bytes(), before + stated);
    EXPECT_LE(memory.used_bytes(), memory.cap_bytes());
    EXPECT_LE(memory.process_rss_bytes(), memory.cap_bytes() + memory.cap_bytes() / 10);
  }
}

TEST_F(PacktraindTest, WrongUsageIsNamed) {
  struct Usage {
    std::vector<std::string> arguments;
    std::string message;
  };
  for (const Usage& usage :
       std::vector<Usage>{{{}, "--data"},
                          {{"--data", Data(), "--wrong"}, "--wrong"},
                          {{"--data=", "--listen", "127.0.0.1:0"}, "--data=: nothing stands behind the '='"},
                          {{"--data", Data(), "--builders", "many"}, "--builders"},
                          {{"--data", Data(), "--resident-bytes", "1G"},
                           "--resident-bytes: '1G' is no whole number from 0 to"},
                          {{"--data", Data(), "--idle-timeout", "soon"}, "'soon' is no number from 0.001"},
                          {{"--data", Data(), "--listen", "nowhere"}, "--listen"},
                          {{"--data", Data(), "--metrics-port", "http"}, "--metrics-port 'http'"},
                          {{"--data", Data(), "--log-format", "xml"}, "--log-format"},
                          {{"--data", Data(), "--log-level", "loud"}, "--log-level"},
                          {{"--data", Data(), "--listen", "0.0.0.0:0"}, "--insecure"},
                          {{"--data", Data(), "--idle-timeout", "0"}, "--idle-timeout"},
                          {{"--data", Data(), "--ping-after", "0"}, "--ping-after"},
                          {{"--data", Data(), "--ping-timeout", "never"}, "--ping-timeout"},
                          {{"--data", Data(), "--drain", "-1"}, "--drain"},
                          {{"--data", Data(), "--max-streams", "0"}, "--max-streams"}}) {
    Program program(usage.arguments);
    EXPECT_EQ(program.Wait(), 2);
    EXPECT_THAT(program.Stderr(), AllOf(StartsWith("packtraind: "), HasSubstr(usage.message)));
    EXPECT_FALSE(std::filesystem::exists(Data()));
  }
}

TEST_F(PacktraindTest, AFolderOfOtherFilesIsRefusedAndLeftAsItIs) {
  std::filesystem::create_directories(folder_ / "data" / "photos");
  Program program({"--data", Data(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_THAT(program.Stderr(), AllOf(HasSubstr(Data()), HasSubstr("new or empty")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "data" / "graphs"));
}

TEST_F(PacktraindTest, AFolderOfOtherFilesIsNoStoreWhateverItsName) {
  for (const char* const name : {"runs", "graphs"}) {
    const std::filesystem::path folder = folder_ / "data" / name;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "LOG") << "somebody else's";
    Program program({"--data", Data(), "--listen", "127.0.0.1:0"});
    EXPECT_EQ(program.Wait(), 1) << name;
    EXPECT_THAT(program.Stderr(), HasSubstr("new or empty"));
    EXPECT_THAT(std::vector<std::filesystem::path>(std::filesystem::directory_iterator(folder), {}), SizeIs(1));
    std::filesystem::remove_all(folder_ / "data");
  }
}

TEST_F(PacktraindTest, HelpAndVersionAreNoFailure) {
  Program help({"--help"});
  EXPECT_EQ(help.Wait(), 0);
  EXPECT_THAT(help.Stdout(), HasSubstr("--data"));
  Program version({"--version"});
  EXPECT_EQ(version.Wait(), 0);
}

}  // namespace
}  // namespace packtrain::testing
