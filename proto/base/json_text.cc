#include "proto/base/json_text.h"

#include <algorithm>
#include <cmath>

namespace packtrain::base {
namespace {

using Json = nlohmann::ordered_json;

// Whether there is a number for which JSON has no form.
bool HoldsNonFinite(const Json& json) {
  if (json.is_structured()) return std::any_of(json.begin(), json.end(), HoldsNonFinite);
  return json.is_number_float() && !std::isfinite(json.get<double>());
}

void NameNonFinite(Json& json) {
  if (json.is_structured()) {
    for (Json& element : json) NameNonFinite(element);
  } else if (HoldsNonFinite(json)) {
    const double value = json.get<double>();
    json = std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  }
}

}  // namespace

std::string JsonText(const Json& json) {
  if (!HoldsNonFinite(json)) return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  Json named = json;
  NameNonFinite(named);
  return JsonText(named);
}

}  // namespace packtrain::base
