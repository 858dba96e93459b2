#include "server/node/connection_meter.h"

#include <gmock/gmock.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/impl/codegen/rpc_method.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/node/file_descriptor.h"
#include "server/node/listener.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::node {
namespace {

using ::packtrain::testing::IsOk;
using ::testing::MatchesRegex;
using ::testing::Optional;

constexpr int kEnough = 1'000'000;

// Both ends of a connection over IPv4.
struct Connection {
  FileDescriptor client;
  FileDescriptor server;
  std::string peer;  // the server's, as gRPC writes it
};

Connection Connect() {
  Connection connection;
  const FileDescriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(name);
  auto* const generic = reinterpret_cast<sockaddr*>(&name);
  EXPECT_EQ(bind(listener.get(), generic, size), 0);
  EXPECT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(getsockname(listener.get(), generic, &size), 0);
  connection.client = FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(connection.client.get(), generic, size), 0);
  connection.server = FileDescriptor(accept4(listener.get(), generic, &size, SOCK_CLOEXEC));
  connection.peer = absl::StrCat("ipv4:127.0.0.1:", ntohs(name.sin_port));
  return connection;
}

void Send(const Connection& connection, std::size_t bytes) {
  ASSERT_EQ(send(connection.client.get(), std::string(bytes, 'x').data(), bytes, MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes));
}

void Read(const Connection& connection, std::size_t bytes) {
  ASSERT_EQ(recv(connection.server.get(), std::string(bytes, ' ').data(), bytes, MSG_WAITALL),
            static_cast<ssize_t>(bytes));
}

TEST(ConnectionMeterTest, CountsWhatWasReadOffAConnection) {
  const Connection connection = Connect();
  ConnectionMeter meter;
  meter.Add(connection.server.get());
  EXPECT_THAT(meter.BytesFrom(connection.peer), Optional(0));
  Send(connection, 10'000);
  EXPECT_THAT(meter.BytesFrom(connection.peer), Optional(0));
  Read(connection, 4'000);
  EXPECT_THAT(meter.BytesFrom(connection.peer), Optional(4'000));
  Read(connection, 6'000);
  EXPECT_THAT(meter.BytesFrom(connection.peer), Optional(10'000));
}

TEST(ConnectionMeterTest, KnowsNoConnectionThatWasClosedOrIsAnotherOne) {
  Connection connection = Connect();
  ConnectionMeter meter;
  EXPECT_EQ(meter.BytesFrom(connection.peer), std::nullopt);
  meter.Add(connection.server.get());
  const Connection other = Connect();
  // The descriptor now leads to the other connection, as where it was closed and is used again.
  ASSERT_GE(dup2(other.server.get(), connection.server.get()), 0);
  EXPECT_EQ(meter.BytesFrom(connection.peer), std::nullopt);
  EXPECT_EQ(meter.BytesFrom(other.peer), std::nullopt);
  meter.Add(connection.server.get());
  EXPECT_THAT(meter.BytesFrom(other.peer), Optional(0));
  connection.server.Close();
  EXPECT_EQ(meter.BytesFrom(other.peer), std::nullopt);
}

TEST(ConnectionMeterTest, DoesNotMeasureUnixSockets) {
  int pair[2] = {};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const FileDescriptor first(pair[0]);
  const FileDescriptor second(pair[1]);
  ConnectionMeter meter;
  meter.Add(first.get());
  EXPECT_EQ(meter.BytesFrom("unix:"), std::nullopt);
}

// Answers every call with what `meter` knows of its peer.
class MeteredService final : public grpc::CallbackGenericService {
 public:
  explicit MeteredService(const ConnectionMeter& meter) : meter_(meter) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    class Reactor final : public grpc::ServerGenericBidiReactor {
     public:
      void OnDone() override { delete this; }
    };
    const std::optional<std::uint64_t> bytes = meter_.BytesFrom(context->peer());
    auto* const reactor = new Reactor();
    reactor->Finish(grpc::Status(grpc::StatusCode::ABORTED, bytes ? absl::StrCat(*bytes) : context->peer()));
    return reactor;
  }

 private:
  const ConnectionMeter& meter_;
};

// What MeteredService answers over `address`, to a client that dials `host` [the one in `address`].
std::string BytesSeenBy(const std::string& address, const std::string& host = "") {
  ConnectionMeter meter;
  MeteredService service(meter);
  grpc::ServerBuilder builder;
  const auto acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  auto listener = Listener::Bind(*ListenAddress::Parse(address), std::chrono::seconds(20));
  if (!listener.ok()) return std::string(listener.status().message());
  EXPECT_THAT(
      (*listener)->Start(kEnough,
                         [&](int socket, FileDescriptor connection) {
                           meter.Add(connection.get());
                           grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters taken;
                           taken.listener_fd = socket;
                           taken.fd = connection.Release();
                           acceptor->HandleNewConnection(&taken);
                         }),
      IsOk());
  const std::string bound = (*listener)->address().ToString();
  const std::string dialled = host.empty() ? bound : host + bound.substr(bound.rfind(':'));
  const auto channel = grpc::CreateChannel(dialled, grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  const grpc::Slice nothing("");
  grpc::ByteBuffer response;
  const grpc::Status status = grpc::internal::BlockingUnaryCall(
      channel.get(), grpc::internal::RpcMethod("/a.B/C", grpc::internal::RpcMethod::NORMAL_RPC), &context,
      grpc::ByteBuffer(&nothing, 1), &response);
  listener->reset();
  server->Shutdown();
  return status.error_message();
}

TEST(ConnectionMeterTest, NamesPeersAsGrpcDoes) {
  for (const std::string address : {"127.0.0.1:0", "[::1]:0", "[::]:0"}) {
    const std::string seen = BytesSeenBy(address);
    if (seen.find("cannot listen") != std::string::npos) continue;  // a machine without IPv6
    EXPECT_THAT(seen, MatchesRegex("[1-9][0-9]*")) << address;
  }
}

TEST(ConnectionMeterTest, NamesPeersOverIpv4AsGrpcDoesWhereASocketOfIpv6TakesThem) {
  const std::string seen = BytesSeenBy("[::]:0", "127.0.0.1");
  if (seen.find("cannot listen") != std::string::npos) GTEST_SKIP() << "a machine without IPv6";
  EXPECT_THAT(seen, MatchesRegex("[1-9][0-9]*"));
}

}  // namespace
}  // namespace packtrain::node
