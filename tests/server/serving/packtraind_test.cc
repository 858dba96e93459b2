// The program as its users meet it: first line, messages, exit codes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

extern char** environ;

namespace packtrain::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

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

  std::string FirstLine() {
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
    EXPECT_THAT(program.FirstLine(), MatchesRegex("listening on 127\\.0\\.0\\.1:[1-9][0-9]*"));
    program.Signal(signal);
    EXPECT_EQ(program.Wait(), 0);
    EXPECT_THAT(program.Stderr(), HasSubstr("stopped"));
  }
}

TEST_F(PacktraindTest, APortThatIsTakenEndsInOneLine) {
  Program first({"--data", Data(), "--listen", "127.0.0.1:0"});
  const std::string address = first.FirstLine().substr(sizeof("listening on ") - 1);
  Program second({"--data", Data("other"), "--listen", address});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_EQ(second.Stdout(), "");
  EXPECT_THAT(second.Stderr(), MatchesRegex("[^\n]*" + address + "[^\n]*in use[^\n]*\n"));
}

TEST_F(PacktraindTest, AStoreInUseIsNamedWithItsHolder) {
  Program first({"--data", Data(), "--listen", "127.0.0.1:0"});
  first.FirstLine();
  Program second({"--data", Data(), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_THAT(second.Stderr(), AllOf(HasSubstr(Data()), HasSubstr("in use by process")));
}

TEST_F(PacktraindTest, AKilledServerStartsAgainWithoutAHand) {
  Program first({"--data", Data(), "--listen", "127.0.0.1:0"});
  first.FirstLine();
  first.Signal(SIGKILL);
  EXPECT_EQ(first.Wait(), -1);
  Program second({"--data", Data(), "--listen", "127.0.0.1:0"});
  EXPECT_THAT(second.FirstLine(), HasSubstr("listening on"));
}

TEST_F(PacktraindTest, WrongUsageIsNamed) {
  struct Usage {
    std::vector<std::string> arguments;
    std::string message;
  };
  for (const Usage& usage : std::vector<Usage>{{{}, "--data"},
                                               {{"--data", Data(), "--wrong"}, "--wrong"},
                                               {{"--data", Data(), "--builders", "many"}, "--builders"},
                                               {{"--data", Data(), "--listen", "nowhere"}, "--listen"},
                                               {{"--data", Data(), "--listen", "0.0.0.0:0"}, "--insecure"},
                                               {{"--data", Data(), "--max-streams", "0"}, "--max-streams"}}) {
    Program program(usage.arguments);
    EXPECT_EQ(program.Wait(), 2);
    EXPECT_THAT(program.Stderr(), HasSubstr(usage.message));
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
