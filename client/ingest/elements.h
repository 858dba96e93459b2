// Chemical elements by symbol.
#ifndef PACKTRAIN_CLIENT_INGEST_ELEMENTS_H_
#define PACKTRAIN_CLIENT_INGEST_ELEMENTS_H_

#include <cstdint>
#include <string_view>

namespace packtrain::ingest {

// The atomic number (1 to 118) of a symbol, spelt as in "Cl", or of a number in decimal digits; 0 for any other
// word, isotopes, dummy atoms and other spellings ("CL") among them.
std::uint8_t AtomicNumber(std::string_view word);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_ELEMENTS_H_
