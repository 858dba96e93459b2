#include "server/storage/rocks_dataset_writer.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/records/schema.h"
#include "server/rocks/sorted_files.h"
#include "server/storage/key_schema.h"
#include "server/storage/stored_dataset.h"

namespace packtrain::storage {
namespace {

class RocksDatasetWriter : public DatasetWriter {
 public:
  RocksDatasetWriter(const std::shared_ptr<rocks::Database>& database, std::shared_ptr<SealedList> sealed,
                     std::shared_ptr<base::Mutex> publishing, std::uint64_t storage_id,
                     const std::filesystem::path& staging, std::uint64_t file_bytes,
                     records::DatasetContent content)
      : database_(database),
        sealed_(std::move(sealed)),
        publishing_(std::move(publishing)),
        storage_id_(storage_id),
        content_(std::move(content)),
        graphs_(database, Family::kGraphs, Stem(staging, storage_id, "graphs"), file_bytes),
        sizes_stem_(Stem(staging, storage_id, "sizes")),
        file_bytes_(file_bytes) {}

  absl::Status Append(std::span<const std::byte> record) override {
    const std::uint64_t graph = content_.graphs();
    ABSL_RETURN_IF_ERROR(content_.Add(record));
    return graphs_.Add(StorageKey(storage_id_, graph).view(),
                       {reinterpret_cast<const char*>(record.data()), record.size()});
  }

  std::uint64_t graphs() const override { return content_.graphs(); }
  bool HasId(std::string_view id) const override { return content_.ids().Contains(id); }
  std::uint64_t memory_bytes() const override { return content_.memory_bytes(); }
  std::uint64_t seal_bytes(const v1::SealDatasetRequest& request) const override {
    return SealBytes(content_, request);
  }

  absl::StatusOr<SealResult> Seal(const v1::SealDatasetRequest& request) override {
    ABSL_ASSIGN_OR_RETURN(SealedContent sealed, SealContent(content_, request));
    const base::MutexLock lock(*publishing_);
    const std::string& version = sealed.description.version();
    ABSL_ASSIGN_OR_RETURN(const auto existing, FindVersion(*database_, request.name(), version));
    if (existing.has_value()) return Keep(existing->description);
    return Publish(std::move(sealed));
  }

 private:
  static std::string Stem(const std::filesystem::path& staging, std::uint64_t storage_id, const char* what) {
    return (staging / absl::StrCat(storage_id, "-", what)).string();
  }

  absl::StatusOr<SealResult> Keep(const v1::Dataset& existing) {
    const absl::Status status = WriteMeta(*database_, {{NameKey(existing.name()), existing.version()}});
    ABSL_RETURN_IF_ERROR(status);
    sealed_->Add(existing);
    return SealResult{existing, true};
  }

  absl::StatusOr<SealResult> Publish(SealedContent sealed) {
    ABSL_ASSIGN_OR_RETURN(const std::uint64_t storage_id, StoredContent());
    const std::string& name = sealed.description.name();
    const std::string& version = sealed.description.version();
    std::vector<std::pair<std::string, std::string>> entries = {
        {ContentKey(content_.Hash()), EncodeStorageId(storage_id)},
        {DatasetKey(name, version), Encode({storage_id, sealed.description})},
        {NameKey(name), version}};
    for (const IndexSplit& split : sealed.splits) {
      entries.emplace_back(SplitKey(version, split.name), IndexBytes(split.graphs));
    }
    ABSL_RETURN_IF_ERROR(WriteMeta(*database_, entries));
    sealed_->Add(sealed.description);
    return SealResult{std::move(sealed.description), false};
  }

  // Where graphs of this content are in the database, which takes in the staged ones unless it has them.
  absl::StatusOr<std::uint64_t> StoredContent() {
    ABSL_ASSIGN_OR_RETURN(const auto stored, FindContent(*database_, content_.Hash()));
    if (stored.has_value()) return *stored;
    if (!taken_in_) {
      ABSL_RETURN_IF_ERROR(TakeIn());
      taken_in_ = true;
    }
    return storage_id_;
  }

  absl::Status TakeIn() {
    ABSL_ASSIGN_OR_RETURN(std::vector<rocks::SortedFile> files, graphs_.Finish());
    rocks::SortedFileWriter sizes(database_, Family::kSizes, sizes_stem_, file_bytes_);
    ABSL_RETURN_IF_ERROR(StageSizes(sizes));
    ABSL_ASSIGN_OR_RETURN(std::vector<rocks::SortedFile> size_files, sizes.Finish());
    std::ranges::move(size_files, std::back_inserter(files));
    return rocks::Ingest(*database_, files);
  }

  std::vector<const records::GraphColumn*> SizeColumns() const {
    std::vector<const records::GraphColumn*> columns = {&content_.n_node(), &content_.n_edge(),
                                                        &content_.bandwidth()};
    if (records::IsRenumbered(content_.schema())) columns.push_back(&content_.bandwidth_as_read());
    return columns;
  }

  absl::Status StageSizes(rocks::SortedFileWriter& sizes) const {
    for (std::uint64_t chunk = 0; chunk < ChunksOf(graphs()); ++chunk) {
      const std::uint64_t begin = chunk * kSizesPerChunk;
      const std::uint64_t count = GraphsOfChunk(graphs(), chunk);
      std::string columns;
      for (const records::GraphColumn* column : SizeColumns()) {
        const auto first = column->begin() + static_cast<std::ptrdiff_t>(begin);
        const std::vector<std::uint32_t> part(first, first + static_cast<std::ptrdiff_t>(count));
        columns += IndexBytes(part);
      }
      ABSL_RETURN_IF_ERROR(sizes.Add(StorageKey(storage_id_, chunk).view(), columns));
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<rocks::Database> database_;
  const std::shared_ptr<SealedList> sealed_;
  const std::shared_ptr<base::Mutex> publishing_;
  const std::uint64_t storage_id_;
  records::DatasetContent content_;
  rocks::SortedFileWriter graphs_;
  const std::string sizes_stem_;
  const std::uint64_t file_bytes_;
  bool taken_in_ = false;  // what was staged is in the database
};

}  // namespace

std::unique_ptr<DatasetWriter> NewRocksDatasetWriter(
    const std::shared_ptr<rocks::Database>& database, std::shared_ptr<SealedList> sealed,
    std::shared_ptr<base::Mutex> publishing, std::uint64_t storage_id, const std::filesystem::path& staging,
    std::uint64_t file_bytes, records::DatasetContent content) {
  return std::make_unique<RocksDatasetWriter>(database, std::move(sealed), std::move(publishing), storage_id,
                                              staging, file_bytes, std::move(content));
}

}  // namespace packtrain::storage
