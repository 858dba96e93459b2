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

// Normalised over the five. `name` is "energy" or "dipole".
trainer::Target MoleculesTarget(const std::string& name);
trainer::ClassTable MoleculesClasses();

// A batch padded to `padded`; without it there is no padding. It is flagged empty where there is no molecule.
wire::Batch BatchOf(std::span<const Molecule> molecules, wire::Shape padded);
wire::Batch BatchOf(std::span<const Molecule> molecules);

// Of the five molecules' classes, on the host.
trainer::GraphTensors TensorsOf(const wire::Batch& batch, const trainer::Target& target);

// Gives copies of what it was made of, then the end, or the failure it was made with. Cancel ends a Next.
std::unique_ptr<client::BatchReader> ReaderOf(std::vector<std::vector<Molecule>> batches, absl::Status end);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TRAINER_MOLECULES_H_
