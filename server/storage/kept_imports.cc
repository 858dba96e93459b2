#include "server/storage/kept_imports.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "server/log/event_log.h"
#include "server/rocks/rocks_status.h"
#include "server/rocks/sorted_files.h"
#include "server/storage/seal.h"
#include "server/storage/synced_file.h"

namespace packtrain::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDigestBytes = 128;
constexpr std::size_t kMaxSettingsBytes = 64 << 10;
// Of other imports, in an answer.
constexpr std::size_t kMaxOthers = 8;
// Beyond, the oldest is dropped.
constexpr std::size_t kMaxKept = 256;
// At the most between two looks at what is too old, as the system's clock may be set.
constexpr std::chrono::milliseconds kLook = std::chrono::minutes(1);

bool IsDigest(std::string_view text) {
  return !text.empty() && text.size() <= kMaxDigestBytes &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

absl::Status Invalid(const std::string& message) {
  return base::WithField(absl::InvalidArgumentError(message), "header.identity");
}

std::string_view ViewOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// Of a folder that an import has staged in; nothing where it is none.
std::optional<std::uint64_t> StorageIdOfFolder(const fs::path& path) {
  const std::string name = path.filename().string();
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  const bool is_id = error == std::errc() && end == name.data() + name.size() && std::to_string(id) == name;
  std::error_code ignored;
  return is_id && fs::is_directory(path, ignored) ? std::optional(id) : std::nullopt;
}

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    entries.push_back(entry->path());
  }
  return entries;
}

// Removes what a folder holds beside the journal and the first `files` sorted files.
void RemoveOthers(const fs::path& journal, const std::string& stem, std::size_t files) {
  std::set<fs::path> stay = {journal};
  for (std::size_t k = 0; k < files; ++k) stay.insert(rocks::SortedFilePath(stem, k));
  std::error_code ignored;  // what stays is removed with the folder
  for (const fs::path& path : EntriesOf(journal.parent_path())) {
    if (!stay.contains(path)) fs::remove_all(path, ignored);
  }
}

}  // namespace

ImportKey KeyOf(const v1::ImportIdentity& identity) { return {identity.name(), identity.digest()}; }

absl::Status CheckIdentity(const v1::ImportHeader& header) {
  if (!header.has_identity()) {
    if (header.continue_at() == 0) return absl::OkStatus();
    return Invalid("an import goes on (continue_at) under an identity, and the header has none");
  }
  const v1::ImportIdentity& identity = header.identity();
  ABSL_RETURN_IF_ERROR(CheckDatasetName(identity.name()));
  if (!IsDigest(identity.digest())) {
    return Invalid(
        absl::StrCat("the digest of an import is 1 to ", kMaxDigestBytes, " characters of [0-9a-f]"));
  }
  std::size_t bytes = 0;
  for (const v1::ImportSetting& setting : identity.settings()) bytes += setting.ByteSizeLong();
  if (bytes <= kMaxSettingsBytes) return absl::OkStatus();
  return Invalid(absl::StrCat("the settings of an import have ", bytes, " bytes, at most ", kMaxSettingsBytes,
                              " are taken"));
}

absl::Status KeptImportChanged(std::uint64_t graphs) {
  return base::WithReason(
      absl::AbortedError(absl::StrCat("what is kept of the import holds ", graphs, " graphs, not what it was ",
                                      "to go on with; ask again where it goes on")),
      "KEPT_IMPORT_CHANGED", {{"graphs", absl::StrCat(graphs)}});
}

ImportFolder::ImportFolder(std::shared_ptr<KeptImports> owner, fs::path path, ImportJournal journal)
    : owner_(std::move(owner)),
      path_(std::move(path)),
      beginning_(std::move(journal.beginning)),
      ends_(std::move(journal.ends)) {
  for (ImportPiece& piece : journal.pieces) {
    const std::uint64_t staged = piece.progress.staged();
    pieces_.push_back({staged - staged_, piece.file_bytes, piece.progress.received()});
    staged_ = staged;
    file_bytes_ += piece.file_bytes;
    written_at_ms_ = piece.written_at_ms;
    listed_ += piece.progress.refused_size();
    google::protobuf::RepeatedPtrField<v1::RefusedGraph> refused = std::move(*progress_.mutable_refused());
    for (v1::RefusedGraph& graph : *piece.progress.mutable_refused()) *refused.Add() = std::move(graph);
    progress_ = std::move(piece.progress);
    *progress_.mutable_refused() = std::move(refused);
  }
}

ImportFolder::~ImportFolder() { owner_->PutBack(*this); }

bool ImportFolder::IsDue(std::uint64_t bytes, std::uint64_t before) const {
  const KeptImportsOptions& options = owner_->options_;
  return bytes >= std::clamp(before / 8, options.min_piece_bytes, options.max_piece_bytes);
}

// In an order in which a power cut leaves no record of a piece that is not there.
absl::Status ImportFolder::WritePiece(const ImportPiece& piece) const {
  ABSL_RETURN_IF_ERROR(SyncFolder(path_));
  const std::string begin = pieces_.empty() ? EncodeBeginning(beginning_) : "";
  ABSL_RETURN_IF_ERROR(AppendToFile(JournalIn(path_), begin + EncodePiece(piece)));
  if (!pieces_.empty()) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(SyncFolder(path_));
  return SyncFolder(path_.parent_path());
}

ImportPiece ImportFolder::PieceOf(const v1::ImportGraphsResponse& progress) const {
  ImportPiece piece;
  piece.progress.set_received(progress.received());
  piece.progress.set_staged(progress.staged());
  piece.progress.set_refused_truncated(progress.refused_truncated());
  *piece.progress.mutable_refused_by_reason() = progress.refused_by_reason();
  for (int k = listed_; k < progress.refused_size(); ++k) *piece.progress.add_refused() = progress.refused(k);
  return piece;
}

void ImportFolder::AddPiece(std::uint64_t file_bytes, ImportPiece piece) {
  if (fails_) return;
  piece.file_bytes = file_bytes;
  piece.written_at_ms = owner_->now_ms();
  const absl::Status written = WritePiece(piece);
  if (!written.ok()) {
    fails_ = true;
    log::Log(log::Level::kWarn, "import_not_kept",
             {{"dataset", beginning_.identity.name()}, {"graphs", received()}, {"message", ViewOf(written)}});
    return;
  }
  const v1::ImportGraphsResponse& progress = piece.progress;
  pieces_.push_back({progress.staged() - staged_, file_bytes, progress.received()});
  staged_ = progress.staged();
  file_bytes_ += file_bytes;
  listed_ += progress.refused_size();
  written_at_ms_ = piece.written_at_ms;
}

void ImportFolder::KeepPieces(std::size_t count) {
  pieces_.resize(count);
  file_bytes_ = 0;
  for (const Piece& piece : pieces_) file_bytes_ += piece.file_bytes;
  std::error_code error;
  fs::resize_file(JournalIn(path_), ends_[count], error);
  drops_ = drops_ || error;
}

void ImportFolder::NoteSealed() {
  drops_ = true;
  std::vector<KeptImports::Kept> removed;
  {
    const base::MutexLock lock(owner_->mutex_);
    removed = owner_->Supersede(KeyOf(beginning_.identity));
  }
  owner_->Remove(removed, "an import of the same identity is sealed");
}

KeptImports::KeptImports(fs::path staging, KeptImportsOptions options)
    : staging_(std::move(staging)), options_(std::move(options)) {}

absl::StatusOr<std::shared_ptr<KeptImports>> KeptImports::Open(const fs::path& staging,
                                                               const std::vector<std::uint64_t>& in_database,
                                                               KeptImportsOptions options) {
  std::error_code error;
  fs::create_directory(staging, error);
  std::shared_ptr<KeptImports> kept(new KeptImports(staging, std::move(options)));
  for (const fs::path& path : EntriesOf(staging)) {
    const std::optional<std::uint64_t> id = StorageIdOfFolder(path);
    if (id && kept->keeps() && !std::ranges::binary_search(in_database, *id) && kept->Load(*id)) continue;
    if (!error) fs::remove_all(path, error);
  }
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("can't use folder ", staging.string(), ": ", error.message()));
  }
  kept->DropOld();
  if (kept->keeps()) kept->dropper_ = std::thread([raw = kept.get()] { raw->DropOldUntilStopped(); });
  return kept;
}

KeptImports::~KeptImports() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (dropper_.joinable()) dropper_.join();
}

fs::path KeptImports::FolderOf(std::uint64_t storage_id) const { return staging_ / std::to_string(storage_id); }

std::int64_t KeptImports::now_ms() const {
  if (options_.now_ms) return options_.now_ms();
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

absl::StatusOr<ImportJournal> KeptImports::ReadFolder(std::uint64_t storage_id) const {
  const fs::path folder = FolderOf(storage_id);
  const fs::path file = ImportFolder::JournalIn(folder);
  ABSL_ASSIGN_OR_RETURN(ImportJournal journal, ReadJournal(file));
  std::size_t whole = 0, files = 0;
  std::uint64_t received = 0, staged = 0;
  std::error_code error;
  for (const ImportPiece& piece : journal.pieces) {
    const bool grows = piece.progress.received() >= received && piece.progress.staged() >= staged;
    if (!grows || (piece.progress.staged() > staged) != (piece.file_bytes > 0)) break;
    if (piece.file_bytes > 0) {
      const std::string path = rocks::SortedFilePath(ImportFolder::StemIn(folder), files);
      if (fs::file_size(path, error) != piece.file_bytes || error) break;
      ++files;
    }
    received = piece.progress.received();
    staged = piece.progress.staged();
    ++whole;
  }
  journal.pieces.resize(whole);
  journal.ends.resize(whole + 1);
  fs::resize_file(file, journal.ends.back(), error);
  if (journal.beginning.storage_id != storage_id || whole == 0 || error) {
    return absl::DataLossError(absl::StrCat(folder.string(), " holds nothing to go on with"));
  }
  RemoveOthers(file, ImportFolder::StemIn(folder), files);
  return journal;
}

bool KeptImports::Load(std::uint64_t storage_id) {
  const absl::StatusOr<ImportJournal> journal = ReadFolder(storage_id);
  if (!journal.ok()) return false;
  Kept kept = {.storage_id = storage_id,
               .key = KeyOf(journal->beginning.identity),
               .header_digest = journal->beginning.header_digest,
               .graphs = journal->pieces.back().progress.received(),
               .bytes = journal->ends.back(),
               .written_at_ms = std::min(journal->pieces.back().written_at_ms, now_ms())};
  for (const ImportPiece& piece : journal->pieces) kept.bytes += piece.file_bytes;
  std::vector<Kept> removed;
  {
    const base::MutexLock lock(mutex_);
    Insert(std::move(kept), removed);
  }
  Remove(removed, "another import has its place");
  return true;
}

std::uint64_t KeptImports::next_storage_id() const {
  const base::MutexLock lock(mutex_);
  return kept_.empty() ? 1 : kept_.rbegin()->first + 1;
}

const KeptImports::Kept* KeptImports::FindKey(const ImportKey& key) const {
  const auto found = std::ranges::find_if(kept_, [&key](const auto& entry) { return entry.second.key == key; });
  return found == kept_.end() ? nullptr : &found->second;
}

std::vector<KeptImports::Kept> KeptImports::Supersede(const ImportKey& key) {
  for (auto& [id, import] : under_way_) import.superseded = import.superseded || import.key == key;
  const Kept* const kept = FindKey(key);
  if (kept == nullptr) return {};
  std::vector<Kept> removed = {*kept};
  kept_.erase(removed.front().storage_id);
  return removed;
}

void KeptImports::Insert(Kept kept, std::vector<Kept>& removed) {
  if (const Kept* const other = FindKey(kept.key)) {
    if (other->storage_id > kept.storage_id) {
      removed.push_back(std::move(kept));
      return;
    }
    removed.push_back(*other);
    kept_.erase(removed.back().storage_id);
  }
  kept_.emplace(kept.storage_id, kept);
  if (kept_.size() <= kMaxKept) return;
  const auto oldest =
      std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.written_at_ms; });
  removed.push_back(oldest->second);
  kept_.erase(oldest);
}

void KeptImports::Remove(const std::vector<Kept>& removed, const char* why) const {
  for (const Kept& kept : removed) {
    std::error_code ignored;  // what stays is removed by the next opening
    fs::remove_all(FolderOf(kept.storage_id), ignored);
    log::Log(log::Level::kInfo, "kept_import_dropped",
             {{"dataset", kept.key.first}, {"graphs", kept.graphs}, {"message", why}});
  }
}

absl::StatusOr<std::unique_ptr<ImportFolder>> KeptImports::Begin(const v1::ImportHeader& header,
                                                                 std::uint64_t storage_id) {
  const ImportKey key = KeyOf(header.identity());
  std::vector<Kept> removed;
  {
    const base::MutexLock lock(mutex_);
    removed = Supersede(key);
    under_way_.emplace(storage_id, UnderWay{key});
  }
  Remove(removed, "an import of the same identity begins anew");
  ImportJournal journal = {
      .beginning = {storage_id, HeaderDigest(header), header.identity()}, .pieces = {}, .ends = {}};
  std::unique_ptr<ImportFolder> folder(
      new ImportFolder(shared_from_this(), FolderOf(storage_id), std::move(journal)));
  std::error_code error;
  fs::create_directory(folder->path_, error);
  if (error) return rocks::ToStatus(error.value(), absl::StrCat("creating ", folder->path_.string()));
  return folder;
}

absl::StatusOr<std::unique_ptr<ImportFolder>> KeptImports::Take(const v1::ImportHeader& header) {
  const ImportKey key = KeyOf(header.identity());
  const std::string digest = HeaderDigest(header);
  std::uint64_t storage_id = 0;
  {
    const base::MutexLock lock(mutex_);
    const Kept* const kept = FindKey(key);
    if (kept == nullptr || kept->header_digest != digest) return KeptImportChanged(0);
    if (kept->graphs != header.continue_at()) return KeptImportChanged(kept->graphs);
    storage_id = kept->storage_id;
    kept_.erase(storage_id);
    under_way_.emplace(storage_id, UnderWay{key});
  }
  absl::StatusOr<ImportJournal> journal = ReadFolder(storage_id);
  if (!journal.ok())
    journal = ImportJournal{.beginning = {storage_id, digest, header.identity()}, .pieces = {}, .ends = {}};
  std::unique_ptr<ImportFolder> folder(
      new ImportFolder(shared_from_this(), FolderOf(storage_id), *std::move(journal)));
  if (folder->received() != header.continue_at()) return KeptImportChanged(folder->received());
  return folder;
}

v1::ContinueImportResponse KeptImports::Find(const v1::ImportHeader& header) const {
  const ImportKey key = KeyOf(header.identity());
  const std::string digest = HeaderDigest(header);
  v1::ContinueImportResponse response;
  std::vector<Kept> others;
  {
    const base::MutexLock lock(mutex_);
    for (const auto& [id, kept] : kept_) {
      if (kept.key != key) {
        if (kept.key.first == key.first) others.push_back(kept);
      } else if (kept.header_digest == digest) {
        response.set_graphs(kept.graphs);
      } else {
        response.set_other_header(true);
      }
    }
  }
  std::ranges::sort(others, std::greater(), &Kept::written_at_ms);
  for (const Kept& kept : others) {
    if (response.others_size() == kMaxOthers) break;
    absl::StatusOr<ImportJournal> journal = ReadJournal(ImportFolder::JournalIn(FolderOf(kept.storage_id)), 0);
    if (!journal.ok()) continue;  // it has gone meanwhile
    v1::KeptImport& other = *response.add_others();
    *other.mutable_identity() = std::move(journal->beginning.identity);
    other.set_graphs(kept.graphs);
    other.set_written_at_ms(kept.written_at_ms);
  }
  return response;
}

void KeptImports::PutBack(const ImportFolder& folder) {
  Kept kept = {.storage_id = folder.storage_id(),
               .key = KeyOf(folder.beginning_.identity),
               .header_digest = folder.beginning_.header_digest,
               .graphs = folder.received(),
               .bytes = folder.file_bytes_,
               .written_at_ms = folder.written_at_ms_};
  bool keeps = !folder.drops_ && !folder.pieces_.empty();
  if (keeps) {
    const auto files = std::ranges::count_if(
        folder.pieces_, [](const ImportFolder::Piece& piece) { return piece.file_bytes > 0; });
    RemoveOthers(ImportFolder::JournalIn(folder.path_), folder.stem(), static_cast<std::size_t>(files));
  }
  std::vector<Kept> removed;
  {
    const base::MutexLock lock(mutex_);
    keeps = keeps && !under_way_.at(kept.storage_id).superseded;
    under_way_.erase(kept.storage_id);
    if (keeps) Insert(kept, removed);
  }
  if (keeps) {
    log::Log(log::Level::kInfo, "import_kept",
             {{"dataset", kept.key.first}, {"graphs", kept.graphs}, {"bytes", kept.bytes}});
    Remove(removed, "another import has its place");
  } else {
    std::error_code ignored;  // what stays is removed by the next opening
    fs::remove_all(folder.path_, ignored);
  }
  changed_.NotifyAll();
}

KeptImports::Use KeptImports::use() const {
  const base::MutexLock lock(mutex_);
  Use use;
  use.imports = kept_.size();
  for (const auto& [id, kept] : kept_) use.bytes += kept.bytes;
  return use;
}

void KeptImports::DropOld() {
  const std::int64_t now = now_ms();
  std::vector<Kept> removed;
  {
    const base::MutexLock lock(mutex_);
    for (auto kept = kept_.begin(); kept != kept_.end();) {
      if (now - kept->second.written_at_ms < options_.keep.count()) {
        ++kept;
        continue;
      }
      removed.push_back(std::move(kept->second));
      kept = kept_.erase(kept);
    }
  }
  Remove(removed, "it was kept for --keep-staged");
}

void KeptImports::DropOldUntilStopped() {
  while (AwaitOld()) DropOld();
}

bool KeptImports::AwaitOld() {
  const base::MutexLock lock(mutex_);
  while (!stopping_ && kept_.empty()) changed_.Wait(mutex_);
  const auto look = std::chrono::steady_clock::now() + std::min(options_.keep, kLook);
  while (!stopping_ && changed_.WaitUntil(mutex_, look)) {
  }
  return !stopping_;
}

}  // namespace packtrain::storage
