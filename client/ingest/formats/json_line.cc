#include "client/ingest/formats/json_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

absl::Status BadValue(std::string_view name, std::string_view expected) {
  return Refusal("bad_value", absl::StrCat("'", std::string(name), "' must be ", std::string(expected)));
}

absl::Status ParseError(simdjson::error_code error, std::string_view line, std::size_t max_depth) {
  if (error == simdjson::UTF8_ERROR) return Refusal("not_utf8", "the line is not UTF-8");
  if (error == simdjson::DEPTH_ERROR) {
    return Refusal("too_deep",
                   absl::StrCat("values lie more than ", max_depth, " deep in each other (--max-depth)"));
  }
  if (std::count(line.begin(), line.end(), '{') > std::count(line.begin(), line.end(), '}')) {
    return Refusal("truncated_line", "the line ends within its JSON");
  }
  const bool named = line.find("NaN") != line.npos || line.find("Infinity") != line.npos;
  if (named) return Refusal("bad_json", "JSON has no NaN and no Infinity; null is a missing target");
  return Refusal("bad_json", absl::StrCat("the line is not JSON: ", simdjson::error_message(error)));
}

// JsonArray::size is cut off at 24 bits.
std::uint64_t RowsOf(JsonArray array) {
  std::uint64_t rows = 0;
  for ([[maybe_unused]] const JsonValue row : array) ++rows;
  return rows;
}

std::string DigitsOf(double number) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
}

// A number as an element of a field; nullopt: it is none that fits.
template <typename T>
std::optional<T> NumberOf(JsonValue value) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    const T element = static_cast<T>(number);
    return std::isfinite(element) ? std::optional(element) : std::nullopt;
  } else {
    const auto fitting = [](auto whole) {
      return std::in_range<T>(whole) ? std::optional(static_cast<T>(whole)) : std::nullopt;
    };
    std::int64_t whole = 0;
    if (value.get(whole) == simdjson::SUCCESS) return fitting(whole);
    std::uint64_t large = 0;
    if (value.get(large) == simdjson::SUCCESS) return fitting(large);
    // As writers of floats put it: 6.0.
    if (number != std::floor(number) || std::abs(number) > 9007199254740992.0) return std::nullopt;
    return fitting(static_cast<std::int64_t>(number));
  }
}

template <typename T>
absl::Status AppendElements(JsonValue value, std::span<const std::uint32_t> dims, std::string_view name,
                            std::vector<T>& out) {
  if (dims.empty()) {
    const std::optional<T> element = NumberOf<T>(value);
    if (!element) {
      return BadValue(name, std::is_floating_point_v<T> ? "made of finite numbers"
                                                        : "made of whole numbers that fit its type");
    }
    out.push_back(*element);
    return absl::OkStatus();
  }
  ABSL_ASSIGN_OR_RETURN(const JsonArray array, ArrayOf(value, name));
  std::uint32_t count = 0;
  for (const JsonValue element : array) {
    ABSL_RETURN_IF_ERROR(AppendElements(element, dims.subspan(1), name, out));
    ++count;
  }
  if (count == dims.front()) return absl::OkStatus();
  return Refusal("bad_shape", absl::StrCat("a list of '", std::string(name), "' has ", count, " values, not ",
                                           dims.front()));
}

}  // namespace

absl::StatusOr<JsonObject> JsonLine::Parse(std::string_view line) {
  if (parser_.max_depth() != max_depth_ || parser_.capacity() < line.size()) {
    const std::size_t capacity = std::max<std::size_t>(2 * line.size(), 1 << 12);
    if (parser_.allocate(capacity, max_depth_) != simdjson::SUCCESS) {
      return absl::ResourceExhaustedError("no memory to parse a line of JSON");
    }
  }
  JsonValue value;
  const simdjson::error_code error = parser_.parse(line.data(), line.size()).get(value);
  if (error != simdjson::SUCCESS) return ParseError(error, line, max_depth_);
  JsonObject object;
  if (value.get(object) == simdjson::SUCCESS) return object;
  return Refusal("not_an_object", "the line is no JSON object: a graph is {...}");
}

absl::Status VisitMembers(JsonObject object,
                          absl::FunctionRef<absl::Status(std::string_view key, JsonValue value)> take) {
  std::vector<std::string_view> keys;
  for (const simdjson::dom::key_value_pair member : object) keys.push_back(member.key);
  std::sort(keys.begin(), keys.end());
  if (const auto twin = std::adjacent_find(keys.begin(), keys.end()); twin != keys.end()) {
    return Refusal("duplicate_key",
                   absl::StrCat("the key '", std::string(*twin), "' comes twice in an object"));
  }
  for (const simdjson::dom::key_value_pair member : object) {
    ABSL_RETURN_IF_ERROR(take(member.key, member.value));
  }
  return absl::OkStatus();
}

absl::StatusOr<JsonObject> ObjectOf(JsonValue value, std::string_view name) {
  JsonObject object;
  if (value.get(object) == simdjson::SUCCESS) return object;
  return BadValue(name, "an object");
}

absl::StatusOr<JsonArray> ArrayOf(JsonValue value, std::string_view name) {
  JsonArray array;
  if (value.get(array) == simdjson::SUCCESS) return array;
  return BadValue(name, "a list");
}

absl::StatusOr<std::string_view> TextOf(JsonValue value, std::string_view name) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return text;
  return BadValue(name, "a text");
}

absl::StatusOr<std::uint32_t> IndexOf(JsonValue value, std::string_view name) {
  std::uint64_t index = 0;
  if (value.get(index) == simdjson::SUCCESS && index <= std::numeric_limits<std::uint32_t>::max()) {
    return static_cast<std::uint32_t>(index);
  }
  return BadValue(name, "a whole number from 0 to 4294967295");
}

absl::StatusOr<bool> TruthOf(JsonValue value, std::string_view name) {
  bool truth = false;
  if (value.get(truth) == simdjson::SUCCESS) return truth;
  return BadValue(name, "true or false");
}

absl::StatusOr<std::string> IdOf(JsonValue value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  std::int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return absl::StrCat(number);
  return BadValue("id", "a text or a whole number");
}

absl::Status AppendRow(JsonValue row, const std::vector<std::uint32_t>& dims, std::string_view name,
                       FieldValues* values) {
  return std::visit([&](auto& elements) { return AppendElements(row, dims, name, elements); }, *values);
}

std::vector<std::uint32_t> DimsOf(JsonValue value) {
  std::vector<std::uint32_t> dims;
  JsonArray array;
  while (value.get(array) == simdjson::SUCCESS) {
    std::uint32_t count = 0;
    for (const JsonValue element : array) {
      if (count++ == 0) value = element;
    }
    dims.push_back(count);
    if (count == 0) break;
  }
  return dims;
}

std::optional<std::string> TextOfLabel(JsonValue value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  bool truth = false;
  if (value.get(truth) == simdjson::SUCCESS) return truth ? "1" : "0";
  std::int64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS) return absl::StrCat(whole);
  double number = 0;
  if (value.get(number) == simdjson::SUCCESS) return DigitsOf(number);
  return value.is_null() ? std::optional<std::string>("") : std::nullopt;
}

void AddLabel(std::string_view name, JsonValue value, LabelList* labels) {
  const std::optional<std::string> text = TextOfLabel(value);
  JsonArray array;
  if (text) {
    labels->Add(name, *text);
  } else if (value.get(array) == simdjson::SUCCESS) {
    labels->AddArray(name, RowsOf(array));
  } else {
    labels->AddObject(name);
  }
}

void AddTargetLabel(std::string_view name, JsonValue value, LabelList* labels) {
  AddLabel(name, value, labels);
  labels->DeclareLast();
}

void TakeSplit(JsonValue value, SourceGraph* graph, LabelList* labels) {
  std::string_view split;
  if (value.get(split) == simdjson::SUCCESS) {
    graph->split = split;
  } else if (!value.is_null()) {
    AddLabel(kSplitKey, value, labels);
  }
}

}  // namespace packtrain::ingest
