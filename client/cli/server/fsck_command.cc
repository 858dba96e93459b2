// packtrain fsck
#include <unistd.h>

#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/server/fsck_json.h"
#include "client/cli/service_call.h"
#include "proto/wire/fsck_report.h"

namespace packtrain::cli {
namespace {

struct Found {
  Json findings = Json::array();
  std::string lines;
  v1::FsckSummary summary;

  void Take(const v1::FsckResponse& event) {
    if (event.has_summary()) summary = event.summary();
    if (!event.has_finding()) return;
    findings.push_back(MessageToJson(event.finding(), FsckRules()));
    lines += wire::FsckLine(event.finding());
  }
};

Json ToJson(const Found& found) {
  Json json = {{"findings", found.findings}};
  json.update(MessageToJson(found.summary, FsckRules()));
  return json;
}

absl::Status Check(const GlobalOptions& global, Output& output, Found& found) {
  wire::FsckProgress progress(output.messages(), base::IsTerminal(STDERR_FILENO));
  return CallService(global, [&](client::ServiceClient& services) {
    return services.Fsck([&](const v1::FsckResponse& event) {
      if (event.has_progress() && !global.json) progress.Show(event.progress());
      found.Take(event);
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<ExitCode> Fsck(const GlobalOptions& global, Output& output) {
  Found found;
  if (absl::Status status = Check(global, output, found); !status.ok()) {
    output.messages() << found.lines;
    return status;
  }
  output.Print(ToJson(found), found.lines + wire::FsckLines(found.summary));
  return found.summary.findings() == 0 ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

void AddFsck(CLI::App& program, Invocation& invocation) {
  CLI::App* fsck = AddCommand(program, "fsck",
                              "Reads all that a server stores and names what is damaged; exit code 1 where "
                              "anything is. `packtraind --data DIR --fsck` does it where no server runs",
                              {"packtrain fsck", "packtrain fsck --server data-node:7077 --json"});
  OnChosen(*fsck, invocation, Fsck);
}

}  // namespace packtrain::cli
