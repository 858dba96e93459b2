// packtrain import native: a file that `packtrain dataset export --format native` wrote, as a source of blocks.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_SOURCE_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_source.h"
#include "client/ingest/formats/native_file.h"
#include "client/ingest/ledger.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// Hands on schema, records, splits and lineage as they are in the file, and asks for the version that it
// states: nothing is stored unless that comes out. Used by one thread at a time.
class NativeSource : public BlockSource {
 public:
  // Reads up to the file's header. INVALID_ARGUMENT, here and in Next: the file is corrupt, cut off or no such
  // file.
  static absl::StatusOr<std::unique_ptr<BlockSource>> Open(const std::string& path);

  absl::StatusOr<v1::ImportHeader> Begin() override;
  absl::StatusOr<bool> Next(Block* block) override;
  void Describe(const Ledger& ledger, v1::SealDatasetRequest* seal) const override;

  const Ledger& ledger() const override { return ledger_; }
  std::uint64_t total_bytes() const override { return file_->bytes(); }
  std::uint64_t consumed_bytes() const override { return file_->consumed_bytes(); }

 private:
  explicit NativeSource(std::unique_ptr<NativeFile> file);
  absl::Status AddSplit(const v1::SplitBlock& block);

  const std::unique_ptr<NativeFile> file_;
  std::optional<v1::SplitByIndex> splits_;  // read so far
  Ledger ledger_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_SOURCE_H_
