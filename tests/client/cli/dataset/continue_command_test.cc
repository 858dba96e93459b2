// packtrain import --continue
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/dataset/import_flags.h"
#include "client/cli/dataset/server_sink.h"
#include "client/connection.h"
#include "client/ingest/formats/format_table.h"
#include "client/ingest/import_identity.h"
#include "client/ingest/import_pipeline.h"
#include "client/internal/service_client.h"
#include "proto/base/status_macros.h"
#include "tests/client/cli/run_line.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Printed;
using testing::ReadFile;
using testing::RunLine;
using testing::StatusIs;
using testing::TestServer;

// Sends an import like the command, and breaks off.
class BreakingSink : public ingest::BlockSink {
 public:
  // In the reading of this number, from 1, behind so many blocks.
  BreakingSink(std::shared_ptr<client::Connection> connection, v1::ImportIdentity identity, int reading,
               int blocks)
      : connection_(std::move(connection)),
        identity_(std::move(identity)),
        readings_left_(reading),
        blocks_left_(blocks) {}

  absl::Status Begin(const v1::ImportHeader& header) override {
    if (stream_ != nullptr) stream_->Drop();
    --readings_left_;
    v1::ImportHeader sent = header;
    *sent.mutable_identity() = identity_;
    ABSL_ASSIGN_OR_RETURN(stream_, client::ImportStream::Open(connection_, sent));
    return absl::OkStatus();
  }
  absl::Status Write(ingest::Block block) override {
    if (readings_left_ == 0 && blocks_left_-- == 0) return absl::CancelledError("broken off");
    return SendBlock(std::move(block), *stream_);
  }
  absl::StatusOr<v1::ImportGraphsResponse> Finish() override { return stream_->Finish(); }

 private:
  const std::shared_ptr<client::Connection> connection_;
  const v1::ImportIdentity identity_;
  int readings_left_;
  int blocks_left_;
  std::unique_ptr<client::ImportStream> stream_;
};

// Single atoms, of which a block holds some thousands.
std::string Frames(int count, const std::string& comment = "") {
  std::string text;
  for (int frame = 0; frame < count; ++frame) {
    text += "1\nid=g" + std::to_string(frame) + comment + "\nC 1 2 " + std::to_string(frame % 97) + "\n";
  }
  return text;
}

class ContinueCommandTest : public ::testing::Test {
 protected:
  std::vector<std::string> Line(const std::vector<std::string>& flags, const std::string& name = "mols") const {
    std::vector<std::string> line = {"import", "extxyz", file_, "--name", name};
    line.insert(line.end(), flags.begin(), flags.end());
    return line;
  }

  Printed Import(const std::vector<std::string>& flags, const std::string& name = "mols") const {
    std::vector<std::string> line = Line(flags, name);
    line.insert(line.end(), {"--json", "--server", server_->address()});
    return RunLine(std::move(line));
  }

  // Breaks off the import of Line(flags) in its reading of this number, behind so many blocks.
  void BreakOff(const std::vector<std::string>& flags, int reading, int blocks) {
    CLI::App app;
    ImportFlags parsed;
    AddImportFlags(app, ingest::Formats(), parsed);
    std::vector<std::string> words = Line(flags);
    std::reverse(words.begin(), words.end());
    words.pop_back();  // import
    app.parse(std::move(words));
    const ingest::Format& format = *ingest::FindFormat("extxyz");
    const ingest::ImportOptions options = ImportOptionsOf(parsed, {});
    const auto identified = ingest::IdentifyImport(format, options, parsed.name);
    ASSERT_TRUE(identified.ok()) << identified.status();
    client::ConnectionOptions connecting;
    connecting.server = server_->address();
    {
      BreakingSink sink(*client::Connection::Open(connecting), identified->identity, reading, blocks);
      ingest::ImportPipeline pipeline(format, options);
      std::ostringstream progress;
      ASSERT_THAT(pipeline.Run(sink, {progress}), StatusIs(absl::StatusCode::kCancelled));
    }
    // The server finds the client gone soon.
    ASSERT_TRUE(testing::Eventually([this] { return Kept() == 1; }));
  }

  int Kept() const {
    return RunLine({"server", "info", "--server", server_->address(), "--json"}).Json()["disk"]["kept_imports"];
  }

  testing::TempFolder folder_;
  std::string file_ = folder_.Write("m.xyz", Frames(60'000));
  std::unique_ptr<TestServer> server_ = TestServer::Start().value();
};

TEST_F(ContinueCommandTest, AnImportThatBrokeOffGoesOnAndGivesTheVersionOfAWholeOne) {
  BreakOff({}, 1, 2);
  const Printed printed = Import({"--continue", "--split-permille", "800,100,100"});
  ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
  const nlohmann::json result = printed.Json();
  EXPECT_GT(result["continued_at"], 1'000);
  EXPECT_LT(result["continued_at"], 60'000);
  EXPECT_EQ(result["read"], 60'000);
  EXPECT_EQ(result["stored"], 60'000);
  EXPECT_THAT(printed.err, HasSubstr("goes on behind "));
  EXPECT_EQ(Kept(), 0);
  const nlohmann::json whole = Import({"--split-permille", "800,100,100"}, "whole").Json();
  EXPECT_EQ(result["version"], whole["version"]);
  EXPECT_EQ(whole["continued_at"], 0);
}

TEST_F(ContinueCommandTest, ItGoesOnAfterARestartOfTheServer) {
  BreakOff({"--edges", "radius:3"}, 1, 2);
  ASSERT_THAT(server_->StartAgain(), testing::IsOk());
  EXPECT_EQ(Kept(), 1);
  const nlohmann::json result = Import({"--edges", "radius:3", "--continue"}).Json();
  EXPECT_GT(result["continued_at"], 1'000);
  EXPECT_EQ(result["version"], Import({"--edges", "radius:3"}, "whole").Json()["version"]);
}

TEST_F(ContinueCommandTest, RefusedGraphsLabelsAndTheLedgerAreThoseOfTheWholeInput) {
  const std::string half = Frames(30'000, " e=1 name=x");
  file_ = folder_.Write(
      "m.xyz", "1\nid=bad e=1 name=x\nC nan 2 3\n" + half + half + "1\nid=late e=1 name=x\nC 1 2 inf\n");
  const std::vector<std::string> flags = {"--on-error", "skip"};
  BreakOff(flags, 1, 3);
  const std::string ledger = folder_.PathOf("ledger"), whole_ledger = folder_.PathOf("whole");
  const Printed printed = Import({"--on-error", "skip", "--continue", "--ledger", ledger});
  const Printed whole = Import({"--on-error", "skip", "--ledger", whole_ledger}, "whole");
  ASSERT_EQ(printed.exit_code, 4) << printed.out << printed.err;
  ASSERT_EQ(whole.exit_code, 4);
  EXPECT_GT(printed.Json()["continued_at"], 1'000);
  for (const char* key : {"version", "read", "stored", "refused", "refused_by_reason", "labels"}) {
    EXPECT_EQ(printed.Json()[key], whole.Json()[key]) << key;
  }
  EXPECT_EQ(printed.Json()["refused"], 30'002);
  EXPECT_EQ(ReadFile(ledger), ReadFile(whole_ledger));
}

// The last frame shows that 'a' is no target: everything is read again, and what is kept is of that reading.
TEST_F(ContinueCommandTest, AnImportThatBrokeOffInItsSecondReadingGoesOnInThat) {
  file_ = folder_.Write("m.xyz", Frames(60'000, " a=1 b=2") + "1\nid=last b=2\nC 1 2 3\n");
  BreakOff({}, 2, 2);
  const Printed printed = Import({"--continue"});
  ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
  EXPECT_THAT(printed.err, AllOf(HasSubstr("reads everything again"), HasSubstr("goes on behind")));
  EXPECT_GT(printed.Json()["continued_at"], 1'000);
  EXPECT_EQ(printed.Json()["version"], Import({}, "whole").Json()["version"]);
}

TEST_F(ContinueCommandTest, AnImportThatBrokeOffInAReadingThatWasWrongBeginsAnewWhereThatShows) {
  file_ = folder_.Write("m.xyz", Frames(60'000, " a=1 b=2") + "1\nid=last b=2\nC 1 2 3\n");
  BreakOff({}, 1, 2);
  const Printed printed = Import({"--continue"});
  ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
  EXPECT_EQ(printed.Json()["continued_at"], 0);
  EXPECT_EQ(printed.Json()["version"], Import({}, "whole").Json()["version"]);
  EXPECT_EQ(Kept(), 0);
}

TEST_F(ContinueCommandTest, PartsThatAreJoinedGoOn) {
  const std::string part = folder_.PathOf("m.packtrain");
  ASSERT_EQ(RunLine({"import", "extxyz", file_, "-o", part}).exit_code, 0);
  EXPECT_EQ(RunLine({"import", "native", part, part, "--duplicate-ids", "number", "--name", "mols",
                     "--continue", "--server", server_->address(), "--json"})
                .Json()["stored"],
            120'000);
}

TEST_F(ContinueCommandTest, AnotherOptionOrFileIsToldAndRefused) {
  BreakOff({}, 1, 2);
  const Printed printed = Import({"--continue", "--edges", "radius:3"});
  EXPECT_EQ(printed.exit_code, 1);
  const std::string message = printed.Json()["error"]["message"];
  EXPECT_THAT(message, AllOf(HasSubstr("--edges is radius:3, was not given"), HasSubstr("without --continue")));
  folder_.Write("m.xyz", Frames(50'000));
  const Printed changed = Import({"--continue"});
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_THAT(changed.Json()["error"]["message"].get<std::string>(), HasSubstr("m.xyz has changed"));
  EXPECT_EQ(Kept(), 1);
  EXPECT_EQ(Import({}).exit_code, 0);
}

TEST_F(ContinueCommandTest, WhereNothingIsKeptItSaysSoAndBeginsAnew) {
  const Printed printed = Import({"--continue"});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.err, HasSubstr("nothing to go on with: the server keeps no import of mols"));
  EXPECT_EQ(printed.Json()["stored"], 60'000);
  EXPECT_EQ(printed.Json()["continued_at"], 0);
}

TEST_F(ContinueCommandTest, AServerThatKeepsNothingIsToldToo) {
  node::ServerOptions options;
  options.keep_staged = std::chrono::milliseconds(0);
  server_ = TestServer::Start(options).value();
  EXPECT_THAT(Import({"--continue"}).err, HasSubstr("nothing to go on with"));
}

TEST_F(ContinueCommandTest, AnImportThatBeginsAnewDropsWhatIsKept) {
  BreakOff({}, 1, 2);
  const Printed printed = Import({});
  EXPECT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.err, Not(HasSubstr("goes on")));
  EXPECT_EQ(Kept(), 0);
}

TEST_F(ContinueCommandTest, AnImportThatABadGraphEndsLeavesNothing) {
  file_ = folder_.Write("m.xyz", Frames(30'000) + "1\nid=bad\nC nan 2 3\n");
  EXPECT_EQ(Import({}).exit_code, 1);
  EXPECT_EQ(Kept(), 0);
  file_ = folder_.Write("m.xyz", Frames(30'000) + Frames(1));  // whose id came before, as the server finds
  EXPECT_EQ(Import({}).exit_code, 1);
  EXPECT_EQ(Kept(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(server_->data() / "graphs" / "staging"));
}

TEST_F(ContinueCommandTest, WhatCannotGoOnIsRefusedByName) {
  const std::string pipe = folder_.PathOf("pipe.xyz");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Printed from_pipe = RunLine({"import", "extxyz", pipe, "--name", "mols", "--continue"});
  EXPECT_EQ(from_pipe.exit_code, 2);
  EXPECT_THAT(from_pipe.err, AllOf(HasSubstr("--continue"), HasSubstr("pipe.xyz")));
  const Printed part = RunLine({"import", "extxyz", file_, "-o", folder_.PathOf("part"), "--continue"});
  EXPECT_EQ(part.exit_code, 2);
  EXPECT_THAT(part.err, HasSubstr("--continue is for an import to a server, not for a part"));
  const Printed nameless = RunLine({"import", "native", file_, "--continue"});
  EXPECT_EQ(nameless.exit_code, 2);
  EXPECT_THAT(nameless.err, HasSubstr("--continue needs --name"));
}

}  // namespace
}  // namespace packtrain::cli
