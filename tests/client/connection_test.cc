#include "client/connection.h"

#include <gmock/gmock.h>

#include <chrono>
#include <future>

#include "client/internal/channel.h"
#include "tests/client/scripted_services.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::InProcessServer;
using testing::IsOk;
using testing::OptionsFor;
using testing::ScriptedInfo;
using testing::ScriptedRuns;
using testing::StatusIs;

TEST(ServerAddress, KnowsFourForms) {
  for (const char* address : {"127.0.0.1:7077", "node-3:1", "[::1]:65535", "unix:/run/packtrain.sock",
                              "unix:relative", "dns:///data.example:7077", "ipv4:10.0.0.1:1,10.0.0.2:2"}) {
    EXPECT_THAT(CheckServerAddress(address), IsOk()) << address;
  }
}

TEST(ServerAddress, RefusesEverythingElse) {
  for (const char* address :
       {"", "localhost", ":7077", "host:", "host:0", "host:65536", "host:70a", "http://host:80", "a b:1",
        "::1:7077", "unix:", "dns:///host", "dns://host:1", "ipv4:", "ipv4:10.0.0.1:1,", "ipv4:10.0.0.1"}) {
    EXPECT_THAT(CheckServerAddress(address),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--server")))
        << address;
  }
}

TEST(Connection, OpensToAServerOfThisApi) {
  ScriptedInfo info;
  InProcessServer server({&info});
  const auto connection = Connection::Open(OptionsFor(server.address(), milliseconds(10'000)));
  ASSERT_THAT(connection, IsOk());
  EXPECT_EQ((*connection)->options().server, server.address());
}

TEST(Connection, RefusesABadAddressAtOnce) {
  EXPECT_THAT(Connection::Open(OptionsFor("nowhere", milliseconds(10'000))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nowhere")));
}

TEST(Connection, ExplainsAnotherApi) {
  ScriptedInfo info("v7");
  InProcessServer server({&info});
  EXPECT_THAT(Connection::Open(OptionsFor(server.address(), milliseconds(10'000))),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(server.address()), HasSubstr("\"v7\""), HasSubstr("9.9.9"))));
}

TEST(Connection, ExplainsAServerOfAnotherKind) {
  ScriptedRuns runs;
  InProcessServer server({&runs});
  EXPECT_THAT(Connection::Open(OptionsFor(server.address(), milliseconds(10'000))),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("does not speak")));
}

TEST(Connection, GivesUpOnAnAbsentServerNamingItTheTimeAndTheFlag) {
  ScriptedInfo info;
  InProcessServer server({&info});
  server.Shutdown();
  EXPECT_THAT(Connection::Open(OptionsFor(server.address(), milliseconds(200))),
              StatusIs(absl::StatusCode::kUnavailable,
                       AllOf(HasSubstr(server.address()), HasSubstr("0.2 s"), HasSubstr("--server"))));
}

TEST(Connection, WaitsForAServerThatIsStillStarting) {
  ScriptedInfo info;
  InProcessServer gone({&info});
  gone.Shutdown();
  auto connection = std::async(
      std::launch::async, [&] { return Connection::Open(OptionsFor(gone.address(), milliseconds(60'000))); });
  ScriptedInfo again;
  InProcessServer server({&again}, gone.port());
  EXPECT_THAT(connection.get(), IsOk());
}

}  // namespace
}  // namespace packtrain::client
