// JSON as every program prints it.
#ifndef PACKTRAIN_PROTO_BASE_JSON_TEXT_H_
#define PACKTRAIN_PROTO_BASE_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace packtrain::base {

// In one line. NaN and infinities, for which JSON has no numbers, become the strings "NaN", "Infinity" and
// "-Infinity"; invalid UTF-8, as file names may hold, is replaced and never thrown at.
std::string JsonText(const nlohmann::ordered_json& json);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_JSON_TEXT_H_
