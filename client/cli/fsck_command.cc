// packtrain fsck
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/service_call.h"

namespace packtrain::cli {
namespace {

// "FSCK_KIND_GRAPH" as "graph".
std::string KindName(v1::FsckKind kind) {
  switch (kind) {
    case v1::FSCK_KIND_FILE:
      return "file";
    case v1::FSCK_KIND_DATASET:
      return "dataset";
    case v1::FSCK_KIND_GRAPH:
      return "graph";
    case v1::FSCK_KIND_SPLIT:
      return "split";
    case v1::FSCK_KIND_RUN:
      return "run";
    default:
      return "unknown";
  }
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json ToJson(const v1::FsckFinding& finding) {
  return {{"kind", KindName(finding.kind())},
          {"message", finding.message()},
          {"dataset", TextOrNull(finding.dataset())},
          {"graph", finding.has_graph() ? Json(finding.graph()) : Json()},
          {"source_id", TextOrNull(finding.source_id())},
          {"split", TextOrNull(finding.split())},
          {"run", TextOrNull(finding.run())},
          {"file", TextOrNull(finding.file())}};
}

std::string ToLine(const v1::FsckFinding& finding) {
  std::string line = KindName(finding.kind());
  for (const std::string& name : {finding.file(), finding.dataset(), finding.split(), finding.run()}) {
    if (!name.empty()) line += " " + name;
  }
  if (finding.has_graph()) line += " " + std::to_string(finding.graph());
  if (!finding.source_id().empty()) line += " (" + finding.source_id() + ")";
  return line + ": " + finding.message() + "\n";
}

std::string ToLine(const v1::FsckSummary& summary) {
  return FormatCount(static_cast<double>(summary.files())) + " files, " +
         FormatCount(static_cast<double>(summary.graphs())) + " graphs of " +
         FormatCount(static_cast<double>(summary.datasets())) + " data sets, " +
         FormatCount(static_cast<double>(summary.runs())) + " runs read: " +
         (summary.findings() == 0 ? "all well"
                                  : FormatCount(static_cast<double>(summary.findings())) + " findings") +
         "\n";
}

struct Found {
  Json findings = Json::array();
  std::string lines;
  v1::FsckSummary summary;

  void Take(const v1::FsckResponse& event) {
    if (event.has_summary()) summary = event.summary();
    if (!event.has_finding()) return;
    findings.push_back(ToJson(event.finding()));
    lines += ToLine(event.finding());
  }
};

Json ToJson(const Found& found) {
  return {{"findings", found.findings},
          {"files", found.summary.files()},
          {"datasets", found.summary.datasets()},
          {"graphs", found.summary.graphs()},
          {"runs", found.summary.runs()}};
}

absl::StatusOr<ExitCode> Check(const GlobalOptions& global, Output& output) {
  Found found;
  const absl::Status status = CallService(global, [&](client::ServiceClient& services) {
    return services.Fsck([&](const v1::FsckResponse& event) {
      found.Take(event);
      return absl::OkStatus();
    });
  });
  if (!status.ok()) return status;
  output.Print(ToJson(found), found.lines + ToLine(found.summary));
  return found.summary.findings() == 0 ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

void AddFsckCommand(CLI::App& program, Invocation& invocation) {
  CLI::App* fsck = AddCommand(program, "fsck",
                              "Reads all that a server stores and names what is damaged; exit code 1 where "
                              "anything is",
                              {"packtrain fsck", "packtrain fsck --server data-node:7077 --json"});
  OnChosen(*fsck, invocation, Check);
}

}  // namespace packtrain::cli
