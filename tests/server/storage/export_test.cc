#include "server/storage/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/storage/import_session.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::BlockOf;
using ::packtrain::testing::FakeGraphStore;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kPlenty = 64 << 20;

v1::ImportHeader Header(const char* edges) {
  v1::ImportHeader header;
  *header.mutable_schema() = MoleculeSchema();
  header.mutable_schema()->set_edges(edges);
  header.mutable_schema()->set_edge_rule(v1::EDGE_RULE_STORED);
  header.set_build_edges(true);
  return header;
}

class ExportTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Dataset> ImportWithEdges(std::span<const Molecule> molecules) {
    auto session = ImportSession::Begin(store_, Header("radius:1.2")).value();
    EXPECT_THAT(session->Add(BlockOf(molecules)), IsOk());
    EXPECT_THAT(session->TakeWriter()->Seal(SealWithFractions("molecules", 800, 0, 200, 1)), IsOk());
    return store_.Open("molecules").value();
  }

  std::vector<v1::ExportDatasetResponse> Export(const Dataset& dataset, bool as_columns,
                                                std::uint64_t max_message_bytes = kPlenty,
                                                std::uint64_t first_graph = 0) {
    std::vector<v1::ExportDatasetResponse> messages;
    v1::ExportDatasetRequest request;
    request.set_as_columns(as_columns);
    request.set_first_graph(first_graph);
    EXPECT_THAT(ExportDataset(dataset, request, max_message_bytes,
                              [&](const v1::ExportDatasetResponse& message) {
                                EXPECT_LE(message.ByteSizeLong(), max_message_bytes);
                                messages.push_back(message);
                                return absl::OkStatus();
                              }),
                IsOk());
    return messages;
  }

  FakeGraphStore store_;
};

TEST_F(ExportTest, ImportedAgainIsTheSameVersion) {
  const auto dataset = ImportWithEdges(ManyMolecules(50));
  for (const bool as_columns : {false, true}) {
    v1::ImportHeader header = Header("radius:1.2");
    header.set_build_edges(false);
    auto session = ImportSession::Begin(store_, header).value();
    v1::SealDatasetRequest seal = SealAs("copy");
    seal.mutable_by_index();
    seal.set_expected_version(dataset->description().version());
    const auto messages = Export(*dataset, as_columns);
    EXPECT_EQ(messages.front().header().dataset().SerializeAsString(),
              dataset->description().SerializeAsString());
    EXPECT_EQ(messages.back().end().graphs(), 50u);
    for (const v1::ExportDatasetResponse& message : messages) {
      const absl::Status added =
          message.has_columns() ? session->Add(message.columns()) : session->Add(message.block());
      ASSERT_THAT(added, IsOk());
      auto& split = *seal.mutable_by_index();
      if (message.split().split() == "train") split.mutable_train()->MergeFrom(message.split().graphs());
      if (message.split().split() == "test") split.mutable_test()->MergeFrom(message.split().graphs());
    }
    EXPECT_EQ(session->response().staged(), 50u);
    EXPECT_THAT(session->TakeWriter()->Seal(seal), IsOk());
  }
}

TEST_F(ExportTest, OneThatWasBrokenOffGoesOnAtAnyGraph) {
  const auto dataset = ImportWithEdges(ManyMolecules(50));
  const auto records = [](const std::vector<v1::ExportDatasetResponse>& messages) {
    std::vector<std::string> all;
    for (const v1::ExportDatasetResponse& message : messages) {
      all.insert(all.end(), message.block().records().begin(), message.block().records().end());
    }
    return all;
  };
  const std::vector<std::string> whole = records(Export(*dataset, false));
  ASSERT_EQ(whole.size(), 50u);
  for (const std::uint64_t first : {0u, 1u, 17u, 49u, 50u}) {
    const auto messages = Export(*dataset, false, kPlenty, first);
    EXPECT_EQ(messages.front().header().first_graph(), first);
    EXPECT_EQ(records(messages),
              std::vector<std::string>(whole.begin() + static_cast<int>(first), whole.end()));
    EXPECT_EQ(messages.back().end().graphs(), 50u);
  }
  v1::ExportDatasetRequest beyond;
  beyond.set_first_graph(51);
  EXPECT_THAT(ExportDataset(*dataset, beyond, kPlenty, [](const auto&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(ExportTest, ACopyThatDiffersIsNotSealed) {
  const auto dataset = ImportWithEdges(ManyMolecules(50));
  std::unique_ptr<DatasetWriter> writer = Stage(store_, ManyMolecules(49));
  v1::SealDatasetRequest seal = SealAs("copy");
  seal.set_expected_version(dataset->description().version());
  EXPECT_THAT(writer->Seal(seal), StatusIs(absl::StatusCode::kFailedPrecondition,
                                           AllOf(HasSubstr("copy@" + dataset->description().version()))));
  EXPECT_THAT(store_.Open("copy"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(ExportTest, MessagesKeepToTheLimit) {
  const auto dataset = ImportWithEdges(ManyMolecules(500));
  EXPECT_GT(Export(*dataset, false, 8 << 10).size(), Export(*dataset, false).size());
  EXPECT_GT(Export(*dataset, true, 8 << 10).size(), Export(*dataset, true).size());
}

TEST_F(ExportTest, AGraphAboveTheLimitIsNamedWithTheFlag) {
  const auto dataset = ImportWithEdges(ManyMolecules(5));
  EXPECT_THAT(ExportDataset(*dataset, {}, 1100, [](const auto&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("graph 1"), HasSubstr("--max-message-bytes"))));
}

TEST_F(ExportTest, EndsWithWhatTheSinkSays) {
  const auto dataset = ImportWithEdges(ManyMolecules(5));
  for (int good = 0; good < 4; ++good) {
    int messages = 0;
    EXPECT_THAT(ExportDataset(*dataset, {}, kPlenty,
                              [&](const auto&) {
                                return messages++ < good ? absl::OkStatus() : absl::CancelledError("gone");
                              }),
                StatusIs(absl::StatusCode::kCancelled));
  }
}

TEST_F(ExportTest, RecordsThatAreNoneAreRefused) {
  auto session = ImportSession::Begin(store_, Header("radius:1.2")).value();
  v1::RecordBlock block;
  block.add_records("no record");
  EXPECT_THAT(session->Add(block), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("build_edges")));
  v1::ImportHeader header = Header("radius:1.2");
  header.set_build_edges(false);
  session = ImportSession::Begin(store_, header).value();
  EXPECT_THAT(session->Add(block), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("graph 1")));
}

TEST_F(ExportTest, ASplitByIndexNamesGraphsThatThereAreAndEachOnce) {
  for (const auto& [train, test] : {std::pair{5u, 0u}, {1u, 1u}}) {
    v1::SealDatasetRequest seal = SealAs("molecules");
    seal.mutable_by_index()->add_train(train);
    seal.mutable_by_index()->add_test(test);
    EXPECT_THAT(Import(store_, ManyMolecules(5), seal), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_F(ExportTest, WhatAMessageTakesIsKnownBeforehand) {
  Molecule chain;
  chain.id = "chain";
  constexpr int kNodes = 200'000;
  for (int k = 0; k < kNodes; ++k) {
    chain.z.push_back(6);
    chain.pos.push_back({static_cast<float>(k), 0, 0});
  }
  std::vector<Molecule> molecules = ManyMolecules(50);
  EXPECT_LT(*ExportBytes(*ImportWithEdges(molecules), kPlenty), std::uint64_t{8} << 20);
  molecules.push_back(chain);
  const auto dataset = ImportWithEdges(molecules);
  EXPECT_EQ(dataset->description().nodes().max(), kNodes);
  const std::uint64_t bytes = *ExportBytes(*dataset, kPlenty);
  for (const bool as_columns : {false, true}) {
    std::uint64_t largest = 0;
    for (const v1::ExportDatasetResponse& message : Export(*dataset, as_columns)) {
      largest = std::max<std::uint64_t>(largest, message.SpaceUsedLong() + message.ByteSizeLong());
    }
    EXPECT_GT(largest, std::uint64_t{4} << 20);
    EXPECT_GE(bytes, largest + dataset->description().bytes());  // the record is in its block meanwhile
  }
}

// As imports took them once. A client could decode no message that has one as text.
TEST_F(ExportTest, AnIdThatIsNotUtf8IsExportedAsRecordAlone) {
  Molecule molecule = ManyMolecules(1)[0];
  molecule.id = "\xff";
  const auto writer = store_.NewDataset(MoleculeSchema()).value();
  const std::string record = RecordOf(molecule);
  ASSERT_THAT(writer->Append(std::as_bytes(std::span(record))), IsOk());
  ASSERT_THAT(writer->Seal(SealAs("old")), IsOk());
  const auto dataset = store_.Open("old").value();
  EXPECT_EQ(Export(*dataset, /*as_columns=*/false)[1].block().records(0), record);
  v1::ExportDatasetRequest request;
  request.set_as_columns(true);
  EXPECT_THAT(
      ExportDataset(*dataset, request, kPlenty,
                    [](const v1::ExportDatasetResponse& message) {
                      EXPECT_FALSE(message.has_columns());
                      return absl::OkStatus();
                    }),
      StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("graph 0, '\\377'"), HasSubstr("not UTF-8"))));
}

}  // namespace
}  // namespace packtrain::storage
