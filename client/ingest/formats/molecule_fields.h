// From a molecule of RDKit to the fields of a graph.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_MOLECULE_FIELDS_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_MOLECULE_FIELDS_H_

#include "client/ingest/formats/molecule_layout.h"
#include "client/ingest/graph_reader.h"

namespace RDKit {
class ROMol;
}

namespace packtrain::ingest {

// Fills all fields of MoleculeLayout but `unsanitized`, and the edges. Valences and, with OGB's features, the
// rings of `molecule` are known. May throw what RDKit throws.
void FillFields(const RDKit::ROMol& molecule, const MoleculeOptions& options, SourceGraph* graph);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_MOLECULE_FIELDS_H_
