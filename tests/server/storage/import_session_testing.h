// What tests of import sessions share: headers, a block, and how a session is made and read.
#ifndef PACKTRAIN_TESTS_SERVER_STORAGE_IMPORT_SESSION_TESTING_H_
#define PACKTRAIN_TESTS_SERVER_STORAGE_IMPORT_SESSION_TESTING_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/storage/import_session.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {

inline v1::ImportHeader Header(v1::ErrorPolicy on_error = v1::ERROR_POLICY_STOP) {
  v1::ImportHeader header;
  *header.mutable_schema() = testing::MoleculeSchema();
  header.set_on_error(on_error);
  return header;
}

inline v1::ImportHeader BuiltHeader(const std::string& edges,
                                    v1::ErrorPolicy on_error = v1::ERROR_POLICY_STOP) {
  v1::ImportHeader header = Header(on_error);
  header.mutable_schema()->set_edge_rule(v1::EDGE_RULE_STORED);
  header.mutable_schema()->set_edges(edges);
  header.set_build_edges(true);
  return header;
}

inline v1::ImportHeader BondHeader(v1::ErrorPolicy on_error = v1::ERROR_POLICY_STOP) {
  v1::ImportHeader header = Header(on_error);
  header.mutable_schema()->set_edge_rule(v1::EDGE_RULE_STORED);
  header.mutable_schema()->set_edges("bonds");
  v1::Field& type = *header.mutable_schema()->add_fields();
  type.set_name("edge_type");
  type.set_scope(v1::FIELD_SCOPE_EDGE);
  type.set_data_type(v1::DATA_TYPE_U8);
  return header;
}

// Water with its bonds, out of order; the edge types number them in stored order.
inline v1::GraphBlock BondBlock() {
  const testing::Molecule water = testing::SampleMolecules()[2];
  v1::GraphBlock block = testing::BlockOf({&water, 1});
  block.add_n_edge(4);
  const std::pair<std::uint32_t, std::uint32_t> edges[] = {{0, 2}, {2, 0}, {1, 0}, {0, 1}};
  for (const auto& [sender, receiver] : edges) {
    block.add_senders(sender);
    block.add_receivers(receiver);
  }
  v1::Column& types = *block.add_columns();
  types.set_field("edge_type");
  types.set_data(std::string({3, 1, 0, 2}));
  return block;
}

class ImportSessionTest : public ::testing::Test {
 protected:
  std::unique_ptr<ImportSession> Begin(const v1::ImportHeader& header) {
    auto session = ImportSession::Begin(store_, header);
    EXPECT_THAT(session, testing::IsOk());
    return *std::move(session);
  }

  // Of a block with one bad graph: the reason for which it is refused.
  std::string ReasonFor(const v1::ImportHeader& header, const v1::GraphBlock& block) {
    const auto session = Begin(header);
    EXPECT_THAT(session->Add(block), testing::IsOk());
    EXPECT_EQ(session->response().refused_size(), 1);
    return session->response().refused(0).reason();
  }

  std::string ReasonFor(const testing::Molecule& molecule) {
    return ReasonFor(Header(v1::ERROR_POLICY_SKIP), testing::BlockOf({&molecule, 1}));
  }

  std::shared_ptr<const Dataset> SealAndOpen(ImportSession& session) {
    EXPECT_THAT(session.TakeWriter()->Seal(SealAs("molecules")), testing::IsOk());
    return store_.Open("molecules").value();
  }

  testing::FakeGraphStore store_;
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_TESTS_SERVER_STORAGE_IMPORT_SESSION_TESTING_H_
