// A line of JSON, parsed strictly, and what forms of graphs (jsonl_form.h) need to read it.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_JSON_LINE_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_JSON_LINE_H_

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/formats/label_list.h"
#include "client/ingest/graph_reader.h"

namespace packtrain::ingest {

using JsonValue = simdjson::dom::element;
using JsonObject = simdjson::dom::object;
using JsonArray = simdjson::dom::array;

// Used by one thread.
class JsonLine {
 public:
  // Values may lie in each other `max_depth` deep.
  explicit JsonLine(std::size_t max_depth) : max_depth_(max_depth) {}

  // The object that the line consists of; valid until the next call. Refusals: "not_utf8", "truncated_line",
  // "too_deep", "bad_json" (also for NaN, Infinity and numbers beyond f64 and u64), "not_an_object".
  absl::StatusOr<JsonObject> Parse(std::string_view line);

 private:
  const std::size_t max_depth_;
  simdjson::dom::parser parser_;
};

// Calls `take` for each member, in their order, up to the first error. A key that comes twice is refused as
// "duplicate_key".
absl::Status VisitMembers(JsonObject object,
                          absl::FunctionRef<absl::Status(std::string_view key, JsonValue value)> take);

// The values below are refused as "bad_value", by `name`, where they are of another kind.
absl::StatusOr<JsonObject> ObjectOf(JsonValue value, std::string_view name);
absl::StatusOr<JsonArray> ArrayOf(JsonValue value, std::string_view name);
absl::StatusOr<std::string_view> TextOf(JsonValue value, std::string_view name);
// A whole number from 0 to 2^32 - 1, such as the index of a node.
absl::StatusOr<std::uint32_t> IndexOf(JsonValue value, std::string_view name);
absl::StatusOr<bool> TruthOf(JsonValue value, std::string_view name);
// A text, or a whole number as text.
absl::StatusOr<std::string> IdOf(JsonValue value);

// Appends a row of dimensions `dims` as elements of the type of `values`: floats must be finite, whole numbers
// fit.
absl::Status AppendRow(JsonValue row, const std::vector<std::uint32_t>& dims, std::string_view name,
                       FieldValues* values);

// The dimensions of a value whose lists are not empty: {} of a number, {3} of [1, 2, 3].
std::vector<std::uint32_t> DimsOf(JsonValue value);

// The number itself, as written with the fewest digits; 1 and 0 of true and false; the text itself; nothing of
// null. nullopt: a list or an object.
std::optional<std::string> TextOfLabel(JsonValue value);

// Adds a value of any kind as a label.
void AddLabel(std::string_view name, JsonValue value, LabelList* labels);
// One that the record declares to be a target.
void AddTargetLabel(std::string_view name, JsonValue value, LabelList* labels);

// The key of the split that a record is in.
inline constexpr std::string_view kSplitKey = "split";

// The value of kSplitKey: a text is what the record calls its split, null none, anything else a label.
void TakeSplit(JsonValue value, SourceGraph* graph, LabelList* labels);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_JSON_LINE_H_
