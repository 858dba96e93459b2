#include "trainer/run/prediction_table.h"

#include <array>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace packtrain::trainer {
namespace {

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// The shortest text that is read as `value`.
std::string Exact(double value) {
  std::array<char, 32> text;
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

}  // namespace

std::string PredictionHeader(const std::vector<std::string>& targets) {
  std::string line = "id";
  for (const char* prefix : {"", "predicted_"}) {
    for (const std::string& target : targets) absl::StrAppend(&line, ",", Quoted(prefix + target));
  }
  return line + '\n';
}

std::string PredictionRow(const std::string& id, std::span<const double> values,
                          std::span<const double> predictions) {
  std::string line = Quoted(id);
  for (const double value : values) absl::StrAppend(&line, ",", std::isnan(value) ? "" : Exact(value));
  for (const double prediction : predictions) absl::StrAppendFormat(&line, ",%.9g", prediction);
  return line + '\n';
}

}  // namespace packtrain::trainer
