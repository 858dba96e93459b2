// What the trainer prints: results as one line of JSON on stdout, failures on stderr.
#ifndef PACKTRAIN_TRAINER_RUN_OUTPUT_H_
#define PACKTRAIN_TRAINER_RUN_OUTPUT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"

namespace packtrain::trainer {

// As base::JsonText has it. INTERNAL: stdout could not be written, as on a full disk.
absl::Status PrintResult(const nlohmann::ordered_json& result);

// With `json` also as {"error":{"code","message","details"}} on stdout.
void PrintFailure(const std::string& program, const absl::Status& status, bool json);

// One line on stderr, in one write, control characters escaped. From any thread.
void PrintProgress(const std::string& line);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_OUTPUT_H_
