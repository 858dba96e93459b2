// The order of the values of settings.
#ifndef PACKTRAIN_SERVER_ANALYSIS_SETTING_VALUE_H_
#define PACKTRAIN_SERVER_ANALYSIS_SETTING_VALUE_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace packtrain::analysis {

struct SettingNumber {
  double value = 0;                    // finite
  std::optional<std::uint64_t> whole;  // exact, where the text is digits alone
};
// Nothing where `text` is no finite number, as "nan" and "1e400" are none.
std::optional<SettingNumber> ParseNumber(const std::string& text);
// Exact between whole numbers.
std::partial_ordering CompareNumbers(const SettingNumber& a, const SettingNumber& b);

// Finite numbers by size, then text by bytes. Only equal texts are equal: 7 and 007 are neighbours.
struct SettingValueLess {
  bool operator()(const std::string& a, const std::string& b) const;
};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_SETTING_VALUE_H_
