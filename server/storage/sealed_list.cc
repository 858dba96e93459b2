#include "server/storage/sealed_list.h"

#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/crc32c.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/log/event_log.h"
#include "server/storage/graph_database.h"
#include "server/storage/key_schema.h"
#include "server/storage/stored_dataset.h"
#include "server/storage/synced_file.h"

namespace packtrain::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLine = "packtrain sealed 1\n";
constexpr std::string_view kChecksum = "crc32c ";

std::string ChecksumOf(std::string_view text) {
  return absl::StrCat(absl::Hex(base::Crc32c(std::as_bytes(std::span(text))), absl::kZeroPad8));
}

absl::Status Damaged() { return absl::DataLossError("the list of what was sealed is damaged"); }

absl::Status LostError(const std::string& name, const std::string& version) {
  const std::string dataset = wire::FullName(name, version);
  return base::WithReason(
      absl::DataLossError(absl::StrCat("data set ", dataset,
                                       " was sealed here, and the store has lost it; import it again, or "
                                       "`packtrain dataset delete ",
                                       dataset, "` forgets it")),
      "DATASET_LOST", {{"dataset", dataset}});
}

void LogFailure(const char* event, const fs::path& file, const absl::Status& status) {
  log::Log(log::Level::kError, event,
           {{"file", file.string()},
            {"message", std::string_view(status.message().data(), status.message().size())}});
}

}  // namespace

fs::path SealedList::FileIn(const fs::path& folder) { return folder / "SEALED"; }

SealedList::SealedList(fs::path file, std::shared_ptr<const rocks::Database> database, Content content)
    : file_(std::move(file)), database_(std::move(database)), content_(std::move(content)) {}

void SealedList::List(const v1::Dataset& dataset, Content& content) {
  v1::Dataset& listed = content.sealed[VersionOf(dataset)];
  listed.set_name(dataset.name());
  listed.set_version(dataset.version());
  listed.set_graphs(dataset.graphs());
  listed.set_bytes(dataset.bytes());
}

std::string SealedList::Encode(const Content& content) {
  std::string text(kFirstLine);
  for (const auto& [name, version] : content.current)
    absl::StrAppend(&text, "current ", name, " ", version, "\n");
  for (const auto& [version, dataset] : content.sealed) {
    absl::StrAppend(&text, "sealed ", version.first, " ", version.second, " ", dataset.graphs(), " ",
                    dataset.bytes(), "\n");
  }
  return absl::StrCat(text, std::string(kChecksum), ChecksumOf(text), "\n");
}

absl::StatusOr<SealedList::Content> SealedList::Decode(std::string_view text) {
  const std::size_t end = text.rfind(kChecksum);
  if (!text.starts_with(kFirstLine) || end == std::string_view::npos) return Damaged();
  const std::string_view body = text.substr(0, end);
  if (text.substr(end) != absl::StrCat(std::string(kChecksum), ChecksumOf(body), "\n")) return Damaged();
  std::istringstream words{std::string(body.substr(kFirstLine.size()))};
  Content content;
  for (std::string kind, name, version; words >> kind >> name >> version;) {
    if (kind == "current") {
      content.current[name] = version;
      continue;
    }
    std::uint64_t graphs = 0, bytes = 0;
    if (kind != "sealed" || !(words >> graphs >> bytes)) return Damaged();
    v1::Dataset dataset;
    dataset.set_name(name);
    dataset.set_version(version);
    dataset.set_graphs(graphs);
    dataset.set_bytes(bytes);
    List(dataset, content);
  }
  return content;
}

absl::StatusOr<std::optional<SealedList::Content>> SealedList::ReadFile(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) return std::optional<Content>();
  if (!fs::is_regular_file(status)) return Damaged();
  std::ifstream stream(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  ABSL_ASSIGN_OR_RETURN(Content content, Decode(text));
  return std::optional<Content>(std::move(content));
}

absl::StatusOr<SealedList::Content> SealedList::ReadDatabase(const rocks::Database& database) {
  Content content;
  const auto add_version = [&](std::string_view key, std::string_view value) {
    const DatasetReference reference = ParseReference(key.substr(kDatasetPrefix.size()));
    const absl::StatusOr<StoredDataset> stored = DecodeDataset(value);
    v1::Dataset& dataset = content.sealed[{reference.name, reference.version.value_or("")}];
    dataset.set_name(reference.name);
    dataset.set_version(reference.version.value_or(""));
    if (!stored.ok()) return absl::OkStatus();  // whoever opens it is told
    dataset.set_graphs(stored->description.graphs());
    dataset.set_bytes(stored->description.bytes());
    return absl::OkStatus();
  };
  const auto add_name = [&](std::string_view key, std::string_view version) {
    content.current[std::string(key.substr(kNamePrefix.size()))] = version;
    return absl::OkStatus();
  };
  ABSL_RETURN_IF_ERROR(database.Scan(Family::kMeta, kDatasetPrefix, add_version));
  ABSL_RETURN_IF_ERROR(database.Scan(Family::kMeta, kNamePrefix, add_name));
  return content;
}

SealedList::Content SealedList::Compare(std::optional<Content> written, Content stored) {
  if (!written) return stored;
  for (const auto& [version, dataset] : written->sealed) {
    if (!stored.sealed.contains(version)) stored.lost.insert(version);
  }
  for (const Version& version : stored.lost) {
    const auto current = written->current.find(version.first);
    const bool meant = current != written->current.end() && current->second == version.second;
    if (meant) stored.current[version.first] = version.second;
  }
  stored.sealed.merge(written->sealed);
  return stored;
}

absl::StatusOr<std::shared_ptr<SealedList>> SealedList::OpenForCheck(
    const fs::path& file, std::shared_ptr<const rocks::Database> database) {
  ABSL_ASSIGN_OR_RETURN(std::optional<Content> written, ReadFile(file));
  ABSL_ASSIGN_OR_RETURN(Content stored, ReadDatabase(*database));
  return std::shared_ptr<SealedList>(
      new SealedList(file, std::move(database), Compare(std::move(written), std::move(stored))));
}

std::shared_ptr<SealedList> SealedList::Open(const fs::path& file,
                                             std::shared_ptr<const rocks::Database> database) {
  absl::StatusOr<std::optional<Content>> written = ReadFile(file);
  if (!written.ok()) LogFailure("sealed_list_damaged", file, written.status());
  absl::StatusOr<Content> stored = ReadDatabase(*database);
  if (!stored.ok()) LogFailure("sealed_list_not_compared", file, stored.status());
  std::optional<Content> named = written.ok() ? *std::move(written) : std::nullopt;
  // Where the database cannot be listed, it is not known whether anything is lost.
  const bool compared = stored.ok();
  Content found = compared ? *std::move(stored) : named.value_or(Content());
  std::shared_ptr<SealedList> list(
      new SealedList(file, std::move(database), Compare(std::move(named), std::move(found))));
  for (const v1::Dataset& lost : list->Lost(std::nullopt)) {
    log::Log(log::Level::kError, "dataset_lost",
             {{"dataset", wire::FullName(lost)}, {"graphs", lost.graphs()}});
  }
  if (compared) list->WriteFirst();
  return list;
}

SealedList::Content SealedList::Copy() const {
  const base::MutexLock lock(mutex_);
  return content_;
}

SealedList::Content SealedList::CopyWithWhatStayed() {
  Content content = Copy();
  std::erase_if(withdrawn_, [&](const Version& version) {
    const auto stored = FindVersion(*database_, version.first, version.second);
    if (stored.ok() && stored->has_value()) List((*stored)->description, content);
    return stored.ok();
  });
  return content;
}

absl::Status SealedList::Write(const Content& content) const { return ReplaceFile(file_, Encode(content)); }

void SealedList::TryToWrite(const Content& content) const {
  const absl::Status written = Write(content);
  if (!written.ok()) LogFailure("sealed_list_not_written", file_, written);
}

void SealedList::WriteFirst() {
  const base::MutexLock changing(changing_);
  TryToWrite(Copy());
}

void SealedList::Publish(Content content) {
  const base::MutexLock lock(mutex_);
  content_ = std::move(content);
  if (watcher_) watcher_(!content_.lost.empty());
}

void SealedList::Add(const v1::Dataset& sealed) {
  const base::MutexLock changing(changing_);
  Content content = CopyWithWhatStayed();
  List(sealed, content);
  content.current[sealed.name()] = sealed.version();
  content.lost.erase(VersionOf(sealed));
  TryToWrite(content);
  Publish(std::move(content));
}

absl::Status SealedList::Withdraw(const std::vector<v1::Dataset>& versions) {
  if (versions.empty()) return absl::OkStatus();
  const base::MutexLock changing(changing_);
  Content content = Copy();
  for (const v1::Dataset& dataset : versions) {
    content.sealed.erase(VersionOf(dataset));
    content.lost.erase(VersionOf(dataset));
  }
  ABSL_RETURN_IF_ERROR(Write(content));
  for (const v1::Dataset& dataset : versions) withdrawn_.insert(VersionOf(dataset));
  Publish(std::move(content));
  return absl::OkStatus();
}

absl::Status SealedList::Forget(const std::vector<v1::Dataset>& deleted, const std::string& current) {
  const base::MutexLock changing(changing_);
  Content content = CopyWithWhatStayed();
  const std::string& name = deleted.front().name();
  bool any_lost = false;
  for (const v1::Dataset& dataset : deleted) {
    content.sealed.erase(VersionOf(dataset));
    any_lost = content.lost.erase(VersionOf(dataset)) > 0 || any_lost;
  }
  if (current.empty()) {
    content.current.erase(name);
  } else {
    content.current[name] = current;
  }
  if (any_lost) {
    ABSL_RETURN_IF_ERROR(Write(content));
  } else {
    TryToWrite(content);
  }
  Publish(std::move(content));
  return absl::OkStatus();
}

std::vector<v1::Dataset> SealedList::Lost(const std::optional<DatasetReference>& reference) const {
  std::vector<v1::Dataset> lost;
  const base::MutexLock lock(mutex_);
  for (const Version& version : content_.lost) {
    const bool named = !reference || (reference->name == version.first &&
                                      (!reference->version || *reference->version == version.second));
    if (named) lost.push_back(content_.sealed.at(version));
  }
  return lost;
}

absl::Status SealedList::Check(const DatasetReference& reference) const {
  const base::MutexLock lock(mutex_);
  std::string version = reference.version.value_or("");
  if (const auto current = content_.current.find(reference.name);
      !reference.version && current != content_.current.end())
    version = current->second;
  return content_.lost.contains({reference.name, version}) ? LostError(reference.name, version)
                                                           : absl::OkStatus();
}

void SealedList::Watch(std::function<void(bool any_lost)> watcher) {
  const base::MutexLock lock(mutex_);
  watcher_ = std::move(watcher);
  if (watcher_) watcher_(!content_.lost.empty());
}

}  // namespace packtrain::storage
