#include "trainer/run/output.h"

#include <iostream>

#include "proto/base/escape_controls.h"
#include "proto/base/json_text.h"

namespace packtrain::trainer {

using Json = nlohmann::ordered_json;

absl::Status PrintResult(const Json& result) {
  std::cout << base::JsonText(result) << std::endl;
  return std::cout ? absl::OkStatus() : absl::InternalError("stdout cannot be written: the result is lost");
}

void PrintFailure(const std::string& program, const absl::Status& status, bool json) {
  const std::string message(status.message());
  std::cerr << program << ": " << base::EscapeControls(message) << std::endl;
  if (!json) return;
  const std::string code = absl::StatusCodeToString(status.code());
  // What cannot be written here is on stderr.
  PrintResult({{"error", {{"code", code}, {"message", message}, {"details", Json::array()}}}}).IgnoreError();
}

void PrintProgress(const std::string& line) { std::cerr << base::EscapeControls(line) + '\n' << std::flush; }

}  // namespace packtrain::trainer
