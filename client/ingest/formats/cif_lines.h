// Finds the lines of a CIF block on which values stand, for the places of refusals.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_LINES_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_LINES_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace packtrain::ingest {

// A value of a block: that of a tag, or of a tag of a loop in one of its rows.
struct CifPlace {
  std::string_view tag;  // empty: no value in particular
  std::size_t row = 0;   // from 0; of a tag outside of loops 0
};

// The line of the text on which the value begins, from 1; nullopt: the text has no such value. Tags are the
// same in either case.
std::optional<std::size_t> LineOfCifValue(std::string_view text, const CifPlace& place);

// The line on which a row begins that has too few or too many values, of the loop that begins on `loop_line`;
// nullopt where more than one line could be it.
std::optional<std::size_t> LineOfUnevenRow(std::string_view text, std::size_t loop_line);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_CIF_LINES_H_
