#include "server/storage/index_check.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/wire/full_name.h"
#include "server/rocks/big_endian.h"
#include "server/rocks/check_report.h"
#include "server/storage/key_schema.h"

namespace packtrain::storage {
namespace {

// What follows `prefix` in `key`; none where the key begins otherwise.
std::optional<std::string> After(std::string_view prefix, std::string_view key) {
  if (!key.starts_with(prefix)) return std::nullopt;
  return std::string(key.substr(prefix.size()));
}

// Used once.
class MetaCheck {
 public:
  explicit MetaCheck(const rocks::Database& database) : database_(database) {}

  IndexCheck Run() {
    const absl::Status scanned =
        database_.Scan(Family::kMeta, "", [this](std::string_view key, std::string_view value) {
          Take(key, value);
          return absl::OkStatus();
        });
    if (!scanned.ok()) {  // what follows from entries that are missing says nothing
      FindInStore(absl::StrCat("the list of data sets: ", scanned.message()));
      return std::move(result_);
    }
    CheckFormat();
    CheckVersions();
    CheckNames();
    CheckContents();
    CheckSplits();
    CountUnused();
    return std::move(result_);
  }

 private:
  void FindInStore(std::string_view message) {
    result_.findings.push_back(rocks::Finding(v1::FSCK_KIND_STORE, message));
  }

  void FindInDataset(const std::string& reference, std::string_view message) {
    v1::FsckFinding& finding = result_.findings.emplace_back(rocks::Finding(v1::FSCK_KIND_DATASET, message));
    finding.set_dataset(reference);
  }

  void Take(std::string_view key, std::string_view value) {
    if (key == kFormatKey) {
      format_ = value;
    } else if (const auto hash = After(kContentPrefix, key)) {
      contents_[*hash] = rocks::ParseBigEndian<std::uint64_t>(value);
    } else if (const auto reference = After(kDatasetPrefix, key)) {
      TakeVersion(*reference, value, /*deleted=*/false);
    } else if (const auto deleted = After(kDeletedPrefix, key)) {
      TakeVersion(*deleted, value, /*deleted=*/true);
    } else if (const auto name = After(kNamePrefix, key)) {
      names_[*name] = value;
    } else if (const auto split = After(kSplitPrefix, key)) {
      splits_.insert(*split);
    } else {
      FindInStore(absl::StrCat("an entry of no known form: ", std::string(key)));
    }
  }

  void TakeVersion(const std::string& reference, std::string_view value, bool deleted) {
    absl::StatusOr<StoredDataset> stored = DecodeDataset(value);
    if (!stored.ok()) return FindInDataset(reference, std::string(stored.status().message()));
    if (wire::FullName(stored->description) != reference) {
      return FindInDataset(reference,
                           absl::StrCat("its description is that of ", wire::FullName(stored->description)));
    }
    used_.insert(stored->storage_id);
    for (const v1::Split& split : stored->description.splits()) {
      if (split.name() != kAllSplit) described_.insert(stored->description.version() + "/" + split.name());
    }
    if (deleted) return;
    versions_[stored->description.name()].insert(stored->description.version());
    result_.datasets.push_back(*std::move(stored));
  }

  void CheckFormat() {
    if (format_ == kStoreFormat) return;
    FindInStore(absl::StrCat("the store has format '", format_.value_or(""), "', this program reads format ",
                             std::string(kStoreFormat)));
  }

  void CheckVersions() {
    std::set<std::uint64_t> named;
    for (const auto& [hash, id] : contents_) named.insert(id.value_or(0));
    for (const StoredDataset& stored : result_.datasets) {
      const std::string reference = wire::FullName(stored.description);
      if (!named.contains(stored.storage_id)) {
        FindInDataset(reference, "the list of contents does not have its graphs");
      }
      if (!names_.contains(stored.description.name()))
        FindInDataset(reference, "its bare name means no version");
    }
  }

  void CheckNames() {
    for (const auto& [name, version] : names_) {
      const auto found = versions_.find(name);
      if (found != versions_.end() && found->second.contains(version)) continue;
      FindInDataset(name, absl::StrCat("the name means version ", version, ", which is not there"));
    }
  }

  void CheckContents() {
    for (const auto& [hash, id] : contents_) {
      if (!id) FindInStore(absl::StrCat("content ", hash, " does not say where its graphs are"));
      if (id && !used_.contains(*id)) FindInStore(absl::StrCat("content ", hash, " belongs to no data set"));
    }
  }

  void CheckSplits() {
    for (const std::string& split : splits_) {
      if (!described_.contains(split)) FindInStore(absl::StrCat("split ", split, " belongs to no data set"));
    }
  }

  void CountUnused() {
    std::set<std::uint64_t> unused;
    for (const Family family : {Family::kGraphs, Family::kSizes}) {
      const absl::StatusOr<std::vector<std::uint64_t>> ids = StorageIds(database_, family);
      if (!ids.ok()) FindInStore(absl::StrCat("the list of graphs: ", ids.status().message()));
      if (ids.ok()) unused.insert(ids->begin(), ids->end());
    }
    for (const auto& [hash, id] : contents_) unused.erase(id.value_or(0));
    result_.unused = unused.size();
  }

  const rocks::Database& database_;
  IndexCheck result_;
  std::optional<std::string> format_;
  std::map<std::string, std::optional<std::uint64_t>> contents_;  // by hash
  std::map<std::string, std::set<std::string>> versions_;         // by name
  std::map<std::string, std::string> names_;
  std::set<std::string> splits_;     // VERSION/SPLIT that are stored
  std::set<std::string> described_;  // VERSION/SPLIT that versions have
  std::set<std::uint64_t> used_;     // storage ids of versions, deleted ones too
};

}  // namespace

IndexCheck CheckIndex(const rocks::Database& database) { return MetaCheck(database).Run(); }

}  // namespace packtrain::storage
