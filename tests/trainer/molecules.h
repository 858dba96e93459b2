// Batches of a few real molecules, as a client receives them.
#ifndef PACKTRAIN_TESTS_TRAINER_MOLECULES_H_
#define PACKTRAIN_TESTS_TRAINER_MOLECULES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/batch_reader.h"
#include "client/dataset_info.h"
#include "proto/wire/batch.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/data/target.h"

namespace packtrain::testing {

struct Molecule {
  std::vector<std::uint8_t> z;
  std::vector<std::array<float, 3>> pos;  // angstrom
  std::array<double, 2> y;                // atomisation energy in electronvolt, dipole moment in debye
};

// Hydrogen atom, hydrogen molecule, water, ammonia, methane. The dipole moment of the atom is missing.
std::vector<Molecule> Molecules();

// Their data set, with the split train of all of them.
client::DatasetInfo MoleculesInfo();

// Normalised over the five. `names` are of "energy" and "dipole".
std::vector<trainer::Target> MoleculesTargets(const std::string& names);
trainer::ClassTable MoleculesClasses();
trainer::TokenClasses MoleculesTokens();
// Of the inputs that batches of molecules have.
trainer::InputSizes MoleculesSizes();

// What an energy is learnt from by a model of atoms and positions, and what a feed of it brings.
trainer::InputLayout MoleculesLayout();
trainer::FeedOptions MoleculesFeed(const std::string& targets = "energy");

// A batch padded to `padded`; without it there is no padding. It is flagged empty where there is no molecule.
// It has a field for every input that a model can declare; those that no molecule has of itself follow from
// elements and positions, so that they move with the atoms.
wire::Batch BatchOf(std::span<const Molecule> molecules, wire::Shape padded);
wire::Batch BatchOf(std::span<const Molecule> molecules);

// On the host, for a model of atoms and positions.
trainer::GraphTensors TensorsOf(const wire::Batch& batch, const std::string& targets = "energy");
// With the inputs of `layout`; the target is the energy.
trainer::GraphTensors TensorsOf(const wire::Batch& batch, const trainer::InputLayout& layout);

// Gives copies of what it was made of, then the end, or the failure it was made with. Cancel ends a Next.
std::unique_ptr<client::BatchReader> ReaderOf(std::vector<std::vector<Molecule>> batches, absl::Status end);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TRAINER_MOLECULES_H_
