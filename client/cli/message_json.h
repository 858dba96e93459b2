// The JSON of a protobuf message, made by one walk over its fields.
//
// Use it wherever a command prints what a server has answered. A field that a message gains appears without a
// line of code; a rule is needed only where a key or a value differs from the field.
//
//   const JsonRules rules = {.fields = {{"CorruptGraph.batch_index", Rename("batch")},
//                                       {"ShapeCount.shape", Spread()}}};
//   output.Print(MessageToJson(response, rules), text);
#ifndef PACKTRAIN_CLIENT_CLI_MESSAGE_JSON_H_
#define PACKTRAIN_CLIENT_CLI_MESSAGE_JSON_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/output.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/generated_enum_reflection.h"
#include "google/protobuf/message.h"

namespace packtrain::cli {

struct JsonRules;

// One field of one message. Borrows all three.
struct JsonField {
  const google::protobuf::Message& message;
  const google::protobuf::FieldDescriptor& field;
  const JsonRules& rules;

  // An `optional` field that is not set.
  bool IsAbsent() const;
  // The field by the rules; null where it is absent.
  Json Value() const;
};

// Puts a field into the object of its message.
using JsonRule = std::function<void(const JsonField& field, Json& object)>;

struct JsonRules {
  // By message and field, such as "Dataset.splits".
  std::map<std::string, JsonRule, std::less<>> fields = {};
  // Keys that stand first, in this order, in the object of a message such as "Dataset".
  std::map<std::string, std::vector<std::string>, std::less<>> first_keys = {};
};

// The object of `message`. Where no rule says otherwise, each field is a key of its name, in the order in which
// the .proto declares them: a number of any width as a number (base::JsonText prints NaN and infinities), an
// enum as its word (EnumWord), a repeated field as an array, a map as an object by ascending key, a message as
// an object even where it is not set, and an `optional` field that is not set as null.
Json MessageToJson(const google::protobuf::Message& message, const JsonRules& rules = {});

// Not shown.
JsonRule Omit();
// Not shown where it is absent.
JsonRule OmitIfAbsent();
// Under another key.
JsonRule Rename(std::string key);
// As `object.key`.
JsonRule Within(std::string object, std::string key);
// The keys of the message that the field holds, in the field's place.
JsonRule Spread();
// A repeated message as an object: each element, without its text field `key`, under the value of that field.
JsonRule KeyedBy(std::string key);
// A text, or null where it is empty.
JsonRule NullIfEmpty();
// An enum whose unspecified value means `word`.
JsonRule UnspecifiedIs(std::string word);
// Nanoseconds as seconds.
JsonRule Seconds(std::string key);
// Milliseconds since 1970 as FormatTime writes them, or null for 0.
JsonRule Time(std::string key);

// VERDICT_TOO_FEW_RUNS as "too few runs"; "" for the unspecified value, "unknown(9)" for one of a newer peer.
std::string EnumWord(const google::protobuf::EnumDescriptor& type, int number);

template <typename Enum>
std::string EnumWord(Enum value) {
  return EnumWord(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_MESSAGE_JSON_H_
