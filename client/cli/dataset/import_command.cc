// packtrain import
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/dataset/empty_splits.h"
#include "client/cli/dataset/import_flags.h"
#include "client/cli/dataset/import_report.h"
#include "client/cli/dataset/server_sink.h"
#include "client/cli/dataset/split_counts.h"
#include "client/connection.h"
#include "client/failure.h"
#include "client/ingest/formats/format_table.h"
#include "client/ingest/formats/native_part.h"
#include "client/ingest/formats/native_source.h"
#include "client/ingest/import_identity.h"
#include "client/ingest/import_pipeline.h"
#include "client/ingest/ledger.h"
#include "client/ingest/local_records.h"
#include "client/server_wait.h"
#include "proto/base/error_details.h"
#include "proto/base/progress.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Null: none is wanted.
absl::StatusOr<std::unique_ptr<ingest::LedgerFile>> OpenLedger(const ImportFlags& flags) {
  if (flags.ledger.empty()) return nullptr;
  return ingest::LedgerFile::Open(flags.ledger);
}

// Reads everything, sends it to the server and publishes it there under `name`, or the source's own where it is
// empty.
absl::StatusOr<ImportResult> Store(ingest::ImportPipeline& pipeline, const std::string& name,
                                   ServerSink& server, Output& output) {
  const auto start = Clock::now();
  ABSL_ASSIGN_OR_RETURN(const v1::ImportGraphsResponse staged,
                        pipeline.Run(server, {output.messages(), base::IsTerminal(STDERR_FILENO)}));
  ABSL_ASSIGN_OR_RETURN(v1::SealDatasetResponse sealed, server.Seal(pipeline.SealRequest(staged, name)));
  return ImportResult{std::move(sealed), staged.staged(), server.continued_at(),
                      std::chrono::duration<double>(Clock::now() - start).count()};
}

// What an import reads and cannot read a second time, such as a pipe; nullopt: it can read all again.
std::optional<std::string> ReadOnlyOnce(const ImportFlags& flags) {
  std::vector<std::string> files = flags.paths;
  files.insert(files.end(), {flags.join, flags.split_file});
  const auto found = std::ranges::find_if(files, [](const std::string& file) {
    std::error_code error;
    return !file.empty() && !std::filesystem::is_regular_file(file, error) &&
           !std::filesystem::is_directory(file, error);
  });
  return found == files.end() ? std::nullopt : std::optional(*found);
}

// What ended an import, as client::ServerWait takes it; OK where it would end so again. Refusals of a seal have
// been waited for already, and so has a server that could not be reached.
absl::Status CauseToBeginAgain(const absl::Status& failure, const ServerSink& server) {
  if (!server.is_connected()) return absl::OkStatus();
  const std::string reason = base::ReasonOf(failure);
  if (reason == "IMPORT_NOT_FOUND" || reason == "KEPT_IMPORT_CHANGED") {
    return absl::UnavailableError(failure.message());
  }
  const bool refused = client::IsRefusedForMemory(failure) && !server.is_staged();
  return refused || client::IsTransient(failure) || client::IsReset(failure) ? failure : absl::OkStatus();
}

// An import, begun again where the server has no memory for it yet or was lost, until --give-up has passed.
// What the server has kept of it is not sent again. One that is repeated gives the same version.
class PatientImport {
 public:
  PatientImport(const ImportFlags& flags, const ingest::Format& format, const GlobalOptions& global)
      : flags_(flags), format_(format), global_(global) {}

  absl::StatusOr<ImportResult> Run(Output& output) {
    client::ServerWait wait(ConnectionOptionsOf(global_));
    const bool can_read_again = !ReadOnlyOnce(flags_).has_value();
    const std::optional<ingest::IdentifiedImport> identified = can_read_again ? Identify() : std::nullopt;
    for (GoOn go_on = flags_.go_on ? GoOn::kAsAskedFor : GoOn::kNo;; go_on = GoOn::kIfKept) {
      ingest::ImportOptions options = ImportOptionsOf(flags_, global_);
      if (identified && go_on != GoOn::kNo) options.read.digests = identified->digests;
      pipeline_.emplace(format_, std::move(options));
      ServerSink server(global_, identified ? std::optional(identified->identity) : std::nullopt, go_on,
                        output);
      absl::StatusOr<ImportResult> result = Store(*pipeline_, flags_.name, server, output);
      const absl::Status cause = result.ok() ? absl::OkStatus() : CauseToBeginAgain(result.status(), server);
      if (cause.ok() || !can_read_again || !wait.After(cause).ok()) return result;
      output.Note(absl::StrCat("packtrain: ", result.status().message(), "; the import begins again"));
    }
  }

  // Of the last try.
  const ingest::Ledger& ledger() const { return pipeline_->ledger(); }

 private:
  // Under which the server keeps what it has; none where the files cannot be read, as the import itself will
  // tell, or the name is that of the file.
  std::optional<ingest::IdentifiedImport> Identify() const {
    if (flags_.name.empty()) return std::nullopt;
    absl::StatusOr<ingest::IdentifiedImport> identified =
        ingest::IdentifyImport(format_, ImportOptionsOf(flags_, global_), flags_.name);
    return identified.ok() ? std::optional(*std::move(identified)) : std::nullopt;
  }

  const ImportFlags& flags_;
  const ingest::Format& format_;
  const GlobalOptions& global_;
  std::optional<ingest::ImportPipeline> pipeline_;
};

absl::StatusOr<ExitCode> Import(const ImportFlags& flags, const ingest::Format& format,
                                const GlobalOptions& global, Output& output) {
  const absl::StatusOr<std::unique_ptr<ingest::LedgerFile>> file = OpenLedger(flags);
  if (!file.ok()) return DataError(output, file.status());
  PatientImport import(flags, format, global);
  const absl::StatusOr<ImportResult> result = import.Run(output);
  const ingest::Ledger& ledger = import.ledger();
  const absl::Status written = *file == nullptr ? absl::OkStatus() : (*file)->Write(ledger);
  if (!written.ok()) output.Note(absl::StrCat("packtrain: ", written.message()));
  if (!result.ok()) return DataError(output, result.status());
  NoteRefusals(written.ok() ? flags.ledger : "", ledger, output);
  for (const std::string& note : NotesOfEmptySplits(result->sealed.dataset(), flags.split_permille)) {
    output.Note(note);
  }
  output.Print(ToJson(*result, ledger), ToText(*result, ledger));
  if (!written.ok()) return ExitCode::kFailed;
  return ledger.refused_graphs() == 0 ? ExitCode::kDone : ExitCode::kGraphsRefused;
}

struct PartResult {
  std::uint64_t stored = 0;
  SplitCounts splits;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

// Reads everything into the part `path`.
absl::StatusOr<PartResult> WritePart(ingest::ImportPipeline& pipeline, const std::string& path,
                                     Output& output) {
  const auto start = Clock::now();
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<ingest::NativePart> part, ingest::NativePart::Create(path));
  ingest::LocalRecords records(*part);
  ABSL_ASSIGN_OR_RETURN(const v1::ImportGraphsResponse staged,
                        pipeline.Run(records, {output.messages(), base::IsTerminal(STDERR_FILENO)}));
  const v1::SealDatasetRequest seal = pipeline.SealRequest(staged, "");
  ABSL_RETURN_IF_ERROR(part->Commit(seal));
  return PartResult{staged.staged(), SplitsOf(seal, staged.staged()), part->bytes(),
                    std::chrono::duration<double>(Clock::now() - start).count()};
}

void PrintPart(const std::string& path, const PartResult& part, const ingest::Ledger& ledger, Output& output) {
  Json json = JsonOf(ledger);
  json["part"] = path;
  json["stored"] = part.stored;
  AddSplits(part.splits, &json);
  json["bytes"] = part.bytes;
  json["seconds"] = part.seconds;
  json["graphs_per_second"] = static_cast<double>(part.stored) / part.seconds;
  output.Print(json, absl::StrCat("stored ", FormatCount(static_cast<double>(part.stored)), " of ",
                                  FormatCount(static_cast<double>(ledger.read())), " graphs, ",
                                  FormatBytes(static_cast<double>(part.bytes)), " in ", path, "\n",
                                  TextOf(ledger), TextOf(part.splits)));
}

absl::StatusOr<ExitCode> ImportPart(const ImportFlags& flags, const ingest::Format& format,
                                    const GlobalOptions& global, Output& output) {
  const absl::StatusOr<std::unique_ptr<ingest::LedgerFile>> file = OpenLedger(flags);
  if (!file.ok()) return DataError(output, file.status());
  ingest::ImportPipeline pipeline(format, ImportOptionsOf(flags, global));
  const absl::StatusOr<PartResult> part = WritePart(pipeline, flags.output, output);
  const ingest::Ledger& ledger = pipeline.ledger();
  const absl::Status written = *file == nullptr ? absl::OkStatus() : (*file)->Write(ledger);
  if (!written.ok()) output.Note(absl::StrCat("packtrain: ", written.message()));
  if (!part.ok()) return DataError(output, part.status());
  NoteRefusals(written.ok() ? flags.ledger : "", ledger, output);
  PrintPart(flags.output, *part, ledger, output);
  if (!written.ok()) return ExitCode::kFailed;
  return ledger.refused_graphs() == 0 ? ExitCode::kDone : ExitCode::kGraphsRefused;
}

absl::StatusOr<ExitCode> CheckAndImport(const CLI::App& command, const ImportFlags& flags,
                                        const GlobalOptions& global, Output& output) {
  const ingest::Format& format = *ingest::FindFormat(flags.format);
  const std::string wrong = CheckImportFlags(command, format, ingest::Formats(), flags);
  if (!wrong.empty()) return UsageError(output, wrong);
  if (!flags.output.empty()) return ImportPart(flags, format, global, output);
  std::error_code error;
  if (const auto once = ReadOnlyOnce(flags); flags.go_on && once && std::filesystem::exists(*once, error)) {
    return UsageError(output, absl::StrCat("--continue reads everything again, which ", *once, " cannot be"));
  }
  if (flags.name.empty()) {
    const std::string why = ingest::WhyNameIsNeeded(ImportOptionsOf(flags, global));
    if (!why.empty()) return UsageError(output, absl::StrCat("--name is required: ", why));
  }
  if (format.open_graphs != nullptr) {
    ABSL_RETURN_IF_ERROR(client::CheckServerAddress(global.server));
  }
  return Import(flags, format, global, output);
}

}  // namespace

void AddImport(CLI::App& program, Invocation& invocation) {
  CLI::App* command = AddCommand(
      program, "import", "Stores the graphs of files as a data set",
      {"packtrain import extxyz qm9/*.xyz.gz --name qm9 --edges full",
       "packtrain import extxyz mols.xyz.gz --name mols --join targets.csv --key name --targets gap,U0",
       "packtrain import extxyz qm9/*.xyz.gz --name qm9-r5 --edges radius:5",
       "packtrain import extxyz mols.xyz.gz --name mols --split-permille 800,100,100 --split-seed 7",
       "packtrain import extxyz huge/*.xyz.gz --name huge --continue", "packtrain import native qm9.packtrain",
       "packtrain import extxyz qm9_07.xyz.gz -o part07.packtrain --edges radius:5",
       "packtrain import native part*.packtrain --name qm9-r5 --split-permille 800,100,100",
       "packtrain import extxyz crystals/ --name crystals --on-error skip --ledger refused.jsonl"});
  const auto flags = std::make_shared<ImportFlags>();
  AddImportFlags(*command, ingest::Formats(), *flags);
  OnChosen(*command, invocation, [flags, command](const GlobalOptions& global, Output& output) {
    return CheckAndImport(*command, *flags, global, output);
  });
}

}  // namespace packtrain::cli
