#include "server/analysis/setting_value.h"

#include <cmath>

#include "absl/strings/numbers.h"

namespace packtrain::analysis {

std::optional<SettingNumber> ParseNumber(const std::string& text) {
  SettingNumber number;
  if (!absl::SimpleAtod(text, &number.value) || !std::isfinite(number.value)) return std::nullopt;
  if (std::uint64_t whole = 0; absl::SimpleAtoi(text, &whole)) number.whole = whole;
  return number;
}

std::partial_ordering CompareNumbers(const SettingNumber& a, const SettingNumber& b) {
  if (a.whole.has_value() && b.whole.has_value()) return *a.whole <=> *b.whole;
  return a.value <=> b.value;
}

bool SettingValueLess::operator()(const std::string& a, const std::string& b) const {
  const std::optional<SettingNumber> x = ParseNumber(a);
  const std::optional<SettingNumber> y = ParseNumber(b);
  if (x.has_value() != y.has_value()) return x.has_value();
  if (x.has_value() && x->value != y->value) return x->value < y->value;
  return a < b;
}

}  // namespace packtrain::analysis
