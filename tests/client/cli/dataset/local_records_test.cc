#include "client/ingest/local_records.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/dataset/server_sink.h"
#include "client/ingest/formats/format_table.h"
#include "client/ingest/import_pipeline.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::StatusIs;
using testing::TestServer;

constexpr char kSample[] = PACKTRAIN_TEST_DATA "/qm9/qm9_sample.xyz.gz";

// Imports with records made here or by the server.
class LocalRecordsTest : public ::testing::Test {
 protected:
  LocalRecordsTest() { global_.server = server_->address(); }

  absl::StatusOr<std::string> Version(ingest::ImportOptions options, bool locally) {
    Output output(said_, said_, OutputFormat::kText);
    ServerSink server(global_, std::nullopt, GoOn::kNo, output);
    ingest::LocalRecords records(server);
    ingest::ImportPipeline pipeline(*ingest::FindFormat("extxyz"), std::move(options));
    std::ostringstream progress;
    const absl::StatusOr<v1::ImportGraphsResponse> staged =
        pipeline.Run(locally ? static_cast<ingest::BlockSink&>(records) : server, {progress});
    ledger_ = pipeline.ledger();
    if (!staged.ok()) return staged.status();
    const absl::StatusOr<v1::SealDatasetResponse> sealed = server.Seal(pipeline.SealRequest(*staged, "mols"));
    if (!sealed.ok()) return sealed.status();
    return sealed->dataset().version();
  }
  ingest::ImportOptions OptionsFor(const std::string& path) {
    ingest::ImportOptions options;
    options.paths = {path};
    return options;
  }

  testing::TempFolder folder_;
  const std::unique_ptr<TestServer> server_ = TestServer::Start().value();
  GlobalOptions global_;
  std::ostringstream said_;
  ingest::Ledger ledger_;
};

TEST_F(LocalRecordsTest, VersionIsThatOfRecordsMadeByTheServer) {
  for (const char* edges : {"full", "radius:5", "knn:12"}) {
    ingest::ImportOptions options = OptionsFor(kSample);
    options.edges = edges;
    EXPECT_EQ(Version(options, /*locally=*/true).value(), Version(options, /*locally=*/false).value()) << edges;
  }
}

TEST_F(LocalRecordsTest, VersionIsThatOfRecordsRenumberedByTheServer) {
  ingest::ImportOptions options = OptionsFor(kSample);
  options.edges = "knn:3";
  const std::string as_read = Version(options, /*locally=*/true).value();
  options.renumber = v1::RENUMBERING_RCM;
  const std::string renumbered = Version(options, /*locally=*/true).value();
  EXPECT_EQ(renumbered, Version(options, /*locally=*/false).value());
  EXPECT_NE(renumbered, as_read);
}

TEST_F(LocalRecordsTest, FullEdgesAreNotRenumberedByAnybody) {
  ingest::ImportOptions options = OptionsFor(kSample);
  options.renumber = v1::RENUMBERING_RCM;
  for (const bool locally : {true, false}) {
    EXPECT_THAT(Version(options, locally), StatusIs(absl::StatusCode::kInvalidArgument,
                                                    HasSubstr("--renumber rcm: edges 'full' are not stored")));
  }
}

TEST_F(LocalRecordsTest, RefusedGraphsAreThoseThatTheServerRefuses) {
  const std::string crystal = "1\nid=c Lattice=\"4 0 0 0 4 0 0 4 0\"\nC 1 2 3\n";
  const std::string cluster = "1\nid=a Lattice=\"4 0 0 0 4 0 0 0 4\" pbc=\"F F F\"\nC 1 2 3\n";
  ingest::ImportOptions options = OptionsFor(folder_.Write("m.xyz", cluster + crystal + cluster));
  options.edges = "knn:12";
  options.skip_refused = true;
  const std::string version = Version(options, /*locally=*/false).value();
  for (const bool locally : {true, false}) {
    EXPECT_EQ(Version(options, locally).value(), version);
    EXPECT_THAT(ledger_.refused_by_reason(), ElementsAre(Pair("bad_cell", 1), Pair("duplicate_id", 1)));
    EXPECT_EQ(ledger_.refused()[0].origin, (ingest::Origin{options.paths[0], "frame", 2, 4}));
    EXPECT_EQ(ledger_.refused()[0].id, "c");
  }
}

// Refuses records by their positions.
class RefusingSink : public ingest::BlockSink {
 public:
  explicit RefusingSink(std::vector<std::uint64_t> positions) : positions_(std::move(positions)) {}

  absl::Status Begin(const v1::ImportHeader&) override { return absl::OkStatus(); }
  absl::Status Write(ingest::Block block) override {
    received_ += static_cast<std::uint64_t>(std::get<v1::RecordBlock>(block).records_size());
    return absl::OkStatus();
  }
  absl::StatusOr<v1::ImportGraphsResponse> Finish() override {
    v1::ImportGraphsResponse response;
    response.set_received(received_);
    response.set_staged(received_ - positions_.size());
    for (const std::uint64_t position : positions_) response.add_refused()->set_position(position);
    (*response.mutable_refused_by_reason())["other"] = positions_.size();
    return response;
  }

 private:
  const std::vector<std::uint64_t> positions_;
  std::uint64_t received_ = 0;
};

TEST_F(LocalRecordsTest, PositionsOfBothPlacesCountAllGraphs) {
  std::string text;
  for (const char* id : {"a", "a", "b", "c", "c", "c", "d", "e"})
    text += absl::StrCat("1\nid=", id, "\nC 1 2 3\n");
  ingest::ImportOptions options = OptionsFor(folder_.Write("m.xyz", text));
  options.skip_refused = true;
  RefusingSink other({0, 2, 4});
  ingest::LocalRecords records(other);
  ingest::ImportPipeline pipeline(*ingest::FindFormat("extxyz"), std::move(options));
  std::ostringstream progress;
  const v1::ImportGraphsResponse response = pipeline.Run(records, {progress}).value();
  std::vector<std::uint64_t> positions;
  for (const v1::RefusedGraph& graph : response.refused()) positions.push_back(graph.position());
  EXPECT_THAT(positions, ElementsAre(0, 1, 3, 4, 5, 7));
  EXPECT_EQ(response.received(), 8u);
  EXPECT_EQ(response.staged(), 2u);
}

TEST_F(LocalRecordsTest, RepeatedIdsAreNumberedAlike) {
  ingest::ImportOptions options =
      OptionsFor(folder_.Write("m.xyz", "1\nid=a\nC 1 2 3\n1\nid=a\nH 1 2 3\n1\nid=b\nH 1 2 3\n"));
  options.number_duplicates = true;
  EXPECT_EQ(Version(options, /*locally=*/true).value(), Version(options, /*locally=*/false).value());
}

TEST_F(LocalRecordsTest, FirstRefusedGraphStopsTheImport) {
  const ingest::ImportOptions options =
      OptionsFor(folder_.Write("m.xyz", "1\nid=a\nC 1 2 3\n1\nid=a\nH 1 2 3\n"));
  EXPECT_THAT(Version(options, /*locally=*/true),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("m.xyz:4: frame 2 (a): the source id")));
}

}  // namespace
}  // namespace packtrain::cli
