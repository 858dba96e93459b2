// A few real molecules (geometries in angstrom, energies in electronvolt) as graphs to store.
#ifndef PACKTRAIN_TESTS_TESTING_SAMPLE_MOLECULES_H_
#define PACKTRAIN_TESTS_TESTING_SAMPLE_MOLECULES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::testing {

struct Molecule {
  std::string id;
  std::vector<std::uint8_t> z;
  std::vector<std::array<float, 3>> pos;
  double energy = 0;  // of atomisation; NaN: missing
};

// Hydrogen atom, hydrogen molecule, water, ammonia, methane, in this order: 1, 2, 3, 4, 5 nodes.
std::vector<Molecule> SampleMolecules();

// Fields z (U8), pos (F32 [3]) and y (F64 [1], target "energy"), edges "full".
v1::Schema MoleculeSchema();

// The record of a molecule under MoleculeSchema.
std::string RecordOf(const Molecule& molecule);

// The molecules as one block of an import.
v1::GraphBlock BlockOf(std::span<const Molecule> molecules);

// `count` molecules, the samples over and over, with distinct ids and energies.
std::vector<Molecule> ManyMolecules(std::uint32_t count);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_SAMPLE_MOLECULES_H_
