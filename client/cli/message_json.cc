#include "client/cli/message_json.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace packtrain::cli {
namespace {

bool IsEmptyText(const Json& value) { return value.is_string() && value.get_ref<const std::string&>().empty(); }

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr double kNsPerSecond = 1e9;

// Reads one value by `single`, or by `repeated` where it has an index.
template <typename Single, typename Repeated>
Json Read(const JsonField& at, std::optional<int> index, Single single, Repeated repeated) {
  const Reflection& reflection = *at.message.GetReflection();
  return index.has_value() ? Json((reflection.*repeated)(at.message, &at.field, *index))
                           : Json((reflection.*single)(at.message, &at.field));
}

const Message& ReadMessage(const JsonField& at, std::optional<int> index) {
  const Reflection& reflection = *at.message.GetReflection();
  return index.has_value() ? reflection.GetRepeatedMessage(at.message, &at.field, *index)
                           : reflection.GetMessage(at.message, &at.field);
}

// The value of a single field, or element `index` of a repeated one.
Json ValueAt(const JsonField& at, std::optional<int> index) {
  switch (at.field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return Read(at, index, &Reflection::GetInt32, &Reflection::GetRepeatedInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return Read(at, index, &Reflection::GetInt64, &Reflection::GetRepeatedInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return Read(at, index, &Reflection::GetUInt32, &Reflection::GetRepeatedUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Read(at, index, &Reflection::GetUInt64, &Reflection::GetRepeatedUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Read(at, index, &Reflection::GetDouble, &Reflection::GetRepeatedDouble);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Read(at, index, &Reflection::GetFloat, &Reflection::GetRepeatedFloat);
    case FieldDescriptor::CPPTYPE_BOOL:
      return Read(at, index, &Reflection::GetBool, &Reflection::GetRepeatedBool);
    case FieldDescriptor::CPPTYPE_STRING:
      return Read(at, index, &Reflection::GetString, &Reflection::GetRepeatedString);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const Json number = Read(at, index, &Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue);
      return EnumWord(*at.field.enum_type(), number.get<int>());
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageToJson(ReadMessage(at, index), at.rules);
  }
  return nullptr;
}

int SizeOf(const JsonField& at) { return at.message.GetReflection()->FieldSize(at.message, &at.field); }

Json MapValue(const JsonField& at) {
  std::map<std::string, Json> sorted;
  for (int k = 0; k < SizeOf(at); ++k) {
    const Message& entry = ReadMessage(at, k);
    const Json key = JsonField{entry, *at.field.message_type()->map_key(), at.rules}.Value();
    sorted[key.is_string() ? key.get<std::string>() : key.dump()] =
        JsonField{entry, *at.field.message_type()->map_value(), at.rules}.Value();
  }
  Json object = Json::object();
  for (auto& [key, value] : sorted) object[key] = std::move(value);
  return object;
}

Json RepeatedValue(const JsonField& at) {
  Json array = Json::array();
  for (int k = 0; k < SizeOf(at); ++k) array.push_back(ValueAt(at, k));
  return array;
}

// The object with `keys` in front of its others.
Json InOrder(const std::vector<std::string>& keys, const Json& object) {
  Json ordered = Json::object();
  for (const std::string& key : keys) {
    if (object.contains(key)) ordered[key] = object[key];
  }
  ordered.update(object);
  return ordered;
}

}  // namespace

bool JsonField::IsAbsent() const {
  // protobuf keeps an `optional` field as a oneof of its own.
  return field.containing_oneof() != nullptr && !message.GetReflection()->HasField(message, &field);
}

Json JsonField::Value() const {
  if (IsAbsent()) return nullptr;
  if (field.is_map()) return MapValue(*this);
  return field.is_repeated() ? RepeatedValue(*this) : ValueAt(*this, std::nullopt);
}

Json MessageToJson(const Message& message, const JsonRules& rules) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  Json object = Json::object();
  for (int k = 0; k < type.field_count(); ++k) {
    const JsonField at = {message, *type.field(k), rules};
    const auto rule = rules.fields.find(type.name() + "." + at.field.name());
    if (rule == rules.fields.end()) {
      object[at.field.name()] = at.Value();
    } else {
      rule->second(at, object);
    }
  }
  const auto first = rules.first_keys.find(type.name());
  return first == rules.first_keys.end() ? object : InOrder(first->second, object);
}

JsonRule Omit() {
  return [](const JsonField&, Json&) {};
}

JsonRule OmitIfAbsent() {
  return [](const JsonField& at, Json& object) {
    if (!at.IsAbsent()) object[at.field.name()] = at.Value();
  };
}

JsonRule Rename(std::string key) {
  return [key = std::move(key)](const JsonField& at, Json& object) { object[key] = at.Value(); };
}

JsonRule Within(std::string outer, std::string key) {
  return [outer = std::move(outer), key = std::move(key)](const JsonField& at, Json& object) {
    object[outer][key] = at.Value();
  };
}

JsonRule Spread() {
  return [](const JsonField& at, Json& object) {
    if (!at.IsAbsent()) object.update(at.Value());
  };
}

JsonRule KeyedBy(std::string key) {
  return [key = std::move(key)](const JsonField& at, Json& object) {
    Json by_key = Json::object();
    for (Json element : at.Value()) {
      const std::string name = element[key];
      element.erase(key);
      by_key[name] = std::move(element);
    }
    object[at.field.name()] = std::move(by_key);
  };
}

JsonRule NullIfEmpty() {
  return [](const JsonField& at, Json& object) {
    const Json text = at.Value();
    object[at.field.name()] = IsEmptyText(text) ? Json(nullptr) : text;
  };
}

JsonRule UnspecifiedIs(std::string word) {
  return [word = std::move(word)](const JsonField& at, Json& object) {
    const Json value = at.Value();
    object[at.field.name()] = IsEmptyText(value) ? Json(word) : value;
  };
}

JsonRule Seconds(std::string key) {
  return [key = std::move(key)](const JsonField& at, Json& object) {
    object[key] = at.Value().get<double>() / kNsPerSecond;
  };
}

JsonRule Time(std::string key) {
  return [key = std::move(key)](const JsonField& at, Json& object) {
    const Json ms = at.Value();
    object[key] = ms == 0 ? Json(nullptr) : Json(FormatTime(ms.get<std::int64_t>()));
  };
}

std::string EnumWord(const EnumDescriptor& type, int number) {
  if (number == 0) return "";
  const EnumValueDescriptor* value = type.FindValueByNumber(number);
  if (value == nullptr) return "unknown(" + std::to_string(number) + ")";
  // Every value begins with the name of its type, and 0 is that and UNSPECIFIED.
  const std::size_t prefix = type.FindValueByNumber(0)->name().size() - std::string_view("UNSPECIFIED").size();
  std::string word = value->name().substr(prefix);
  for (char& c : word) c = c == '_' ? ' ' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return word;
}

}  // namespace packtrain::cli
