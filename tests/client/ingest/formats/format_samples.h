// A small file of each format, for tests that hold for all of them.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_FORMAT_SAMPLES_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_FORMAT_SAMPLES_H_

#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "client/ingest/format.h"

namespace packtrain::ingest {

// Found by GoogleTest, which tells of a row by its name.
inline void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

}  // namespace packtrain::ingest

namespace packtrain::testing {

struct FormatSample {
  // Files by name, where the format's data set is a folder, of three sound records. Nothing else is set then.
  std::map<std::string, std::string> folder = {};

  std::string file_name = {};         // with the format's ending
  std::string three = {};             // content of a file with three sound records that name themselves
  std::vector<std::string> ids = {};  // of these
  std::string one = {};               // the first of them alone
  std::string id_of_one = {};         // where it is not ids[0], as a molecule alone is called as its file
  // As `three` with an unsound second record, and what that is refused as; empty: a file is taken whole or not
  // at all.
  std::string second_is_bad = {};
  std::string reason = {};
  // As `three`, with a line between the first two records that belongs to neither.
  std::string stray_line = {};
  bool is_text = true;  // may be packed, and end its lines in any way
  // As `three`, but with bytes that are not UTF-8: where they mean nothing, as in a comment; and in the id of
  // the second record, which is refused as "not_utf8". Empty: the format has no such place, for the reason
  // given.
  std::string latin1_comment = {};
  std::string latin1_id = {};
  std::string why_no_latin1_comment = {};
  std::string why_no_latin1_id = {};
  // Why a record that runs into the next one may be a sound one; empty: it is refused.
  std::string why_records_may_merge = {};
};

// Fails the test that asks for a format without a sample.
FormatSample SampleOf(std::string_view format);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_FORMAT_SAMPLES_H_
