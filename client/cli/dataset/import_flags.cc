#include "client/cli/dataset/import_flags.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli/dataset/renumber_flag.h"
#include "client/ingest/label_table.h"
#include "client/ingest/source_files.h"
#include "client/ingest/text.h"
#include "proto/base/flag_checks.h"
#include "proto/wire/edge_spec.h"

namespace packtrain::cli {
namespace {

constexpr std::size_t kMaxNameBytes = 128;
constexpr std::uint32_t kPermille = 1000;
// What formats call the edges that their records bring; a server refuses them for other formats.
constexpr std::array<std::string_view, 3> kEdgesOfRecords = {"bonds", "given", "program"};
// The flags of a format whose files say all else themselves; the last ones are those of a join.
constexpr std::array<std::string_view, 11> kFlagsOfWholeDatasets = {
    "FORMAT",       "FILE",       "--name",          "--split-permille", "--split-seed",
    "--split-file", "--on-error", "--duplicate-ids", "--ledger",         "--missing-target",
    "--continue"};
// What is decided when parts are joined, or is for imports to a server.
constexpr std::array<std::string_view, 5> kFlagsOfNoPart = {"--name", "--split-permille", "--split-seed",
                                                            "--split-file", "--continue"};

std::string CheckName(const std::string& name) {
  static constexpr char kAllowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  const bool good = name.size() <= kMaxNameBytes && name.find_first_not_of(kAllowed) == name.npos &&
                    name.find_first_of("._-") != 0 && !name.empty();
  return good ? "" : "a name has 1 to 128 characters of A-Z a-z 0-9 . _ - and begins with a letter or digit";
}

std::string CheckTargetName(const std::string& name) {
  const bool good = ingest::WhyNoTargetName(ingest::Trim(name)).empty();
  return good ? "" : "the name of a target has 1 to 256 bytes of UTF-8";
}

std::string CheckEdges(const std::string& text) {
  if (std::find(kEdgesOfRecords.begin(), kEdgesOfRecords.end(), text) != kEdgesOfRecords.end()) return "";
  return std::string(wire::ParseEdgeSpec(text).status().message());
}

std::vector<std::string> NamesOf(std::span<const ingest::Format> formats) {
  std::vector<std::string> names;
  for (const ingest::Format& format : formats) names.emplace_back(format.name);
  return names;
}

std::string DescribeFormats(std::span<const ingest::Format> formats) {
  std::vector<std::string> lines;
  for (const ingest::Format& format : formats) {
    lines.push_back(absl::StrCat(std::string(format.name), ": ", std::string(format.help)));
  }
  return absl::StrJoin(lines, "; ");
}

// Of all formats, each once.
std::vector<std::string_view> ExtensionsOf(std::span<const ingest::Format> formats) {
  std::vector<std::string_view> all;
  for (const ingest::Format& format : formats) {
    for (const std::string_view extension : format.extensions) {
      if (std::find(all.begin(), all.end(), extension) == all.end()) all.push_back(extension);
    }
  }
  return all;
}

constexpr char kStandardInput[] = "/dev/stdin";

// The file that "-" names.
CLI::Validator StandardInput() {
  return {[](std::string& path) {
            if (path == "-") path = kStandardInput;
            return std::string();
          },
          ""};
}

void AddSourceFlags(CLI::App& command, std::span<const ingest::Format> formats, ImportFlags& flags) {
  command.add_option("FORMAT", flags.format, DescribeFormats(formats))
      ->required()
      ->check(CLI::IsMember(NamesOf(formats)))
      ->option_text("REQUIRED");
  command
      .add_option(
          "FILE", flags.paths,
          absl::StrCat("Files, and folders or tar and zip archives of ", ingest::NamesOf(ExtensionsOf(formats)),
                       " files; gzip and xz too; - is standard input"))
      ->required()
      ->transform(StandardInput())
      ->option_text("... REQUIRED");
  command
      .add_option("--name", flags.name, "Name of the data set (required, but for a file of `dataset export`)")
      ->check(CLI::Validator(CheckName, ""));
  command
      .add_option("-o,--output", flags.output,
                  "Write a part to this file, without a server; `packtrain import native PART...` joins parts")
      ->option_text("PART");
  command
      .add_option(
          "--edges", flags.edges,
          "Edges (those that the records bring, such as bonds, else full): bonds; full, all ordered pairs, "
          "made "
          "where they are used; radius:R, all within R angstrom, radius:R:MAX, at most the MAX nearest of them "
          "into a node; knn:K, the K nearest into a node; where a cell repeats, its images count")
      ->check(CLI::Validator(CheckEdges, ""))
      ->option_text("SPEC");
  AddRenumberFlag(command, flags.renumber);
  command.add_option("--limit", flags.limit, "Read this many graphs only")
      ->check(base::CountFrom(1))
      ->option_text("N");
}

void AddTargetFlags(CLI::App& command, ImportFlags& flags) {
  command
      .add_option(
          "--targets", flags.targets,
          "Targets, in this order (default: all columns or keys with numbers; a truth is 1 or 0, an array is "
          "none). One that no graph has is refused")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(CheckTargetName, ""))
      ->option_text("A,B");
  CLI::Option* join =
      command
          .add_option("--join", flags.join,
                      "Take targets from this CSV file, by id; its first line names the columns")
          ->option_text("FILE.csv");
  command.add_option("--key", flags.key, "Column of the CSV file with the ids (default: the first)")
      ->needs(join)
      ->option_text("COLUMN");
  command
      .add_option("--missing-target", flags.missing_target, "What becomes of a graph without a target (refuse)")
      ->check(CLI::IsMember({"refuse", "nan"}))
      ->option_text("refuse|nan");
}

void AddSplitFlags(CLI::App& command, ImportFlags& flags) {
  CLI::Option* permille =
      command
          .add_option("--split-permille", flags.split_permille,
                      "Random split into train, val and test (default: the splits that the source has)")
          ->delimiter(',')
          ->expected(3)
          ->check(base::CountBetween(0, kPermille))
          ->allow_extra_args(false)
          ->option_text("800,100,100");
  command.add_option("--split-seed", flags.split_seed, "Seed of the random split (0)")
      ->check(base::CountBetween(0, std::numeric_limits<std::uint32_t>::max()))
      ->needs(permille)
      ->option_text("S");
  command
      .add_option("--split-file", flags.split_file,
                  "Split by ids: lines `train ID`, `val ID`, `test ID`; graphs that it leaves out are in none")
      ->excludes(permille)
      ->option_text("IDS");
}

void AddErrorFlags(CLI::App& command, ImportFlags& flags) {
  command
      .add_option("--duplicate-ids", flags.duplicate_ids,
                  "A repeated id: refuse it, or call it ID#2, ID#3 (refuse)")
      ->check(CLI::IsMember({"refuse", "number"}))
      ->option_text("refuse|number");
  command
      .add_option("--on-error", flags.on_error, "A bad graph: stop and store nothing, or leave it out (stop)")
      ->check(CLI::IsMember({"stop", "skip"}))
      ->option_text("stop|skip");
  command.add_option("--ledger", flags.ledger, "Write refused graphs to this file, as JSON lines")
      ->option_text("FILE");
  command.add_flag(
      "--continue", flags.go_on,
      "Go on where the same import broke off: what the server has kept of it (packtraind --keep-staged) "
      "is not sent again. Files and options must be the same, but for those of splits, the ledger and "
      "the server. Begins anew, and says so, where nothing is kept; without this flag what is kept is "
      "dropped");
}

template <typename Count>
void AddLimit(CLI::App& command, const char* name, Count& limit, const char* help) {
  command.add_option(name, limit, help)->check(base::CountFrom(0))->capture_default_str()->type_name("N");
}

void AddLimitFlags(CLI::App& command, ingest::ReadLimits& limits) {
  AddLimit(command, "--max-unpacked-bytes", limits.max_unpacked_bytes, "Largest file or archive when unpacked");
  AddLimit(command, "--max-members", limits.max_members, "Most members of an archive, or files below a folder");
  AddLimit(command, "--max-line-bytes", limits.max_line_bytes, "Longest line");
  AddLimit(command, "--max-atoms", limits.max_atoms, "Most atoms, or nodes, of a graph");
  AddLimit(command, "--max-edges", limits.max_edges, "Most edges that a file gives a graph");
  AddLimit(command, "--max-depth", limits.max_depth, "Deepest nesting of values, as in JSON");
}

// Once, where several formats have the flag.
void AddFormatFlag(CLI::App& command, const ingest::FormatFlag& flag, ImportFlags& flags) {
  const std::string name(flag.name), value(flag.value);
  if (command.get_option_no_throw(name) != nullptr) return;
  if (value.empty()) {
    command.add_flag_callback(
        name, [&flags, name] { flags.of_format[name] = ""; }, std::string(flag.help));
    return;
  }
  CLI::Option* option = command.add_option_function<std::string>(
      name, [&flags, name](const std::string& given) { flags.of_format[name] = given; },
      std::string(flag.help));
  option->option_text(value);
  const std::vector<std::string> words = absl::StrSplit(value, '|');
  if (words.size() > 1) option->check(CLI::IsMember(words));
}

bool HasFlag(const ingest::Format& format, const std::string& name) {
  return std::any_of(format.flags.begin(), format.flags.end(),
                     [&](const ingest::FormatFlag& flag) { return flag.name == name; });
}

bool HasMeaning(const std::string& flag, const ingest::Format& format,
                std::span<const ingest::Format> formats) {
  if (format.open_blocks != nullptr) {
    return std::find(kFlagsOfWholeDatasets.begin(), kFlagsOfWholeDatasets.end(), flag) !=
           kFlagsOfWholeDatasets.end();
  }
  return HasFlag(format, flag) ||
         std::none_of(formats.begin(), formats.end(),
                      [&](const ingest::Format& other) { return HasFlag(other, flag); });
}

// Edges that are not stored join all nodes, so that there is nothing to number them by.
std::string CheckRenumber(const ingest::Format& format, const ImportFlags& flags) {
  const bool are_full = flags.edges.empty() ? !format.may_bring_edges : flags.edges == "full";
  if (flags.renumber == v1::RENUMBERING_UNSPECIFIED || !are_full) return "";
  return "--renumber needs edges that are stored, as --edges radius:R and --edges knn:K are and full is not";
}

// A second reader of it would find it at its end.
std::string CheckStandardInput(const ImportFlags& flags) {
  const auto uses = std::ranges::count(flags.paths, kStandardInput) + (flags.join == kStandardInput ? 1 : 0) +
                    (flags.split_file == kStandardInput ? 1 : 0);
  return uses > 1 ? "standard input (-) can be read only once" : "";
}

std::string CheckFlagsOfPart(const CLI::App& command) {
  for (const std::string_view name : kFlagsOfNoPart) {
    if (command.count(std::string(name)) == 0) continue;
    return absl::StrCat(
        std::string(name),
        name == "--continue" ? " is for an import to a server" : " is for the join of the parts",
        ", not for a part (--output)");
  }
  return "";
}

}  // namespace

void AddImportFlags(CLI::App& command, std::span<const ingest::Format> formats, ImportFlags& flags) {
  AddSourceFlags(command, formats, flags);
  AddTargetFlags(command, flags);
  AddSplitFlags(command, flags);
  AddErrorFlags(command, flags);
  AddLimitFlags(command, flags.limits);
  for (const ingest::Format& format : formats) {
    for (const ingest::FormatFlag& flag : format.flags) AddFormatFlag(command, flag, flags);
  }
}

std::string CheckImportFlags(const CLI::App& command, const ingest::Format& format,
                             std::span<const ingest::Format> formats, const ImportFlags& flags) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || HasMeaning(option->get_name(), format, formats)) continue;
    return absl::StrCat(option->get_name(), " has no meaning for files of format ", std::string(format.name));
  }
  if (std::string wrong = CheckRenumber(format, flags); !wrong.empty()) return wrong;
  if (std::string wrong = CheckStandardInput(flags); !wrong.empty()) return wrong;
  if (!flags.output.empty()) return CheckFlagsOfPart(command);
  const bool may_be_copy = format.open_blocks != nullptr && flags.paths.size() == 1;
  if (flags.name.empty() && !may_be_copy) return "--name is required";
  if (flags.name.empty() && flags.go_on)
    return "--continue needs --name, under which the server keeps an import";
  const std::vector<std::uint32_t>& permille = flags.split_permille;
  if (!permille.empty() && std::accumulate(permille.begin(), permille.end(), std::uint64_t{0}) != kPermille) {
    return "--split-permille: the three numbers must add up to 1000";
  }
  return "";
}

ingest::ImportOptions ImportOptionsOf(const ImportFlags& flags, const GlobalOptions& global) {
  ingest::ImportOptions options;
  options.paths = flags.paths;
  options.read = {flags.limits, flags.of_format};
  options.limit = flags.limit;
  options.is_part = !flags.output.empty();
  for (const std::string& name : flags.targets) options.targets.emplace_back(ingest::Trim(name));
  if (!flags.join.empty()) options.join = ingest::JoinOptions{flags.join, flags.key, {}};
  options.missing_target_nan = flags.missing_target == "nan";
  options.skip_refused = flags.on_error == "skip";
  options.number_duplicates = flags.duplicate_ids == "number";
  options.edges = flags.edges;
  options.renumber = flags.renumber;
  if (const std::vector<std::uint32_t>& permille = flags.split_permille; !permille.empty()) {
    options.random_split = ingest::RandomSplit{{permille[0], permille[1], permille[2]}, flags.split_seed};
  }
  options.split_file = flags.split_file;
  options.command = global.command_line;
  options.program_version = PACKTRAIN_VERSION;
  return options;
}

}  // namespace packtrain::cli
