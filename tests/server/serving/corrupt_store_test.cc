// What a whole server serves where a byte of its store is damaged.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/server/serving/serving_client.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_server.h"

namespace packtrain::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint32_t kMolecules = 2000;

std::filesystem::path LargestTable(const std::filesystem::path& folder) {
  std::filesystem::path largest;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".sst") continue;
    if (largest.empty() || entry.file_size() > file_size(largest)) largest = entry.path();
  }
  return largest;
}

// In the middle of its records.
void FlipAByte(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(file_size(path) / 3));
  const char flipped = static_cast<char>(file.peek() ^ 0x10);
  file.write(&flipped, 1);
}

class CorruptStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    node::ServerOptions options;
    auto server = TestServer::Start(options);
    ASSERT_THAT(server, IsOk());
    server_ = *std::move(server);
    ASSERT_THAT(client().Store("molecules", MoleculeSchema(), BlockOf(ManyMolecules(kMolecules))), IsOk());
    whole_ = client().Stream(Request(v1::ON_CORRUPT_STOP));
    server_->Stop();
    FlipAByte(LargestTable(server_->data() / "graphs"));
    ASSERT_THAT(server_->StartAgain(), IsOk());
  }

  ServingClient client() const { return ServingClient(server_->NewChannel()); }

  static v1::StreamBatchesRequest Request(v1::OnCorrupt on_corrupt) {
    v1::StreamBatchesRequest request;
    request.set_dataset("molecules");
    request.mutable_spec()->set_policy(v1::POLICY_DYNAMIC);
    request.mutable_spec()->set_graphs(7);
    request.set_epochs(1);
    request.set_on_corrupt(on_corrupt);
    return request;
  }

  std::unique_ptr<TestServer> server_;
  ReceivedStream whole_;
};

TEST_F(CorruptStoreTest, AStreamThatSkipsHasEveryBatchAndListsTheGraphsItLacks) {
  const ReceivedStream stream = client().Stream(Request(v1::ON_CORRUPT_SKIP));
  ASSERT_THAT(stream.status, IsOk());
  ASSERT_THAT(stream.batches, SizeIs(whole_.batches.size()));
  std::set<std::uint64_t> corrupt;
  for (std::size_t k = 0; k < stream.batches.size(); ++k) {
    const wire::BatchHeader &header = stream.batches[k].batch.header(),
                            &whole = whole_.batches[k].batch.header();
    EXPECT_EQ(header.padded, whole.padded);
    EXPECT_EQ(header.fingerprint, whole.fingerprint);
    EXPECT_EQ(header.real.graphs + header.corrupt_graphs.size(), whole.real.graphs);
    if (header.corrupt_graphs.empty()) {
      EXPECT_EQ(stream.batches[k].body(), whole_.batches[k].body());
    }
    std::vector<std::uint64_t> planned = stream.batches[k].graphs();
    planned.insert(planned.end(), header.corrupt_graphs.begin(), header.corrupt_graphs.end());
    std::vector<std::uint64_t> all = whole_.batches[k].graphs();
    std::sort(planned.begin(), planned.end());
    std::sort(all.begin(), all.end());
    EXPECT_THAT(planned, ElementsAreArray(all));
    corrupt.insert(header.corrupt_graphs.begin(), header.corrupt_graphs.end());
  }
  EXPECT_THAT(corrupt, AllOf(Not(IsEmpty()), SizeIs(::testing::Lt(100))));
}

TEST_F(CorruptStoreTest, StreamsThatSkipAreEqualHereAndAfterARestart) {
  const std::string bytes = client().Stream(Request(v1::ON_CORRUPT_SKIP)).bytes();
  EXPECT_EQ(client().Stream(Request(v1::ON_CORRUPT_SKIP)).bytes(), bytes);
  ASSERT_THAT(server_->StartAgain(), IsOk());
  EXPECT_EQ(client().Stream(Request(v1::ON_CORRUPT_SKIP)).bytes(), bytes);
}

TEST_F(CorruptStoreTest, AStreamThatStopsNamesDataSetGraphAndFlag) {
  for (const v1::OnCorrupt on_corrupt : {v1::ON_CORRUPT_UNSPECIFIED, v1::ON_CORRUPT_STOP}) {
    EXPECT_THAT(
        client().Stream(Request(on_corrupt)).status,
        StatusIs(absl::StatusCode::kDataLoss,
                 AllOf(HasSubstr("data set molecules@"), HasSubstr("graph "), HasSubstr("--on-corrupt skip"))));
  }
}

TEST_F(CorruptStoreTest, AnUnknownPolicyIsRefused) {
  EXPECT_THAT(client().Stream(Request(static_cast<v1::OnCorrupt>(9))).status,
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("on_corrupt = 9 is not known")));
}

}  // namespace
}  // namespace packtrain::testing
