// A whole server in the test's own process.
#ifndef PACKTRAIN_TESTS_TESTING_TEST_SERVER_H_
#define PACKTRAIN_TESTS_TESTING_TEST_SERVER_H_

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/node/server_options.h"

namespace grpc {
class Channel;
}
namespace packtrain::node {
class Server;
}

namespace packtrain::testing {

// Real stores in a folder of its own, which goes with it, and a port that was free. Used by one thread. Its
// header is free of protobuf and gRPC.
class TestServer {
 public:
  // `data`, and `listen` where it is the default, are chosen here.
  static absl::StatusOr<std::unique_ptr<TestServer>> Start(node::ServerOptions options = {});
  ~TestServer();

  // HOST:PORT.
  const std::string& address() const;
  const std::filesystem::path& data() const { return options_.data; }
  node::Server& server() { return *server_; }
  // A channel of its own to the server.
  std::shared_ptr<grpc::Channel> NewChannel() const;

  // Stops without patience; the folder stays.
  void Stop();
  // Serves the same folder again, on another port and with other options where given.
  absl::Status StartAgain();
  absl::Status StartAgain(node::ServerOptions options);

 private:
  explicit TestServer(node::ServerOptions options);

  node::ServerOptions options_;
  std::unique_ptr<node::Server> server_;
};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_TEST_SERVER_H_
