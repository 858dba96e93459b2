#include "client/ingest/import_identity.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ingest/disk_file.h"
#include "client/ingest/origin.h"
#include "client/ingest/text.h"
#include "proto/base/content_hash.h"
#include "proto/base/status_macros.h"
#include "proto/wire/import_words.h"

namespace packtrain::ingest {
namespace {

namespace fs = std::filesystem;

// Somewhat less than a server takes.
constexpr std::size_t kMaxSettingsBytes = 48 << 10;
constexpr std::size_t kMaxValueBytes = 200;
constexpr std::size_t kDifferencesShown = 5;
constexpr std::string_view kHashPrefix = "sha256:";

using Setting = std::pair<std::string, std::string>;  // name, value

std::string Hash(std::string_view text) {
  return absl::StrCat(std::string(kHashPrefix), base::HexSha256(text));
}

// As text that a message holds.
std::string Text(const std::string& text) {
  return text.size() <= kMaxValueBytes && IsUtf8(text) ? text : Hash(text);
}

absl::StatusOr<std::string> DigestOf(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!error && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no file that can be read twice"));
  }
  ABSL_ASSIGN_OR_RETURN(const std::shared_ptr<DiskFile> file, DiskFile::Open(path));
  ABSL_ASSIGN_OR_RETURN(const v1::SourceFile described, file->Describe());
  return described.sha256();
}

// The files that an import reads, as its lineage names them.
absl::StatusOr<std::vector<std::string>> FilesOf(const Format& format, const ImportOptions& options) {
  if (format.open_folder == nullptr) {
    ABSL_ASSIGN_OR_RETURN(FoundFiles found, FindFiles(options.paths, format.extensions));
    return std::move(found.files);
  }
  std::vector<std::string> files;
  for (const std::string& path : options.paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);  // an archive
      continue;
    }
    const absl::StatusOr<FoundFiles> found =
        FindFilesBelow(path, format.extensions, options.read.limits.max_members);
    if (!found.ok()) return WithPlace(found.status(), "");
    for (const std::string& name : found->files) files.push_back((fs::path(path) / name).string());
  }
  return files;
}

std::vector<Setting> SettingsOf(const Format& format, const ImportOptions& options) {
  const ReadLimits& limits = options.read.limits;
  std::vector<Setting> settings = {{"version", options.program_version},
                                   {"FORMAT", std::string(format.name)},
                                   {"--edges", options.edges},
                                   {"--renumber", wire::WordOf(options.renumber, wire::kRenumberingWords)},
                                   {"--targets", absl::StrJoin(options.targets, ",")},
                                   {"--missing-target", options.missing_target_nan ? "nan" : "refuse"},
                                   {"--on-error", options.skip_refused ? "skip" : "stop"},
                                   {"--duplicate-ids", options.number_duplicates ? "number" : "refuse"},
                                   {"--limit", options.limit == 0 ? "" : absl::StrCat(options.limit)},
                                   {"--max-unpacked-bytes", absl::StrCat(limits.max_unpacked_bytes)},
                                   {"--max-line-bytes", absl::StrCat(limits.max_line_bytes)},
                                   {"--max-atoms", absl::StrCat(limits.max_atoms)},
                                   {"--max-edges", absl::StrCat(limits.max_edges)},
                                   {"--max-members", absl::StrCat(limits.max_members)},
                                   {"--max-depth", absl::StrCat(limits.max_depth)}};
  for (const auto& [flag, value] : options.read.flags)
    settings.emplace_back(flag, value.empty() ? "given" : value);
  return settings;
}

// As many as a message may hold, the others as one.
void AddSettings(const std::vector<Setting>& settings, v1::ImportIdentity* identity) {
  std::size_t bytes = 0;
  auto next = settings.begin();
  for (; next != settings.end() && bytes < kMaxSettingsBytes; ++next) {
    v1::ImportSetting& setting = *identity->add_settings();
    setting.set_name(Text(next->first));
    setting.set_value(Text(next->second));
    bytes += setting.ByteSizeLong();
  }
  if (next == settings.end()) return;
  std::string rest;
  for (auto left = next; left != settings.end(); ++left) absl::StrAppend(&rest, left->second, "\n");
  v1::ImportSetting& others = *identity->add_settings();
  others.set_name(absl::StrCat("the files behind the first ", next - settings.begin()));
  others.set_value(Hash(rest));
}

std::string DigestOf(const std::vector<Setting>& settings) {
  base::Sha256 hash;
  hash.UpdateSized("packtrain import identity 1");
  for (const auto& [name, value] : settings) {
    hash.UpdateSized(name);
    hash.UpdateSized(value);
  }
  return hash.HexDigest();
}

using Values = std::map<std::string, std::vector<std::string>>;  // by name

Values ValuesOf(const v1::ImportIdentity& identity) {
  Values values;
  for (const v1::ImportSetting& setting : identity.settings())
    values[setting.name()].push_back(setting.value());
  return values;
}

std::string Shown(const std::vector<std::string>& values) {
  return values.empty() || values.front().empty() ? "not given" : values.front();
}

std::string Difference(const std::string& name, const std::vector<std::string>& wanted,
                       const std::vector<std::string>& kept) {
  const std::string& value = wanted.empty() ? kept.front() : wanted.front();
  const bool is_file = value.starts_with(kHashPrefix) && !name.starts_with("--");
  if (!is_file) return absl::StrCat(name, " is ", Shown(wanted), ", was ", Shown(kept));
  if (wanted.empty()) return absl::StrCat(name, " is not there");
  return absl::StrCat(name, kept.empty() ? " is new" : " has changed");
}

}  // namespace

absl::StatusOr<IdentifiedImport> IdentifyImport(const Format& format, const ImportOptions& options,
                                                const std::string& name) {
  std::vector<Setting> settings = SettingsOf(format, options);
  auto digests = std::make_shared<FileDigests>();
  if (options.join) {
    ABSL_ASSIGN_OR_RETURN(const std::string digest, DigestOf(options.join->file));
    settings.emplace_back("--join", absl::StrCat(std::string(kHashPrefix), digest));
    settings.emplace_back("--key", options.join->key);
    digests->insert_or_assign(options.join->file, digest);
  }
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesOf(format, options));
  for (const std::string& file : files) {
    ABSL_ASSIGN_OR_RETURN(const std::string digest, DigestOf(file));
    settings.emplace_back(file, absl::StrCat(std::string(kHashPrefix), digest));
    digests->insert_or_assign(file, digest);
  }
  IdentifiedImport import = {{}, std::move(digests)};
  import.identity.set_name(name);
  import.identity.set_digest(DigestOf(settings));
  AddSettings(settings, &import.identity);
  return import;
}

absl::Status CheckUnchanged(const FileDigests* digests, const std::string& path) {
  if (digests == nullptr) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(const std::string digest, DigestOf(path));
  return CheckDigest(digests, path, digest);
}

std::string DifferenceOf(const v1::ImportIdentity& wanted, const v1::ImportIdentity& kept) {
  const Values of_wanted = ValuesOf(wanted), of_kept = ValuesOf(kept);
  std::vector<std::string> differences;
  const std::vector<std::string> none;
  for (const auto& [name, values] : of_wanted) {
    const auto found = of_kept.find(name);
    const std::vector<std::string>& before = found == of_kept.end() ? none : found->second;
    if (values != before) differences.push_back(Difference(name, values, before));
  }
  for (const auto& [name, values] : of_kept) {
    if (!of_wanted.contains(name)) differences.push_back(Difference(name, none, values));
  }
  if (differences.empty()) return "the files are in another order";
  const std::size_t more = differences.size() - std::min(differences.size(), kDifferencesShown);
  differences.resize(differences.size() - more);
  return absl::StrCat(absl::StrJoin(differences, "; "), more > 0 ? absl::StrCat("; and ", more, " more") : "");
}

}  // namespace packtrain::ingest
