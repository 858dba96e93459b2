#include "server/rocks/verify_files.h"

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/transaction_log.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rocks/instance.h"
#include "server/rocks/log_file.h"
#include "server/rocks/rocks_status.h"

namespace packtrain::rocks {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCurrent = "CURRENT";
constexpr std::string_view kManifest = "MANIFEST-";
constexpr std::string_view kLog = ".log";
constexpr std::string_view kSorted = ".sst";

std::string NameOf(const fs::path& path) { return path.filename().string(); }

StoredFile FileAt(const fs::path& path) {
  std::error_code missing;
  const std::uint64_t bytes = fs::file_size(path, missing);
  return {path, missing ? 0 : bytes, false};
}

// Sorted by name.
std::vector<StoredFile> FilesIn(const fs::path& folder, bool (*wanted)(const std::string& name)) {
  std::vector<StoredFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (wanted(NameOf(entry.path()))) files.push_back(FileAt(entry.path()));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

// The manifest that CURRENT names; empty where that is none.
fs::path ManifestOf(const fs::path& current) {
  std::ifstream file(current, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!text.starts_with(kManifest) || !text.ends_with('\n')) return {};
  const std::string name = text.substr(0, text.size() - 1);
  const bool numbered =
      name.size() > kManifest.size() &&
      std::all_of(name.begin() + kManifest.size(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  std::error_code error;
  return numbered && fs::is_regular_file(current.parent_path() / name, error) ? current.parent_path() / name
                                                                              : fs::path();
}

absl::Status VerifyCurrent(const fs::path& path) {
  if (!ManifestOf(path).empty()) return absl::OkStatus();
  return absl::DataLossError("it does not name a manifest that is there");
}

absl::Status VerifyLogFile(const StoredFile& file) {
  std::ifstream log(file.path, std::ios::binary);
  if (!log) return absl::DataLossError("it is missing or cannot be opened");
  return VerifyLog(log, file.bytes, file.grows ? LogEnd::kOpen : LogEnd::kWhole);
}

absl::Status VerifySorted(const fs::path& path) {
  rocksdb::SstFileReader reader(rocksdb::Options{});  // with a cache of its own
  rocksdb::Status status = reader.Open(path.string());
  if (status.ok()) status = reader.VerifyChecksum();
  std::error_code error;
  if (!status.ok() && !fs::exists(path, error)) return absl::DataLossError("it is missing");
  return ToStatus(status, absl::StrCat("reading ", path.string()));
}

}  // namespace

absl::Status VerifyFile(const StoredFile& file) {
  const std::string name = NameOf(file.path);
  if (name == kCurrent) return VerifyCurrent(file.path);
  return name.ends_with(kSorted) ? VerifySorted(file.path) : VerifyLogFile(file);
}

LiveFiles::LiveFiles(std::shared_ptr<Instance> instance, std::atomic<int>& checks)
    : instance_(std::move(instance)), checks_(checks) {
  ++checks_;
  instance_->db().DisableFileDeletions().PermitUncheckedError();
}

LiveFiles::~LiveFiles() {
  instance_->db().EnableFileDeletions(/*force=*/false).PermitUncheckedError();
  --checks_;
}

absl::StatusOr<std::vector<StoredFile>> LiveFiles::List() const {
  rocksdb::DB& database = instance_->db();
  const fs::path folder = database.GetName();
  std::vector<std::string> names;  // each begins with a slash
  std::uint64_t manifest_bytes = 0;
  rocksdb::Status status = database.GetLiveFiles(names, &manifest_bytes, /*flush_memtable=*/false);
  rocksdb::VectorLogPtr logs;
  if (status.ok()) status = database.GetSortedWalFiles(logs);
  if (!status.ok()) return ToStatus(status, "listing the files of the store");
  std::vector<StoredFile> files;
  for (const std::string& name : names) {
    const StoredFile file = FileAt(folder / name.substr(1));
    const bool manifest = NameOf(file.path).starts_with(kManifest);
    if (manifest) files.push_back({file.path, manifest_bytes, true});
    if (name.ends_with(kSorted) || NameOf(file.path) == kCurrent) files.push_back(file);
  }
  for (const auto& log : logs) {
    files.push_back({folder / log->PathName().substr(1), log->SizeFileBytes(), log == logs.back()});
  }
  return files;
}

std::vector<StoredFile> JournalsIn(const fs::path& folder) {
  const fs::path current = folder / kCurrent, manifest = ManifestOf(current);
  std::vector<StoredFile> files = {FileAt(current)};
  if (!manifest.empty()) files.push_back(FileAt(manifest));
  const auto others =
      manifest.empty()
          ? +[](const std::string& name) { return name.starts_with(kManifest) || name.ends_with(kLog); }
          : +[](const std::string& name) { return name.ends_with(kLog); };
  std::ranges::copy(FilesIn(folder, others), std::back_inserter(files));
  return files;
}

std::vector<StoredFile> SortedFilesOf(rocksdb::DB& database) {
  std::vector<rocksdb::LiveFileMetaData> live;
  database.GetLiveFilesMetaData(&live);
  std::vector<StoredFile> files;
  files.reserve(live.size());
  for (const rocksdb::LiveFileMetaData& file : live) files.push_back(FileAt(file.db_path + file.name));
  return files;
}

std::vector<StoredFile> SortedFilesIn(const fs::path& folder) {
  return FilesIn(folder, [](const std::string& name) { return name.ends_with(kSorted); });
}

}  // namespace packtrain::rocks
