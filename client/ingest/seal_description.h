// What a staged import is to be sealed with: splits, and where its graphs came from.
#ifndef PACKTRAIN_CLIENT_INGEST_SEAL_DESCRIPTION_H_
#define PACKTRAIN_CLIENT_INGEST_SEAL_DESCRIPTION_H_

#include <cstdint>
#include <optional>
#include <span>
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

// Appends the positions of `graphs` among those that are left where `left_out`, which ascend, are taken out,
// from `base` on. Those that are taken out are passed over.
void AddPositionsLeft(const google::protobuf::RepeatedField<std::uint32_t>& graphs,
                      std::span<const std::uint64_t> left_out, std::uint64_t base,
                      google::protobuf::RepeatedField<std::uint32_t>* positions);

// Sets the splits that the sources bring, as positions among the graphs that were sent. `ledger` has the
// position of each that was refused then.
void DescribeOwnSplits(const v1::SplitByIndex& splits, const Ledger& ledger, v1::SealDatasetRequest* seal);

// The lineage of an import now: as many of `sources` as a description of a data set may hold, the others as
// one, and command and program of `options`.
v1::Lineage LineageOf(const std::vector<v1::SourceFile>& sources, const ImportOptions& options);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_SEAL_DESCRIPTION_H_
