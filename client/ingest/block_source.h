// What an import sends: a header, blocks, and what the data set is to be sealed with.
//
//   ABSL_ASSIGN_OR_RETURN(const v1::ImportHeader header, source.Begin());
//   Block block;
//   while (true) {
//     ABSL_ASSIGN_OR_RETURN(const bool more, source.Next(&block));
//     if (!more) break;
//     ...
//   }
//   if (!source.WhyBeginAgain().empty()) ...  // the blocks are void, and Begin is called again
//   source.Describe(ledger, &seal_request);
//
// GraphImport makes blocks of graphs from the records of a GraphReader. A file that was exported holds records
// as they were stored, which were validated then: its format is a source by itself and hands them on byte by
// byte, since the version of a data set is a hash of those bytes, and nothing but the same bytes has the same
// version.
#ifndef PACKTRAIN_CLIENT_INGEST_BLOCK_SOURCE_H_
#define PACKTRAIN_CLIENT_INGEST_BLOCK_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/label_table.h"
#include "client/ingest/ledger.h"
#include "client/ingest/origin.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// A packed v1::RecordBlock, as it was read: `bytes` from `begin` on.
struct PackedRecords {
  std::string bytes;
  std::size_t begin = 0;
  std::uint64_t graphs = 0;
};

// Graphs to be validated and encoded, or records as they are stored.
using Block = std::variant<v1::GraphBlock, v1::RecordBlock, PackedRecords>;

// How many a block has.
inline std::uint64_t GraphsOf(const Block& block) {
  if (const auto* packed = std::get_if<PackedRecords>(&block)) return packed->graphs;
  const auto* graphs = std::get_if<v1::GraphBlock>(&block);
  return static_cast<std::uint64_t>(graphs != nullptr ? graphs->source_ids_size()
                                                      : std::get<v1::RecordBlock>(block).records_size());
}

// Used by one thread at a time. Any error ends the import.
class BlockSource {
 public:
  virtual ~BlockSource() = default;

  // Reads as far as the header needs. To be called first, and again for WhyBeginAgain.
  virtual absl::StatusOr<v1::ImportHeader> Begin() = 0;

  // Reads the next block of about 1 MiB; false at the end. Blocks may be empty: for progress.
  virtual absl::StatusOr<bool> Next(Block* block) = 0;

  // Behind the end: why the header does not fit all that was read, for people. Then nothing that was given
  // counts, and Begin reads everything again and gives another header. Empty: it fits.
  virtual std::string WhyBeginAgain() const { return ""; }

  // Behind the end: what became of the labels, as counted in the graphs that were given, but for those at
  // `refused`, which ascend and count from 0. Absent: the graphs were passed on without a look into them.
  virtual std::optional<std::vector<LabelUse>> Labels(std::span<const std::uint64_t> refused) const = 0;

  // Fills in splits, lineage, and a name or version that the source knows. To be called behind the end;
  // `ledger` has what was refused by both ends.
  virtual void Describe(const Ledger& ledger, v1::SealDatasetRequest* seal) const = 0;

  // Whether Describe takes splits from what was read, which needs each refused graph's position in the ledger.
  virtual bool has_own_splits() const { return false; }

  // The place of the graph at a position among those sent, from 0, where blocks do not tell it; to be called
  // when nothing is read any more.
  virtual std::optional<Origin> OriginOf(std::uint64_t /*position*/) const { return std::nullopt; }

  // What was read and refused so far.
  virtual const Ledger& ledger() const = 0;
  // Bytes on disk, for progress; a pipe counts as none.
  virtual std::uint64_t total_bytes() const = 0;
  virtual std::uint64_t consumed_bytes() const = 0;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_BLOCK_SOURCE_H_
