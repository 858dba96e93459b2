// What a staged import is to be sealed with: splits, and where its graphs came from.
#ifndef PACKTRAIN_CLIENT_INGEST_SEAL_DESCRIPTION_H_
#define PACKTRAIN_CLIENT_INGEST_SEAL_DESCRIPTION_H_

#include <optional>
#include <vector>

#include "client/ingest/import_options.h"
#include "client/ingest/ledger.h"
#include "client/ingest/split_file.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// Sets the split that `options` asks for; `lists` is what its split file says. A list may name graphs that were
// refused, which `ledger` has.
void DescribeSplits(const ImportOptions& options, const std::optional<SplitLists>& lists, const Ledger& ledger,
                    v1::SealDatasetRequest* seal);

// The lineage of an import now: as many of `sources` as a description of a data set may hold, the others as
// one, and command and program of `options`.
v1::Lineage LineageOf(const std::vector<v1::SourceFile>& sources, const ImportOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_SEAL_DESCRIPTION_H_
