#include "tests/server/batches/scenario.h"

#include <gtest/gtest.h>

#include <span>
#include <utility>
#include <vector>

#include "tests/testing/sample_chains.h"
#include "tests/testing/sample_molecules.h"

namespace packtrain::testing {

namespace {

void Store(FakeGraphStore& store, const char* name, const v1::Schema& schema,
           const std::vector<std::string>& records) {
  std::unique_ptr<storage::DatasetWriter> writer = *store.NewDataset(schema);
  for (const std::string& record : records) {
    EXPECT_TRUE(writer->Append(std::as_bytes(std::span(record))).ok());
  }
  v1::SealDatasetRequest seal;
  seal.set_name(name);
  EXPECT_TRUE(writer->Seal(seal).ok());
}

}  // namespace

Scenario::Scenario(std::uint32_t count) {
  std::vector<std::string> molecules, chains;
  for (const Molecule& molecule : ManyMolecules(count)) molecules.push_back(RecordOf(molecule));
  for (const Chain& chain : ManyChains(count)) chains.push_back(RenumberedRecordOf(chain));
  Store(store_, "molecules", MoleculeSchema(), molecules);
  Store(store_, "chains", RenumberedChainSchema(), chains);
}

batches::ResolvedSpec Scenario::Resolved(std::uint32_t graphs) {
  v1::BatchSpec spec;
  spec.set_policy(v1::POLICY_STATIC);
  spec.set_graphs(graphs);
  spec.set_order(v1::ORDER_NONE);
  return Resolved(spec);
}

batches::ResolvedSpec Scenario::Resolved(const v1::BatchSpec& spec) {
  const char* const dataset = spec.policy() == v1::POLICY_SUPERGRAPH ? "chains" : "molecules";
  absl::StatusOr<batches::ResolvedSpec> resolved = batches::ResolveSpec(store_, dataset, spec);
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return *std::move(resolved);
}

batches::BatchBuilder Scenario::Builder(std::uint64_t max_batch_bytes) {
  return *batches::BatchBuilder::Create(*store_.Open("molecules"), max_batch_bytes, body_memory());
}

std::string BodyOf(const batches::BuiltBatch& batch) {
  return std::string(reinterpret_cast<const char*>(batch.body.get()), batch.header.body_bytes);
}

absl::StatusOr<std::optional<batches::BuiltBatch>> NextBuilt(batches::BatchSequence& sequence) {
  const auto planned = sequence.Next();
  if (!planned.ok()) return planned.status();
  if (!planned->has_value()) return std::nullopt;
  absl::StatusOr<batches::BuiltBatch> built = sequence.Build(**planned);
  if (!built.ok()) return built.status();
  return *std::move(built);
}

}  // namespace packtrain::testing
