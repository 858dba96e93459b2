#include "server/node/listener.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "proto/base/mutex.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::node {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::packtrain::testing::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kEnough = 1'000'000;

absl::StatusOr<std::unique_ptr<Listener>> Bind(const std::string& address) {
  return Listener::Bind(*ListenAddress::Parse(address), std::chrono::seconds(20));
}

FileDescriptor ConnectTo(const Listener& listener) {
  FileDescriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(listener.address().port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int error = connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  return error == 0 ? std::move(client) : FileDescriptor();
}

// Blocks until the other side has sent something or closed; true where it has closed.
bool IsClosed(const FileDescriptor& client) {
  char byte = 0;
  return recv(client.get(), &byte, 1, 0) <= 0;
}

// Greets each connection and closes it.
void Greet(int, FileDescriptor connection) { send(connection.get(), "!", 1, MSG_NOSIGNAL); }

TEST(ListenerTest, HandsOverConnections) {
  const auto listener = Bind("127.0.0.1:0");
  ASSERT_THAT(listener, IsOk());
  EXPECT_NE((*listener)->address().port, 0);
  ASSERT_THAT((*listener)->Start(kEnough, Greet), IsOk());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(IsClosed(ConnectTo(**listener)));
}

TEST(ListenerTest, ConnectionsAreRefusedUntilItStarts) {
  const auto listener = Bind("127.0.0.1:0");
  ASSERT_THAT(listener, IsOk());
  EXPECT_FALSE(ConnectTo(**listener).valid());
}

// The number that the next descriptor will have.
int NextDescriptor() { return FileDescriptor(dup(STDOUT_FILENO)).get(); }

TEST(ListenerTest, ConnectionsBeyondTheLimitAreClosedUntilThereIsRoomAgain) {
  base::Mutex mutex;
  FileDescriptor held;
  const auto hold = [&](int, FileDescriptor connection) {
    base::MutexLock lock(mutex);
    send(connection.get(), "!", 1, MSG_NOSIGNAL);
    held = std::move(connection);
  };
  const auto listener = Bind("127.0.0.1:0");
  ASSERT_THAT(listener, IsOk());
  ASSERT_THAT((*listener)->Start(NextDescriptor() + 2, hold), IsOk());
  FileDescriptor first = ConnectTo(**listener);
  EXPECT_FALSE(IsClosed(first));
  EXPECT_TRUE(IsClosed(ConnectTo(**listener)));
  EXPECT_TRUE(IsClosed(ConnectTo(**listener)));
  first.Close();
  {
    base::MutexLock lock(mutex);
    held.Close();
  }
  EXPECT_FALSE(IsClosed(ConnectTo(**listener)));
}

TEST(ListenerTest, AnAddressThatIsTakenIsNamedWithTheReason) {
  const auto first = Bind("127.0.0.1:0");
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT((*first)->Start(kEnough, Greet), IsOk());
  const std::string address = (*first)->address().ToString();
  EXPECT_THAT(Bind(address).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(address), HasSubstr("in use"), HasSubstr("--listen"))));
}

TEST(ListenerTest, ALostRaceForAnAddressIsFoundAtTheStart) {
  const auto first = Bind("127.0.0.1:0");
  ASSERT_THAT(first, IsOk());
  const auto second = Bind((*first)->address().ToString());
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT((*first)->Start(kEnough, Greet), IsOk());
  EXPECT_THAT((*second)->Start(kEnough, Greet),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("in use")));
}

TEST(ListenerTest, AddressesThatThisMachineDoesNotHaveAreRefused) {
  for (const char* address : {"192.0.2.1:0", "no-such-host.invalid:0", "unix:/nonexistent/socket"}) {
    EXPECT_THAT(Bind(address).status(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(address)));
  }
  EXPECT_THAT(Bind("unix:/tmp/" + std::string(200, 'x')).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("longer than 107")));
}

TEST(ListenerTest, ABoundSocketIsNobodyElsesBeforeItStarts) {
  const TempFolder folder;
  const std::string path = folder.PathOf("socket");
  const auto first = Bind("unix:" + path);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(Bind("unix:" + path).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("in use")));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(ListenerTest, ASocketLeftBehindIsReplacedAndOtherFilesAreNot) {
  const TempFolder folder;
  const std::string path = folder.PathOf("socket");
  {
    FileDescriptor left(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, path.size());
    ASSERT_EQ(bind(left.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  }
  { EXPECT_THAT(Bind("unix:" + path), IsOk()); }
  EXPECT_FALSE(std::filesystem::exists(path));
  folder.Write("socket", "something else");
  EXPECT_THAT(Bind("unix:" + path).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("in use")));
  EXPECT_EQ(packtrain::testing::ReadFile(path), "something else");
}

}  // namespace
}  // namespace packtrain::node
