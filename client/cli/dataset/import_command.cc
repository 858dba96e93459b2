// packtrain import
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/dataset/native_import.h"
#include "client/ingest/block_feed.h"
#include "client/ingest/extxyz_import.h"
#include "client/ingest/ledger.h"
#include "client/ingest/source_files.h"
#include "client/ingest/split_file.h"
#include "client/ingest/text.h"
#include "client/internal/service_client.h"
#include "proto/base/flag_checks.h"
#include "proto/base/progress.h"
#include "proto/base/status_macros.h"
#include "proto/wire/edge_spec.h"

namespace packtrain::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRefusalsShown = 10;
constexpr std::size_t kLongestName = 128;
constexpr std::uint32_t kPermille = 1000;
// Of what is kept beside a data set about its origin; the server takes somewhat more.
constexpr std::size_t kMostSourceBytes = 128 << 10;
constexpr std::size_t kLongestCommand = 16 << 10;

struct ImportFlags {
  std::string format;
  std::vector<std::string> paths;
  std::string name;
  std::string edges = "full";
  std::vector<std::string> targets;
  std::string join;
  std::string key;
  std::string missing_target = "refuse";
  std::vector<std::uint32_t> split_permille;
  std::uint32_t split_seed = 0;
  std::string split_file;
  std::string duplicate_ids = "refuse";
  std::uint64_t limit = 0;
  std::string on_error = "stop";
  std::string ledger;
  ingest::ReadLimits limits;
  std::uint64_t max_atoms = ingest::ExtxyzImportOptions().max_atoms;
};

// As many as a description of a data set may hold, the others as one.
void AddSources(const std::vector<v1::SourceFile>& sources, v1::Lineage* lineage) {
  auto source = sources.begin();
  for (; source != sources.end() && lineage->ByteSizeLong() < kMostSourceBytes; ++source) {
    *lineage->add_sources() = *source;
  }
  if (source == sources.end()) return;
  v1::SourceFile& rest = *lineage->add_sources();
  rest.set_name(absl::StrCat("and ", sources.end() - source, " more files"));
  for (; source != sources.end(); ++source) rest.set_bytes(rest.bytes() + source->bytes());
}

// What an import came to.
struct ImportResult {
  v1::SealDatasetResponse sealed;
  std::uint64_t stored = 0;
  double seconds = 0;
};

std::string CheckName(const std::string& name) {
  static constexpr char kAllowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  const bool good = name.size() <= kLongestName && name.find_first_not_of(kAllowed) == name.npos &&
                    name.find_first_of("._-") != 0 && !name.empty();
  return good ? "" : "a name has 1 to 128 characters of A-Z a-z 0-9 . _ - and begins with a letter or digit";
}

std::string CheckEdges(const std::string& text) {
  return std::string(wire::ParseEdgeSpec(text).status().message());
}

ingest::ExtxyzImportOptions ReadOptions(const ImportFlags& flags, std::vector<std::string> files) {
  ingest::ExtxyzImportOptions options;
  options.files = std::move(files);
  options.limits = flags.limits;
  options.max_atoms = flags.max_atoms;
  for (const std::string& name : flags.targets) options.targets.emplace_back(ingest::Trim(name));
  if (!flags.join.empty()) options.join = ingest::JoinOptions{flags.join, flags.key, {}};
  options.missing_target_nan = flags.missing_target == "nan";
  options.skip_refused = flags.on_error == "skip";
  options.limit = flags.limit;
  return options;
}

v1::ImportHeader MakeHeader(const ImportFlags& flags, v1::Schema schema) {
  v1::ImportHeader header;
  *header.mutable_schema() = std::move(schema);
  header.mutable_schema()->set_edges(flags.edges);
  header.mutable_schema()->set_edge_rule(flags.edges == "full" ? v1::EDGE_RULE_FULL : v1::EDGE_RULE_STORED);
  header.set_build_edges(true);
  header.set_on_error(flags.on_error == "skip" ? v1::ERROR_POLICY_SKIP : v1::ERROR_POLICY_STOP);
  header.set_duplicate_ids(flags.duplicate_ids == "number" ? v1::DUPLICATE_POLICY_NUMBER
                                                           : v1::DUPLICATE_POLICY_REFUSE);
  header.set_missing_target(flags.missing_target == "nan" ? v1::MISSING_TARGET_POLICY_NAN
                                                          : v1::MISSING_TARGET_POLICY_REFUSE);
  return header;
}

ingest::RefusedGraph ToLedger(const v1::RefusedGraph& graph) {
  return {ingest::ParseOrigin(graph.origin()), graph.source_id(), graph.reason(),
          absl::StrCat(graph.origin(), " (", graph.source_id(), "): ", graph.message())};
}

// One import, from reading to the sealed data set. Used by one thread.
class ImportJob {
 public:
  ImportJob(const ImportFlags& flags, const GlobalOptions& global, Output& output)
      : flags_(flags), global_(global), output_(output) {}

  absl::StatusOr<ImportResult> Run() {
    absl::Status status = OpenSources();
    ABSL_RETURN_IF_ERROR(status);
    ABSL_ASSIGN_OR_RETURN(v1::Schema schema, reader_->Begin());
    ABSL_ASSIGN_OR_RETURN(std::shared_ptr<client::Connection> connection, Connect(global_));
    ABSL_ASSIGN_OR_RETURN(v1::ImportGraphsResponse staged, Send(connection, std::move(schema)));
    NoteRefusedByServer(staged);
    return Seal(std::move(connection), staged);
  }

  // What was read and refused so far, by both ends.
  ingest::Ledger TakeLedger() {
    ingest::Ledger ledger = reader_ == nullptr ? ingest::Ledger() : reader_->ledger();
    for (ingest::RefusedGraph& graph : refused_by_server_) ledger.AddRefused(std::move(graph));
    for (const auto& [reason, graphs] : unlisted_by_server_) ledger.AddUnlisted(reason, graphs);
    return ledger;
  }

 private:
  void NoteRefusedByServer(const v1::ImportGraphsResponse& staged) {
    unlisted_by_server_ = {staged.refused_by_reason().begin(), staged.refused_by_reason().end()};
    for (const v1::RefusedGraph& graph : staged.refused()) {
      --unlisted_by_server_[graph.reason()];
      refused_by_server_.push_back(ToLedger(graph));
    }
  }

  absl::Status OpenSources() {
    if (!flags_.split_file.empty()) {
      ABSL_ASSIGN_OR_RETURN(ingest::SplitLists lists, ingest::ReadSplitFile(flags_.split_file, flags_.limits));
      split_lists_ = std::move(lists);
    }
    ABSL_ASSIGN_OR_RETURN(std::vector<std::string> files, ingest::FindXyzFiles(flags_.paths));
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<ingest::ExtxyzImport> reader,
                          ingest::ExtxyzImport::Create(ReadOptions(flags_, std::move(files))));
    reader_ = std::move(reader);
    return absl::OkStatus();
  }

  absl::StatusOr<v1::ImportGraphsResponse> Send(std::shared_ptr<client::Connection> connection,
                                                v1::Schema schema) {
    ABSL_ASSIGN_OR_RETURN(
        std::unique_ptr<client::ImportStream> stream,
        client::ImportStream::Open(std::move(connection), MakeHeader(flags_, std::move(schema))));
    ABSL_RETURN_IF_ERROR(SendBlocks(*stream));
    return stream->Finish();
  }

  absl::Status SendBlocks(client::ImportStream& stream) {
    base::Progress progress(output_.messages(), base::IsTerminal(STDERR_FILENO),
                            {"import", "graphs", reader_->total_bytes()}, Clock::now);
    ingest::BlockFeed feed(*reader_);
    while (true) {
      ABSL_ASSIGN_OR_RETURN(std::optional<ingest::ReadBlock> next, feed.Next());
      if (!next.has_value()) return absl::OkStatus();
      ingest::ReadBlock& block = *next;
      ABSL_RETURN_IF_ERROR(stream.Write(std::move(block.block)));
      progress.Update(block.read, block.consumed_bytes);
    }
  }

  absl::StatusOr<ImportResult> Seal(std::shared_ptr<client::Connection> connection,
                                    const v1::ImportGraphsResponse& staged) {
    v1::SealDatasetRequest request;
    request.set_import_id(staged.import_id());
    request.set_name(flags_.name);
    SetSplit(&request);
    SetLineage(request.mutable_lineage());
    ABSL_ASSIGN_OR_RETURN(v1::SealDatasetResponse sealed,
                          client::ServiceClient(std::move(connection)).SealDataset(request));
    return ImportResult{std::move(sealed), staged.staged(),
                        std::chrono::duration<double>(Clock::now() - start_).count()};
  }

  void SetSplit(v1::SealDatasetRequest* request) const {
    if (!flags_.split_permille.empty()) {
      v1::SplitFractions* fractions = request->mutable_fractions();
      fractions->set_train_permille(flags_.split_permille[0]);
      fractions->set_val_permille(flags_.split_permille[1]);
      fractions->set_test_permille(flags_.split_permille[2]);
      fractions->set_seed(flags_.split_seed);
    }
    if (split_lists_) {
      const std::set<std::string> missing = IdsLeftOut();
      AddIds(split_lists_->train, missing, request->mutable_by_ids()->mutable_train());
      AddIds(split_lists_->val, missing, request->mutable_by_ids()->mutable_val());
      AddIds(split_lists_->test, missing, request->mutable_by_ids()->mutable_test());
    }
  }

  // Ids that a split file may name though no such graph is stored. (Of a duplicate, the first one is.)
  std::set<std::string> IdsLeftOut() const {
    std::set<std::string> ids;
    for (const ingest::RefusedGraph& graph : reader_->ledger().refused()) ids.insert(graph.id);
    for (const ingest::RefusedGraph& graph : refused_by_server_) {
      if (graph.reason != "duplicate_id") ids.insert(graph.id);
    }
    return ids;
  }

  static void AddIds(const std::vector<std::string>& ids, const std::set<std::string>& left_out,
                     google::protobuf::RepeatedPtrField<std::string>* out) {
    for (const std::string& id : ids) {
      if (!left_out.contains(id)) *out->Add() = id;
    }
  }

  void SetLineage(v1::Lineage* lineage) const {
    AddSources(reader_->sources(), lineage);
    // For people; a message holds no other text.
    const std::string& command = global_.command_line;
    if (command.size() <= kLongestCommand && ingest::IsUtf8(command)) lineage->set_command(command);
    lineage->set_program_version(PACKTRAIN_VERSION);
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    lineage->set_imported_at_ms(std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count());
  }

  const ImportFlags& flags_;
  const GlobalOptions& global_;
  Output& output_;
  const Clock::time_point start_ = Clock::now();
  std::optional<ingest::SplitLists> split_lists_;
  std::unique_ptr<ingest::ExtxyzImport> reader_;
  std::vector<ingest::RefusedGraph> refused_by_server_;
  std::map<std::string, std::uint64_t> unlisted_by_server_;  // by reason
};

Json ToJson(const std::string& name, const ImportResult& result, const ingest::Ledger& ledger) {
  Json by_reason = Json::object();
  for (const auto& [reason, count] : ledger.refused_by_reason()) by_reason[reason] = count;
  return {{"dataset", name},
          {"version", result.sealed.dataset().version()},
          {"unchanged", result.sealed.unchanged()},
          {"read", ledger.read()},
          {"stored", result.stored},
          {"refused", ledger.refused_graphs()},
          {"refused_by_reason", std::move(by_reason)},
          {"refused_truncated", ledger.unlisted() > 0},
          {"seconds", result.seconds},
          {"graphs_per_second", static_cast<double>(result.stored) / result.seconds}};
}

std::string Count(std::uint64_t value) { return FormatCount(static_cast<double>(value)); }

std::string ToText(const ImportResult& result, const ingest::Ledger& ledger) {
  const v1::Dataset& dataset = result.sealed.dataset();
  std::string text =
      absl::StrCat(dataset.name(), "@", dataset.version(),
                   result.sealed.unchanged() ? " was there already\n" : "\n", "stored ", Count(result.stored),
                   " of ", Count(ledger.read()), " graphs, ", Count(dataset.nodes().total()), " nodes, ",
                   Count(dataset.edges().total()), " edges in ", FormatNumber(result.seconds, 3), " s (",
                   FormatCount(static_cast<double>(result.stored) / result.seconds), " graphs/s)\n");
  for (const auto& [reason, count] : ledger.refused_by_reason()) {
    absl::StrAppend(&text, "refused ", Count(count), ": ", reason, "\n");
  }
  return text;
}

// `listed` is where all of them can be read, or empty.
void NoteRefusals(const std::string& listed, const ingest::Ledger& ledger, Output& output) {
  const std::vector<ingest::RefusedGraph>& refused = ledger.refused();
  const std::size_t shown = std::min(refused.size(), kRefusalsShown);
  for (std::size_t i = 0; i < shown; ++i) output.Note(absl::StrCat("refused: ", refused[i].message));
  if (shown == ledger.refused_graphs()) return;
  const std::string how_many = ledger.unlisted() == 0
                                   ? "all"
                                   : absl::StrCat("the first ", refused.size(), " of ", ledger.refused_graphs(),
                                                  ", as many as the server's answer holds");
  output.Note(absl::StrCat("... and ", ledger.refused_graphs() - shown, " more; ",
                           listed.empty() ? "--ledger FILE" : listed, " lists ", how_many));
}

// Null: none is wanted.
absl::StatusOr<std::unique_ptr<ingest::LedgerFile>> OpenLedger(const ImportFlags& flags) {
  if (flags.ledger.empty()) return nullptr;
  return ingest::LedgerFile::Open(flags.ledger);
}

absl::StatusOr<ExitCode> StoreNative(const ImportFlags& flags, const GlobalOptions& global, Output& output) {
  if (flags.paths.size() != 1) return UsageError(output, "import native takes one FILE");
  const auto start = Clock::now();
  const absl::StatusOr<v1::SealDatasetResponse> sealed =
      ImportNative(flags.paths.front(), flags.name, global, output);
  if (!sealed.ok()) return DataError(output, sealed.status());
  ImportResult result{*sealed, sealed->dataset().graphs(),
                      std::chrono::duration<double>(Clock::now() - start).count()};
  ingest::Ledger ledger;
  for (std::uint64_t graph = 0; graph < result.stored; ++graph) ledger.AddRead();
  output.Print(ToJson(sealed->dataset().name(), result, ledger), ToText(result, ledger));
  return ExitCode::kDone;
}

// The first flag given that has no meaning for a native file; empty where there is none.
std::string FlagOfOtherFormats(const CLI::App& command) {
  static constexpr std::string_view kNative[] = {"FORMAT", "FILE", "--name"};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && std::find(std::begin(kNative), std::end(kNative), name) == std::end(kNative)) {
      return name;
    }
  }
  return "";
}

absl::StatusOr<ExitCode> Import(const ImportFlags& flags, const std::string& flag_of_other_formats,
                                const GlobalOptions& global, Output& output) {
  if (flags.format == "native") {
    if (flag_of_other_formats.empty()) return StoreNative(flags, global, output);
    return UsageError(output, flag_of_other_formats + " has no meaning for a native file");
  }
  if (flags.name.empty()) return UsageError(output, "--name is required");
  const std::vector<std::uint32_t>& permille = flags.split_permille;
  if (!permille.empty() && std::accumulate(permille.begin(), permille.end(), std::uint64_t{0}) != kPermille) {
    return UsageError(output, "--split-permille: the three numbers must add up to 1000");
  }
  ABSL_RETURN_IF_ERROR(client::CheckServerAddress(global.server));
  const absl::StatusOr<std::unique_ptr<ingest::LedgerFile>> file = OpenLedger(flags);
  if (!file.ok()) return DataError(output, file.status());
  ImportJob job(flags, global, output);
  const absl::StatusOr<ImportResult> result = job.Run();
  const ingest::Ledger ledger = job.TakeLedger();
  const absl::Status written = *file == nullptr ? absl::OkStatus() : (*file)->Write(ledger);
  if (!written.ok()) output.Note(absl::StrCat("packtrain: ", written.message()));
  if (!result.ok()) return DataError(output, result.status());
  NoteRefusals(written.ok() ? flags.ledger : "", ledger, output);
  output.Print(ToJson(flags.name, *result, ledger), ToText(*result, ledger));
  if (!written.ok()) return ExitCode::kFailed;
  return ledger.refused_graphs() == 0 ? ExitCode::kDone : ExitCode::kGraphsRefused;
}

void AddSourceFlags(CLI::App& command, ImportFlags& flags) {
  command
      .add_option(
          "FORMAT", flags.format,
          "extxyz: extended xyz and plain multi-frame xyz, gzip too; native: a file of `packtrain dataset "
          "export`, which takes no flag but --name (default: its own)")
      ->required()
      ->check(CLI::IsMember({"extxyz", "native"}))
      ->option_text("REQUIRED");
  command.add_option("FILE", flags.paths, "Files, or folders with *.xyz and *.extxyz files, .gz too")
      ->required()
      ->option_text("... REQUIRED");
  command.add_option("--name", flags.name, "Name of the data set")->check(CLI::Validator(CheckName, ""));
  command
      .add_option(
          "--edges", flags.edges,
          "Edges (full): full, all ordered pairs, made where they are used; radius:R, all within R angstrom, "
          "radius:R:MAX, at most the MAX nearest of them into a node; knn:K, the K nearest into a node")
      ->check(CLI::Validator(CheckEdges, ""))
      ->option_text("SPEC");
  command.add_option("--limit", flags.limit, "Read this many graphs only")
      ->check(base::CountFrom(1))
      ->option_text("N");
}

void AddTargetFlags(CLI::App& command, ImportFlags& flags) {
  command
      .add_option("--targets", flags.targets,
                  "Targets, in this order (default: all columns or keys with numbers)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B");
  CLI::Option* join = command.add_option("--join", flags.join, "Take targets from this CSV file, by id")
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
      command.add_option("--split-permille", flags.split_permille, "Random split into train, val and test")
          ->delimiter(',')
          ->expected(3)
          ->check(base::CountBetween(0, kPermille))
          ->allow_extra_args(false)
          ->option_text("800,100,100");
  command.add_option("--split-seed", flags.split_seed, "Seed of the random split (0)")
      ->check(base::CountBetween(0, std::numeric_limits<std::uint32_t>::max()))
      ->needs(permille)
      ->option_text("S");
  command.add_option("--split-file", flags.split_file, "Split by ids: lines `train ID`, `val ID`, `test ID`")
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
  command.add_option("--max-unpacked-bytes", flags.limits.max_unpacked_bytes, "Largest file when unpacked")
      ->check(base::CountFrom(0))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--max-line-bytes", flags.limits.max_line_bytes, "Longest line")
      ->check(base::CountFrom(0))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--max-atoms", flags.max_atoms, "Most atoms of a graph")
      ->check(base::CountFrom(0))
      ->capture_default_str()
      ->type_name("N");
}

}  // namespace

void AddImport(CLI::App& program, Invocation& invocation) {
  CLI::App* command = AddCommand(
      program, "import", "Stores the graphs of files as a data set",
      {"packtrain import extxyz qm9/*.xyz.gz --name qm9 --edges full",
       "packtrain import extxyz mols.xyz.gz --name mols --join targets.csv --key name --targets gap,U0",
       "packtrain import extxyz qm9/*.xyz.gz --name qm9-r5 --edges radius:5",
       "packtrain import extxyz mols.xyz.gz --name mols --split-permille 800,100,100 --split-seed 7",
       "packtrain import native qm9.packtrain",
       "packtrain import extxyz crystals/ --name crystals --on-error skip --ledger refused.jsonl"});
  const auto flags = std::make_shared<ImportFlags>();
  AddSourceFlags(*command, *flags);
  AddTargetFlags(*command, *flags);
  AddSplitFlags(*command, *flags);
  AddErrorFlags(*command, *flags);
  OnChosen(*command, invocation, [flags, command](const GlobalOptions& global, Output& output) {
    return Import(*flags, FlagOfOtherFormats(*command), global, output);
  });
}

}  // namespace packtrain::cli
