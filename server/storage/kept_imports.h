// Imports that broke off, kept on the disk for a while, so that they go on where they stopped.
//
// An import with an identity stages its graphs in a folder of its own, STAGING/STORAGE_ID, as pieces: a piece
// is a sorted file, graphs-0.sst, graphs-1.sst, ..., that is ended and synced, and then a record of JOURNAL
// (import_journal.h). What breaks off keeps its pieces, over a restart, too, until it goes on, is sealed, an
// import of the same identity begins anew, or `keep` has passed since its last piece. Readers never see it.
//
//   std::unique_ptr<ImportFolder> folder = kept->Begin(header, storage_id).value();
//   folder->AddPiece(file_bytes, folder->PieceOf(progress));
//   folder.reset();                         // kept from here on
//   folder = kept->Take(header).value();    // header.continue_at() says how many graphs it holds
//   folder->DropAtEnd();
#ifndef PACKTRAIN_SERVER_STORAGE_KEPT_IMPORTS_H_
#define PACKTRAIN_SERVER_STORAGE_KEPT_IMPORTS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/base/mutex.h"
#include "server/storage/import_journal.h"

namespace packtrain::storage {

// Name and digest of an identity, by which an import is known again.
using ImportKey = std::pair<std::string, std::string>;
ImportKey KeyOf(const v1::ImportIdentity& identity);

// INVALID_ARGUMENT: an identity is not as dataset.proto says, or continue_at comes without one.
absl::Status CheckIdentity(const v1::ImportHeader& header);

// ABORTED: what is kept is not what an import wanted to go on with, but holds so many graphs.
absl::Status KeptImportChanged(std::uint64_t graphs);

struct KeptImportsOptions {
  // For how long what is staged is kept behind its last piece; 0: nothing is.
  std::chrono::milliseconds keep{0};
  // A piece ends once its records have reached this size and an eighth of what was staged before, so that not
  // much is lost by a kill and the files are few; or max_piece_bytes.
  std::uint64_t min_piece_bytes = std::uint64_t{4} << 20;
  std::uint64_t max_piece_bytes = std::uint64_t{256} << 20;
  // Milliseconds since 1970-01-01 UTC; null: the system's clock. Any thread calls it.
  std::function<std::int64_t()> now_ms = nullptr;
};

class KeptImports;

// The folder of one import under way. Used by one thread at a time, but that IsDue and DropAtEnd may be called
// beside AddPiece. Destroying it keeps the pieces, unless there are none, they are to be dropped, or an import
// of the same identity has begun anew or been sealed since.
class ImportFolder {
 public:
  ~ImportFolder();
  ImportFolder(const ImportFolder&) = delete;
  ImportFolder& operator=(const ImportFolder&) = delete;

  std::uint64_t storage_id() const { return beginning_.storage_id; }
  // Of the sorted files of the pieces.
  std::string stem() const { return StemIn(path_); }

  struct Piece {
    std::uint64_t graphs = 0;      // stored in it; 0: it has no file
    std::uint64_t file_bytes = 0;  // likewise
    std::uint64_t received = 0;    // graphs of the import up to its end
  };
  const std::vector<Piece>& pieces() const { return pieces_; }
  // What became of all graphs up to the end of the pieces; once, since it may be large.
  v1::ImportGraphsResponse TakeProgress() { return std::exchange(progress_, {}); }

  // Bytes of the sorted files of the pieces.
  std::uint64_t file_bytes() const { return file_bytes_; }
  // Whether so many bytes behind the last piece should become one, where `before` are in pieces. Any thread.
  bool IsDue(std::uint64_t bytes, std::uint64_t before) const;
  // What a piece says that ends here: `progress` is that of all graphs so far.
  ImportPiece PieceOf(const v1::ImportGraphsResponse& progress) const;
  // The file of stem() that was ended last, of `file_bytes`, is this piece, the next one; 0: none was, but
  // graphs were refused. Where the journal cannot be written, this piece and those to come are not kept, and
  // the log says so.
  void AddPiece(std::uint64_t file_bytes, ImportPiece piece);
  // Graphs received up to the last piece.
  std::uint64_t received() const { return pieces_.empty() ? 0 : pieces_.back().received; }

  // Keeps the first `count` pieces only: the next one is damaged. Only destroying is left.
  void KeepPieces(std::size_t count);
  void DropAtEnd() { drops_ = true; }
  // What was staged is sealed: nothing of its identity is worth keeping.
  void NoteSealed();

 private:
  friend class KeptImports;
  // `journal` is what there is of the import already, or a beginning alone.
  ImportFolder(std::shared_ptr<KeptImports> owner, std::filesystem::path path, ImportJournal journal);
  static std::string StemIn(const std::filesystem::path& folder) { return (folder / "graphs").string(); }
  static std::filesystem::path JournalIn(const std::filesystem::path& folder) { return folder / "JOURNAL"; }
  absl::Status WritePiece(const ImportPiece& piece) const;

  const std::shared_ptr<KeptImports> owner_;
  const std::filesystem::path path_;
  const ImportBeginning beginning_;
  std::vector<std::uint64_t> ends_;  // as ImportJournal::ends, of the pieces that were there
  std::vector<Piece> pieces_;
  v1::ImportGraphsResponse progress_;
  std::uint64_t file_bytes_ = 0;  // of all pieces
  std::uint64_t staged_ = 0;      // graphs in them
  int listed_ = 0;                // refused graphs in the journal
  std::int64_t written_at_ms_ = 0;
  bool fails_ = false;  // the journal cannot be written
  bool drops_ = false;
};

// Any number of threads may use it; a thread of its own drops what is too old.
class KeptImports : public std::enable_shared_from_this<KeptImports> {
 public:
  // Finds what was kept in `staging`, which is made, and removes all else there; of an import whose storage id
  // is in `in_database`, some is in the database, and it is dropped. Only with the database's lock held:
  // another process's imports under way have their files there. FAILED_PRECONDITION: the folder cannot be used.
  static absl::StatusOr<std::shared_ptr<KeptImports>> Open(const std::filesystem::path& staging,
                                                           const std::vector<std::uint64_t>& in_database,
                                                           KeptImportsOptions options);
  ~KeptImports();
  KeptImports(const KeptImports&) = delete;
  KeptImports& operator=(const KeptImports&) = delete;

  // Whether imports are kept at all; otherwise nothing is to be begun.
  bool keeps() const { return options_.keep > std::chrono::milliseconds(0); }
  // Above all storage ids in use here.
  std::uint64_t next_storage_id() const;

  // A folder for an import that begins anew. What is kept under its identity is dropped, and what is under way
  // under it will not be kept. RESOURCE_EXHAUSTED, UNAVAILABLE: the disk.
  absl::StatusOr<std::unique_ptr<ImportFolder>> Begin(const v1::ImportHeader& header, std::uint64_t storage_id);
  // The folder of an import that goes on at header.continue_at(). ABORTED: that is not what is kept.
  absl::StatusOr<std::unique_ptr<ImportFolder>> Take(const v1::ImportHeader& header);
  // As DatasetService.ContinueImport, of what is kept now.
  v1::ContinueImportResponse Find(const v1::ImportHeader& header) const;

  // Drops what is older than `keep`.
  void DropOld();

  struct Use {
    std::uint64_t imports = 0;
    std::uint64_t bytes = 0;
  };
  // Of what is kept, without imports under way.
  Use use() const;

 private:
  friend class ImportFolder;

  struct Kept {
    std::uint64_t storage_id = 0;
    ImportKey key;
    std::string header_digest;
    std::uint64_t graphs = 0;  // received
    std::uint64_t bytes = 0;
    std::int64_t written_at_ms = 0;
  };

  struct UnderWay {
    ImportKey key;
    bool superseded = false;  // it will not be kept
  };

  KeptImports(std::filesystem::path staging, KeptImportsOptions options);
  std::filesystem::path FolderOf(std::uint64_t storage_id) const;
  std::int64_t now_ms() const;
  // The journal in a folder, cut to the pieces whose files are there, as the file is, too.
  absl::StatusOr<ImportJournal> ReadFolder(std::uint64_t storage_id) const;
  // Loads what is left of an import that broke off; false: nothing.
  bool Load(std::uint64_t storage_id);
  // Keeps what a folder that is given up holds, or removes it.
  void PutBack(const ImportFolder& folder);
  // Takes out what is kept under `key`, and keeps nothing of what is under way under it.
  std::vector<Kept> Supersede(const ImportKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves what is one too many to `removed`: of one key, the import that began first.
  void Insert(Kept kept, std::vector<Kept>& removed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const Kept* FindKey(const ImportKey& key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Not under the lock: that removes files.
  void Remove(const std::vector<Kept>& removed, const char* why) const;

  void DropOldUntilStopped();
  // Sleeps until some import may have become too old; false when stopping.
  bool AwaitOld();

  const std::filesystem::path staging_;
  const KeptImportsOptions options_;

  base::CondVar changed_;
  mutable base::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::uint64_t, Kept> kept_ ABSL_GUARDED_BY(mutex_);           // by storage id; each key once
  std::map<std::uint64_t, UnderWay> under_way_ ABSL_GUARDED_BY(mutex_);  // by storage id

  std::thread dropper_;
};

}  // namespace packtrain::storage

#endif  // PACKTRAIN_SERVER_STORAGE_KEPT_IMPORTS_H_
