#include "client/ingest/formats/molecule_fields.h"

#include <GraphMol/GraphMol.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace packtrain::ingest {
namespace {

// As the ogb package does: the place of `value` in the list first, first + 1, ..., last, "misc".
std::int32_t PlaceIn(int first, int last, int value) {
  return value < first || value > last ? last - first + 1 : value - first;
}

std::int32_t PlaceOf(RDKit::Atom::ChiralType tag) {
  switch (tag) {
    case RDKit::Atom::CHI_UNSPECIFIED:
      return 0;
    case RDKit::Atom::CHI_TETRAHEDRAL_CW:
      return 1;
    case RDKit::Atom::CHI_TETRAHEDRAL_CCW:
      return 2;
    case RDKit::Atom::CHI_OTHER:
      return 3;
    default:
      return 4;
  }
}

std::int32_t PlaceOf(RDKit::Atom::HybridizationType hybridization) {
  switch (hybridization) {
    case RDKit::Atom::SP:
      return 0;
    case RDKit::Atom::SP2:
      return 1;
    case RDKit::Atom::SP3:
      return 2;
    case RDKit::Atom::SP3D:
      return 3;
    case RDKit::Atom::SP3D2:
      return 4;
    default:
      return 5;
  }
}

BondType TypeOf(const RDKit::Bond& bond) {
  if (bond.hasQuery()) return kOtherBond;
  switch (bond.getBondType()) {
    case RDKit::Bond::SINGLE:
      return kSingleBond;
    case RDKit::Bond::DOUBLE:
      return kDoubleBond;
    case RDKit::Bond::TRIPLE:
      return kTripleBond;
    case RDKit::Bond::AROMATIC:
      return kAromaticBond;
    default:
      return kOtherBond;
  }
}

// atom_to_feature_vector of ogb/utils/features.py.
void AddOgbFeatures(const RDKit::ROMol& molecule, const RDKit::Atom& atom, std::vector<std::int32_t>* x) {
  const bool in_ring = molecule.getRingInfo()->numAtomRings(atom.getIdx()) > 0;
  const std::array<std::int32_t, 9> features = {PlaceIn(1, 118, atom.getAtomicNum()),
                                                PlaceOf(atom.getChiralTag()),
                                                PlaceIn(0, 10, static_cast<int>(atom.getTotalDegree())),
                                                PlaceIn(-5, 5, atom.getFormalCharge()),
                                                PlaceIn(0, 8, static_cast<int>(atom.getTotalNumHs())),
                                                PlaceIn(0, 4, static_cast<int>(atom.getNumRadicalElectrons())),
                                                PlaceOf(atom.getHybridization()),
                                                atom.getIsAromatic() ? 1 : 0,
                                                in_ring ? 1 : 0};
  x->insert(x->end(), features.begin(), features.end());
}

// The edges into one atom, by their senders.
void AddEdgesInto(const RDKit::ROMol& molecule, const RDKit::Atom& receiver, SourceGraph* graph) {
  std::vector<std::pair<std::uint32_t, BondType>> edges;
  for (const RDKit::Bond* bond : molecule.atomBonds(&receiver)) {
    edges.emplace_back(bond->getOtherAtomIdx(receiver.getIdx()), TypeOf(*bond));
  }
  std::sort(edges.begin(), edges.end());
  for (const auto& [sender, type] : edges) {
    graph->senders.push_back(sender);
    graph->receivers.push_back(receiver.getIdx());
    graph->Values<std::uint8_t>(kMoleculeEdgeType).push_back(type);
  }
}

void AddPositions(const RDKit::Conformer& conformer, std::vector<float>* pos) {
  for (const RDGeom::Point3D& place : conformer.getPositions()) {
    for (const double coordinate : {place.x, place.y, place.z}) pos->push_back(static_cast<float>(coordinate));
  }
}

}  // namespace

void FillFields(const RDKit::ROMol& molecule, const MoleculeOptions& options, SourceGraph* graph) {
  graph->n_node = molecule.getNumAtoms();
  for (const RDKit::Atom* atom : molecule.atoms()) {
    graph->Values<std::uint8_t>(kMoleculeZ).push_back(static_cast<std::uint8_t>(atom->getAtomicNum()));
    AddEdgesInto(molecule, *atom, graph);
    if (options.ogb_features) AddOgbFeatures(molecule, *atom, &graph->Values<std::int32_t>(kMoleculeX));
  }
  if (molecule.getNumConformers() > 0) {
    AddPositions(molecule.getConformer(), &graph->Values<float>(kMoleculePos));
  }
}

}  // namespace packtrain::ingest
