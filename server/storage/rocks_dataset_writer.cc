#include "server/storage/rocks_dataset_writer.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/records/schema.h"
#include "server/rocks/sorted_files.h"
#include "server/storage/key_schema.h"
#include "server/storage/staging_queue.h"
#include "server/storage/stored_dataset.h"

namespace packtrain::storage {
namespace {

// Graphs that are read again between two calls of a ReadProgress.
constexpr std::uint64_t kGraphsOfProgress = 1024;

std::string Stem(const std::filesystem::path& staging, std::uint64_t storage_id, const char* what) {
  return (staging / absl::StrCat(storage_id, "-", what)).string();
}

absl::Status Damaged() {
  return absl::DataLossError("a piece of a kept import does not hold what was written");
}

// Adds the graphs of a piece to `content`. DATA_LOSS: it is damaged. A failure may leave some of them there.
absl::Status ReadPiece(const rocks::Database& database, const rocks::SortedFile& file, std::uint64_t storage_id,
                       std::uint64_t graphs, records::DatasetContent& content,
                       GraphStore::ReadProgress progress) {
  const std::uint64_t end = content.graphs() + graphs;
  absl::Status stopped;
  const absl::Status read = rocks::ReadSortedFile(
      database, file.family, file.path, [&](std::string_view key, std::string_view record) {
        const bool is_next = content.graphs() < end && key == StorageKey(storage_id, content.graphs()).view();
        if (!is_next || !content.Add(std::as_bytes(std::span(record.data(), record.size()))).ok())
          return Damaged();
        if (content.graphs() % kGraphsOfProgress == 0) stopped = progress(content.memory_bytes());
        return stopped;
      });
  ABSL_RETURN_IF_ERROR(stopped);
  ABSL_RETURN_IF_ERROR(read);
  return content.graphs() == end ? absl::OkStatus() : Damaged();
}

// Reads the pieces of a folder into `content`, and returns their files.
absl::StatusOr<std::vector<rocks::SortedFile>> ReadPieces(const rocks::Database& database, ImportFolder& folder,
                                                          records::DatasetContent& content,
                                                          GraphStore::ReadProgress progress) {
  std::vector<rocks::SortedFile> files;
  const std::uint64_t id = folder.storage_id();
  for (std::size_t k = 0; k < folder.pieces().size(); ++k) {
    const std::uint64_t first = content.graphs(), graphs = folder.pieces()[k].graphs;
    if (graphs == 0) continue;
    rocks::SortedFile file = {Family::kGraphs, rocks::SortedFilePath(folder.stem(), files.size()),
                              std::string(StorageKey(id, first).view()),
                              std::string(StorageKey(id, first + graphs - 1).view())};
    const absl::Status read = ReadPiece(database, file, id, graphs, content, progress);
    if (absl::IsDataLoss(read)) {
      folder.KeepPieces(k);
      return KeptImportChanged(folder.received());
    }
    ABSL_RETURN_IF_ERROR(read);
    files.push_back(std::move(file));
  }
  return files;
}

class RocksDatasetWriter : public DatasetWriter {
 public:
  RocksDatasetWriter(const WriterEnvironment& environment, std::uint64_t storage_id,
                     records::DatasetContent content)
      : environment_(environment),
        storage_id_(storage_id),
        content_(std::move(content)),
        graphs_(environment_.database, Family::kGraphs, Stem(environment_.staging, storage_id, "graphs"),
                environment_.file_bytes) {}

  // `files` are those of the folder's pieces, and `content` is theirs. A file is ended by Checkpoint alone,
  // since a piece holds whole blocks of the import.
  RocksDatasetWriter(const WriterEnvironment& environment, std::unique_ptr<ImportFolder> folder,
                     records::DatasetContent content, std::vector<rocks::SortedFile> files)
      : environment_(environment),
        storage_id_(folder->storage_id()),
        content_(std::move(content)),
        folder_(std::move(folder)),
        graphs_(environment_.database, Family::kGraphs, folder_->stem(),
                std::numeric_limits<std::uint64_t>::max(), std::move(files)) {
    graphs_.LeaveFiles();
  }

  // A piece that has ended is kept, whatever comes behind it.
  ~RocksDatasetWriter() override { queue_.AwaitTasks().IgnoreError(); }

  absl::Status Append(std::span<const std::byte> record) override {
    ABSL_RETURN_IF_ERROR(content_.AddUnhashed(record));
    new_bytes_ += record.size();
    return queue_.Add(record);
  }

  std::uint64_t graphs() const override { return content_.graphs(); }
  bool HasId(std::string_view id) const override { return content_.ids().Contains(id); }
  std::uint64_t memory_bytes() const override { return content_.memory_bytes(); }
  std::uint64_t seal_bytes(const v1::SealDatasetRequest& request) const override {
    return SealBytes(content_, request);
  }

  absl::Status Checkpoint(const v1::ImportGraphsResponse& progress, bool all) override {
    if (all) {
      ABSL_RETURN_IF_ERROR(WriteAll());
    }
    if (folder_ == nullptr || !(all || folder_->IsDue(new_bytes_, piece_bytes_))) return absl::OkStatus();
    ABSL_RETURN_IF_ERROR(queue_.AwaitTasks());
    if (progress.received() == folder_->received()) return absl::OkStatus();
    if (all) return AddPiece(graphs_.EndFile(), folder_->PieceOf(progress));
    piece_bytes_ += std::exchange(new_bytes_, 0);
    queue_.Then([this, piece = std::make_shared<ImportPiece>(folder_->PieceOf(progress))] {
      return BeginPiece(piece);
    });
    return absl::OkStatus();
  }

  void DropAtEnd() override {
    if (folder_ != nullptr) folder_->DropAtEnd();
  }

  absl::StatusOr<SealResult> Seal(const v1::SealDatasetRequest& request) override {
    ABSL_RETURN_IF_ERROR(WriteAll());
    ABSL_ASSIGN_OR_RETURN(SealedContent sealed, SealContent(content_, request));
    const base::MutexLock lock(*environment_.publishing);
    const std::string& version = sealed.description.version();
    ABSL_ASSIGN_OR_RETURN(const auto existing, FindVersion(database(), request.name(), version));
    absl::StatusOr<SealResult> result =
        existing.has_value() ? Keep(existing->description) : Publish(std::move(sealed));
    if (result.ok() && folder_ != nullptr) folder_->NoteSealed();
    return result;
  }

 private:
  rocks::Database& database() const { return *environment_.database; }

  // On the queue's thread.
  absl::Status Write(std::span<const std::byte> records, std::span<const std::uint32_t> sizes) {
    std::string_view rest(reinterpret_cast<const char*>(records.data()), records.size());
    for (const std::uint32_t size : sizes) {
      ABSL_RETURN_IF_ERROR(graphs_.Add(StorageKey(storage_id_, written_++).view(), rest.substr(0, size)));
      rest.remove_prefix(size);
    }
    return absl::OkStatus();
  }

  // Writes what the queue holds; where there is no space for it, it may be tried again.
  absl::Status WriteAll() {
    if (queue_.HoldsRecords()) {
      ABSL_RETURN_IF_ERROR(database().reserve().Require(StagingQueue::kMaxBytes));
    }
    return queue_.Drain();
  }

  // On the queue's thread. The result makes what is written a piece, and the next file is written meanwhile.
  // Where there is no space to end the file, it goes on, and is the next piece's as well.
  absl::StatusOr<StagingQueue::Rest> BeginPiece(const std::shared_ptr<ImportPiece>& piece) {
    const absl::StatusOr<rocks::SortedFileWriter::FileEnd> taken = graphs_.TakeFile();
    if (absl::IsResourceExhausted(taken.status())) return StagingQueue::Rest();
    ABSL_RETURN_IF_ERROR(taken.status());
    return StagingQueue::Rest([this, end = *taken, piece] { return AddPiece(end(), std::move(*piece)); });
  }

  // Makes a piece that ends here; `file_bytes` as SortedFileWriter::EndFile.
  absl::Status AddPiece(const absl::StatusOr<std::uint64_t>& file_bytes, ImportPiece piece) {
    ABSL_RETURN_IF_ERROR(file_bytes.status());
    ABSL_RETURN_IF_ERROR(database().reserve().Require(0));
    folder_->AddPiece(*file_bytes, std::move(piece));
    return absl::OkStatus();
  }

  absl::StatusOr<SealResult> Keep(const v1::Dataset& existing) {
    const absl::Status status = WriteMeta(database(), {{NameKey(existing.name()), existing.version()}});
    ABSL_RETURN_IF_ERROR(status);
    environment_.sealed->Add(existing);
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
    ABSL_RETURN_IF_ERROR(WriteMeta(database(), entries));
    environment_.sealed->Add(sealed.description);
    return SealResult{std::move(sealed.description), false};
  }

  // Where graphs of this content are in the database, which takes in the staged ones unless it has them.
  absl::StatusOr<std::uint64_t> StoredContent() {
    ABSL_ASSIGN_OR_RETURN(const auto stored, FindContent(database(), content_.Hash()));
    if (stored.has_value()) return *stored;
    if (!taken_in_) {
      ABSL_RETURN_IF_ERROR(TakeIn());
      taken_in_ = true;
      DropAtEnd();  // its files have gone into the database
    }
    return storage_id_;
  }

  absl::Status TakeIn() {
    ABSL_ASSIGN_OR_RETURN(std::vector<rocks::SortedFile> files, graphs_.Finish());
    rocks::SortedFileWriter sizes(environment_.database, Family::kSizes,
                                  Stem(environment_.staging, storage_id_, "sizes"), environment_.file_bytes);
    ABSL_RETURN_IF_ERROR(StageSizes(sizes));
    ABSL_ASSIGN_OR_RETURN(std::vector<rocks::SortedFile> size_files, sizes.Finish());
    std::ranges::move(size_files, std::back_inserter(files));
    return rocks::Ingest(database(), files);
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
        columns += IndexBytes(column->Numbers(begin, count));
      }
      ABSL_RETURN_IF_ERROR(sizes.Add(StorageKey(storage_id_, chunk).view(), columns));
    }
    return absl::OkStatus();
  }

  const WriterEnvironment environment_;
  const std::uint64_t storage_id_;
  records::DatasetContent content_;
  // Null: nothing is kept. Of the queue's threads while it has a task, but for IsDue and DropAtEnd.
  const std::unique_ptr<ImportFolder> folder_;
  rocks::SortedFileWriter graphs_;
  bool taken_in_ = false;  // what was staged is in the database

  std::uint64_t piece_bytes_ = folder_ == nullptr ? 0 : folder_->file_bytes();
  std::uint64_t new_bytes_ = 0;  // staged behind the last piece
  // Of the queue's thread while it holds records, as is graphs_.
  std::uint64_t written_ = content_.graphs();
  // Last: it uses all of the above.
  StagingQueue queue_{[this](std::span<const std::byte> records) { content_.HashRecords(records); },
                      [this](std::span<const std::byte> records, std::span<const std::uint32_t> sizes) {
                        return Write(records, sizes);
                      }};
};

}  // namespace

std::unique_ptr<DatasetWriter> NewRocksDatasetWriter(const WriterEnvironment& environment,
                                                     std::uint64_t storage_id,
                                                     records::DatasetContent content) {
  return std::make_unique<RocksDatasetWriter>(environment, storage_id, std::move(content));
}

absl::StatusOr<std::unique_ptr<DatasetWriter>> NewKeptDatasetWriter(const WriterEnvironment& environment,
                                                                    std::unique_ptr<ImportFolder> folder,
                                                                    records::DatasetContent content,
                                                                    GraphStore::ReadProgress progress) {
  ABSL_ASSIGN_OR_RETURN(std::vector<rocks::SortedFile> files,
                        ReadPieces(*environment.database, *folder, content, progress));
  return std::make_unique<RocksDatasetWriter>(environment, std::move(folder), std::move(content),
                                              std::move(files));
}

}  // namespace packtrain::storage
