// The main function of every test program: GoogleTest's, and a deadline for each test. One that waits for ever,
// for a lock, a thread or a server, ends its program with an error that names it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace {

constexpr unsigned kSecondsOfATest = 600;

// What the handler prints; written before the alarm is set.
std::string message;

void EndProgram(int) {
  if (write(STDERR_FILENO, message.data(), message.size()) < 0) std::_Exit(1);
  std::abort();
}

class Deadline final : public ::testing::EmptyTestEventListener {
 private:
  void OnTestStart(const ::testing::TestInfo& test) override {
    message = "FAILED: " + std::string(test.test_suite_name()) + "." + test.name() + " has not ended within " +
              std::to_string(kSecondsOfATest) + " s\n";
    alarm(kSecondsOfATest);
  }
  void OnTestEnd(const ::testing::TestInfo&) override { alarm(0); }
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  std::signal(SIGALRM, EndProgram);
  ::testing::UnitTest::GetInstance()->listeners().Append(new Deadline);  // which takes it
  return RUN_ALL_TESTS();
}
