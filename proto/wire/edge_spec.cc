#include "proto/wire/edge_spec.h"

#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"

namespace packtrain::wire {
namespace {

absl::Status Invalid(std::string_view text, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--edges '", std::string(text), "': ", std::string(what)));
}

std::vector<std::string_view> PartsOf(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t colon; (colon = text.find(':')) != text.npos; text.remove_prefix(colon + 1)) {
    parts.push_back(text.substr(0, colon));
  }
  parts.push_back(text);
  return parts;
}

// The whole of `text`, from `least` to `most`; NaN is in no range.
template <typename T>
std::optional<T> ParseWithin(std::string_view text, T least, T most) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= least && value <= most)) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> ParseNeighbours(std::string_view text) {
  return ParseWithin<std::uint32_t>(text, 1, kMaxNeighbours);
}

absl::StatusOr<EdgeSpec> ParseRadius(std::string_view text, const std::vector<std::string_view>& parts) {
  if (parts.size() != 2 && parts.size() != 3) return Invalid(text, "is no radius:R or radius:R:MAX");
  const std::optional<double> radius = ParseWithin<double>(parts[1], 0, kMaxRadius);
  if (!radius || *radius == 0) {
    return Invalid(text,
                   absl::StrCat("the radius must be a number above 0, in angstrom, and at most ", kMaxRadius));
  }
  EdgeSpec spec{EdgeBuilder::kRadius, *radius, 0};
  if (parts.size() == 2) return spec;
  const std::optional<std::uint32_t> most = ParseNeighbours(parts[2]);
  if (!most) return Invalid(text, absl::StrCat("MAX must be a whole number from 1 to ", kMaxNeighbours));
  spec.neighbours = *most;
  return spec;
}

absl::StatusOr<EdgeSpec> ParseKnn(std::string_view text, const std::vector<std::string_view>& parts) {
  if (parts.size() != 2) return Invalid(text, "is no knn:K");
  const std::optional<std::uint32_t> neighbours = ParseNeighbours(parts[1]);
  if (!neighbours) return Invalid(text, absl::StrCat("K must be a whole number from 1 to ", kMaxNeighbours));
  return EdgeSpec{EdgeBuilder::kKnn, 0, *neighbours};
}

// The shortest decimal that parses back to the same number.
std::string Shortest(double number) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() ? std::string(digits.data(), end) : std::string();
}

}  // namespace

absl::StatusOr<EdgeSpec> ParseEdgeSpec(std::string_view text) {
  const std::vector<std::string_view> parts = PartsOf(text);
  if (text == "full") return EdgeSpec{};
  if (parts[0] == "radius") return ParseRadius(text, parts);
  if (parts[0] == "knn") return ParseKnn(text, parts);
  return Invalid(text, "unknown edges; known: full, radius:R[:MAX], knn:K");
}

std::string ToText(const EdgeSpec& spec) {
  if (spec.builder == EdgeBuilder::kFull) return "full";
  if (spec.builder == EdgeBuilder::kKnn) return absl::StrCat("knn:", spec.neighbours);
  const std::string radius = absl::StrCat("radius:", Shortest(spec.radius));
  return spec.neighbours == 0 ? radius : absl::StrCat(radius, ":", spec.neighbours);
}

}  // namespace packtrain::wire
