#include "tests/server/batches/scenario.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/testing/sample_molecules.h"

namespace packtrain::testing {

Scenario::Scenario(std::uint32_t count) {
  std::unique_ptr<storage::DatasetWriter> writer = *store_.NewDataset(MoleculeSchema());
  for (const Molecule& molecule : ManyMolecules(count)) {
    const std::string record = RecordOf(molecule);
    EXPECT_TRUE(writer->Append(std::as_bytes(std::span(record))).ok());
  }
  v1::SealDatasetRequest seal;
  seal.set_name("molecules");
  EXPECT_TRUE(writer->Seal(seal).ok());
}

batches::ResolvedSpec Scenario::Resolved(std::uint32_t graphs) {
  v1::BatchSpec spec;
  spec.set_policy(v1::POLICY_STATIC);
  spec.set_graphs(graphs);
  spec.set_order(v1::ORDER_NONE);
  return Resolved(spec);
}

batches::ResolvedSpec Scenario::Resolved(const v1::BatchSpec& spec) {
  absl::StatusOr<batches::ResolvedSpec> resolved = batches::ResolveSpec(store_, "molecules", spec);
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
