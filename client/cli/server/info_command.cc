// packtrain server info
#include <iomanip>
#include <sstream>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/message_json.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

// One line a part: its use, and what it may take.
std::string MemoryParts(const v1::MemoryUse& memory) {
  std::ostringstream text;
  for (const v1::MemoryPart& part : memory.parts()) {
    text << "  " << std::left << std::setw(18) << part.name()
         << FormatBytes(static_cast<double>(part.used_bytes())) << " of "
         << FormatBytes(static_cast<double>(part.cap_bytes())) << '\n';
  }
  return text.str();
}

std::string ToText(const std::string& server, const v1::GetServerInfoResponse& info) {
  std::ostringstream text;
  text << "packtraind " << info.version() << " at " << server << ", API " << info.api() << '\n'
       << "memory    " << FormatBytes(static_cast<double>(info.memory().used_bytes())) << " used of "
       << FormatBytes(static_cast<double>(info.memory().cap_bytes())) << ", "
       << FormatBytes(static_cast<double>(info.memory().resident_dataset_bytes()))
       << " of it data sets; process " << FormatBytes(static_cast<double>(info.memory().process_rss_bytes()))
       << '\n'
       << MemoryParts(info.memory()) << "disk      "
       << FormatCount(static_cast<double>(info.disk().kept_imports())) << " imports that broke off are kept, "
       << FormatBytes(static_cast<double>(info.disk().kept_import_bytes())) << '\n'
       << "limits    message " << FormatBytes(static_cast<double>(info.limits().max_receive_message_bytes()))
       << ", batch " << FormatBytes(static_cast<double>(info.limits().max_batch_bytes())) << ", streams "
       << info.limits().max_streams() << '\n'
       << "features ";
  for (const std::string& feature : info.features()) text << ' ' << feature;
  text << '\n';
  return text.str();
}

absl::StatusOr<ExitCode> ShowInfo(const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info,
                        Ask<v1::GetServerInfoResponse>(global, v1::GetServerInfoRequest(), client::kLookUp));
  output.Print(MessageToJson(info), ToText(global.server, info));
  return ExitCode::kDone;
}

}  // namespace

void AddServerInfo(CLI::App& server, Invocation& invocation) {
  CLI::App* info =
      AddCommand(server, "info", "Shows version, limits, memory and features of a server",
                 {"packtrain server info", "packtrain server info --server data-node:7077 --json"});
  OnChosen(*info, invocation, ShowInfo);
}

}  // namespace packtrain::cli
