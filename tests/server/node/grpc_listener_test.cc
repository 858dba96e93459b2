// What gRPC 1.51's own listener gets wrong, shown on the library alone. A failure here says that the installed
// gRPC gets it right, and that server/node/listener can go.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "server/node/file_descriptor.h"

namespace packtrain::node {
namespace {

using std::chrono::milliseconds;

// Time enough to try; and for a later gRPC, which tries again after a second.
constexpr milliseconds kTry{1'000}, kTryAgain{3'000};

// No file can be opened in this process as long as this lives.
class NoFileLeft {
 public:
  NoFileLeft() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = FileDescriptor(dup(STDOUT_FILENO)).get();  // the number that the next descriptor has
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoFileLeft() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

FileDescriptor NewSocket() { return FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

bool Connect(const FileDescriptor& socket, int port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0;
}

// Whether the server takes the connection in time: then it speaks first.
bool IsTaken(const FileDescriptor& socket, milliseconds time) {
  pollfd wait = {.fd = socket.get(), .events = POLLIN, .revents = 0};
  return poll(&wait, 1, static_cast<int>(time.count())) == 1;
}

TEST(GrpcListener, IsDeafOnceItHasMetTheLimitOfOpenFiles) {
  grpc::CallbackGenericService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.RegisterCallbackGenericService(&service);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);

  const FileDescriptor before = NewSocket(), beyond = NewSocket(), after = NewSocket();
  ASSERT_TRUE(Connect(before, port));
  EXPECT_TRUE(IsTaken(before, kTryAgain));
  {
    const NoFileLeft limit;
    ASSERT_TRUE(Connect(beyond, port));
    EXPECT_FALSE(IsTaken(beyond, kTry));
  }
  ASSERT_TRUE(Connect(after, port));
  EXPECT_FALSE(IsTaken(after, kTryAgain));
  server->Shutdown(std::chrono::system_clock::now());
}

}  // namespace
}  // namespace packtrain::node
