#include "client/ingest/elements.h"

#include <array>
#include <cstddef>

#include "client/ingest/text.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kElements = 118;

constexpr std::array<std::string_view, kElements> kSymbols = {
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",  "Cl",
    "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se",
    "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb",
    "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er",
    "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At",
    "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No",
    "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og",
};

constexpr std::size_t kSecondLetters = 27;  // none, or a to z

constexpr std::size_t SlotOf(char first, char second) {
  return static_cast<std::size_t>(first - 'A') * kSecondLetters +
         static_cast<std::size_t>(second == 0 ? 0 : second - 'a' + 1);
}

constexpr std::array<std::uint8_t, 26 * kSecondLetters> IndexSymbols() {
  std::array<std::uint8_t, 26 * kSecondLetters> numbers = {};
  for (std::size_t i = 0; i < kElements; ++i) {
    const std::string_view symbol = kSymbols[i];
    numbers[SlotOf(symbol[0], symbol.size() > 1 ? symbol[1] : '\0')] = static_cast<std::uint8_t>(i + 1);
  }
  return numbers;
}

constexpr std::array<std::uint8_t, 26 * kSecondLetters> kNumberOfSlot = IndexSymbols();

std::uint8_t NumberOfDigits(std::string_view word) {
  const std::optional<std::uint64_t> number = ParseCount(word);
  return number && *number <= kElements ? static_cast<std::uint8_t>(*number) : 0;
}

}  // namespace

std::uint8_t AtomicNumber(std::string_view word) {
  if (word.empty() || word[0] < 'A' || word[0] > 'Z') return NumberOfDigits(word);
  if (word.size() == 1) return kNumberOfSlot[SlotOf(word[0], 0)];
  if (word.size() > 2 || word[1] < 'a' || word[1] > 'z') return 0;
  return kNumberOfSlot[SlotOf(word[0], word[1])];
}

}  // namespace packtrain::ingest
