#include "tests/testing/test_server.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <stdlib.h>

#include <system_error>
#include <utility>

#include "server/node/server.h"

namespace packtrain::testing {
namespace {

absl::StatusOr<std::filesystem::path> NewFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "packtrain-test-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) return absl::UnavailableError("cannot make a folder for the test");
  return std::filesystem::path(path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TestServer>> TestServer::Start(node::ServerOptions options) {
  absl::StatusOr<std::filesystem::path> folder = NewFolder();
  if (!folder.ok()) return folder.status();
  options.data = *folder;
  if (options.listen == node::ServerOptions().listen) options.listen = "127.0.0.1:0";
  std::unique_ptr<TestServer> server(new TestServer(std::move(options)));
  if (absl::Status status = server->StartAgain(); !status.ok()) return status;
  return server;
}

TestServer::TestServer(node::ServerOptions options) : options_(std::move(options)) {}

TestServer::~TestServer() {
  server_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(options_.data, ignored);
}

const std::string& TestServer::address() const { return server_->address(); }

std::shared_ptr<grpc::Channel> TestServer::NewChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address(), grpc::InsecureChannelCredentials(), arguments);
}

void TestServer::Stop() { server_.reset(); }

absl::Status TestServer::StartAgain() {
  server_.reset();
  absl::StatusOr<std::unique_ptr<node::Server>> server = node::Server::Start(options_);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

absl::Status TestServer::StartAgain(node::ServerOptions options) {
  options.data = options_.data;
  options.listen = options_.listen;
  options_ = std::move(options);
  return StartAgain();
}

}  // namespace packtrain::testing
