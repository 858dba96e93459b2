#include <gmock/gmock.h>

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>

#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"
#include "tests/client/cli/run_line.h"
#include "tests/client/scripted_services.h"
#include "tests/testing/temp_file.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using testing::Printed;
using testing::RunLine;

constexpr char kThree[] = "1\nid=a\nC 1 2 3\n1\nid=b\nH 1 2 3\n1\nid=c\nO 1 2 3\n";

// Imports kThree to a server whose next answers are those.
class BusyServerTest : public ::testing::Test {
 protected:
  Printed ImportFrom(const std::string& path, const std::string& give_up) {
    return RunLine(
        {"import", "extxyz", path, "--name", "mols", "--server", server_.address(), "--give-up", give_up});
  }

  testing::TempFolder folder_;
  const std::string file_ = folder_.Write("m.xyz", kThree);
  testing::ScriptedInfo info_;
  testing::ScriptedDatasets datasets_;
  testing::InProcessServer server_{{&info_, &datasets_}};
};

TEST_F(BusyServerTest, AnImportBeginsAgainWhereTheServerHasNoMemoryForItYet) {
  datasets_.AnswerWith({testing::NoMemoryYet(), testing::NoMemoryYet()});
  const Printed printed = ImportFrom(file_, "60");
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr("begins again"));
  EXPECT_THAT(printed.out, HasSubstr("stored 3 of 3 graphs"));
  EXPECT_EQ(datasets_.calls(), 4);  // three imports and a seal
}

TEST_F(BusyServerTest, AnImportBeginsAgainWhereTheServerWasLostOrForgotIt) {
  using enum grpc::StatusCode;
  const grpc::Status forgotten =
      base::ToGrpcStatus(base::WithReason(absl::NotFoundError("no such import"), "IMPORT_NOT_FOUND"));
  const grpc::Status reset(RESOURCE_EXHAUSTED, "Received RST_STREAM with error code 11");
  datasets_.AnswerWith(
      {grpc::Status(UNAVAILABLE, "GOAWAY received"), grpc::Status::OK, forgotten, grpc::Status::OK, reset});
  const Printed printed = ImportFrom(file_, "60");
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(datasets_.calls(), 7);  // four imports and three seals
}

TEST_F(BusyServerTest, ASealThatIsRefusedIsAskedForAgainWithoutTheImport) {
  datasets_.AnswerWith({grpc::Status::OK, testing::NoMemoryYet(), testing::NoMemoryYet()});
  EXPECT_EQ(ImportFrom(file_, "60").exit_code, 0);
  EXPECT_EQ(datasets_.calls(), 4);  // an import and three seals
}

TEST_F(BusyServerTest, AnImportIsGivenUpInTheEnd) {
  datasets_.AnswerWith({testing::NoMemoryYet()});
  const Printed printed = ImportFrom(file_, "0");
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.err, HasSubstr("come again"));
}

TEST_F(BusyServerTest, WhatAPipeGivesIsImportedOnce) {
  const std::string pipe = folder_.PathOf("pipe.xyz");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&pipe] { std::ofstream(pipe) << kThree; });
  datasets_.AnswerWith({testing::NoMemoryYet()});
  EXPECT_EQ(ImportFrom(pipe, "60").exit_code, 1);
  writer.join();
  EXPECT_EQ(datasets_.calls(), 1);
}

}  // namespace
}  // namespace packtrain::cli
