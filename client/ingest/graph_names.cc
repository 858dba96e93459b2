#include "client/ingest/graph_names.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "client/ingest/source_files.h"
#include "client/ingest/text.h"

namespace packtrain::ingest {
namespace {

constexpr char kFolderSeparator = '/';

// FNV-1a, the same in every process, so that a name never depends on the run.
std::uint64_t HashOf(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return seed;
}

std::uint64_t HashOfTitle(const ReadRecord& record) {
  const std::uint64_t number = record.file->number;
  return HashOf(record.graph.title, HashOf({reinterpret_cast<const char*>(&number), sizeof(number)}));
}

std::uint32_t CountFolders(const std::string& path) {
  return static_cast<std::uint32_t>(std::count(path.begin(), path.end(), kFolderSeparator));
}

// Puts one more folder in front of all files of a stem until their names differ.
std::uint32_t FoldersThatTellApart(const std::vector<const std::string*>& files) {
  for (std::uint32_t folders = 0;; ++folders) {
    std::vector<std::string> names;
    bool has_more = false;
    for (const std::string* file : files) {
      names.push_back(NameOfFile(*file, folders));
      has_more |= folders < CountFolders(*file);
    }
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) == names.end()) return folders;
    if (!has_more) return kWholePath;
  }
}

}  // namespace

std::string NameOfFile(const std::string& path, std::uint32_t folders) {
  if (folders == kWholePath) return path;
  const std::size_t name = path.rfind(kFolderSeparator) + 1;  // 0 without a folder
  std::size_t begin = name;
  for (; folders > 0 && begin > 1; --folders) begin = path.rfind(kFolderSeparator, begin - 2) + 1;
  return absl::StrCat(path.substr(begin, name - begin), StemOf(path));
}

GraphNames::GraphNames(const std::vector<std::string>& files) {
  absl::flat_hash_map<std::uint64_t, std::vector<const std::string*>> by_stem;
  for (const std::string& file : files) by_stem[HashOf(StemOf(file))].push_back(&file);
  for (const auto& [stem, equal] : by_stem) {
    if (equal.size() > 1) folders_[stem] = FoldersThatTellApart(equal);
  }
}

void GraphNames::Restart() {
  titles_.clear();
  file_names_.clear();
  file_ = 0;
  repeated_.clear();
}

void GraphNames::Name(ReadRecord* record) {
  if (record->graph.record == 0) return;
  if (record->file->number != file_) BeginFile(*record->file);
  if (record->has_id) return;
  if (record->is_only) {
    record->graph.id = file_name_;
  } else if (IsUnique(*record)) {
    record->graph.id = record->graph.title;
  } else {
    record->graph.id = absl::StrCat(file_name_, ":", record->graph.record);
  }
}

void GraphNames::BeginFile(const InputFile& file) {
  file_ = file.number;
  titles_.clear();
  const std::string stem = StemOf(file.path);
  const std::uint64_t key = HashOf(stem);
  const auto learnt = folders_.find(key);
  const std::uint32_t folders = learnt == folders_.end() ? 0 : learnt->second;
  file_name_ = NameOfFile(file.path, folders);
  if (file_names_.insert(HashOf(file_name_)).second || folders == kWholePath) return;
  folders_[key] = folders > CountFolders(file.path) ? kWholePath : folders + 1;
  repeated_ = file_name_;
}

bool GraphNames::IsUnique(const ReadRecord& record) {
  const std::string& title = record.graph.title;
  if (title.empty() || ParseDouble(title)) return false;
  const std::uint64_t key = HashOfTitle(record);
  if (repeated_titles_.contains(key)) return false;
  if (titles_.insert(key).second) return true;
  repeated_titles_.insert(key);
  repeated_ = title;
  return false;
}

}  // namespace packtrain::ingest
