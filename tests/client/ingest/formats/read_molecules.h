// Reads files of molecules by their format, without an import.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_READ_MOLECULES_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_READ_MOLECULES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/ingest/format.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_data.h"

namespace packtrain::testing {

// A record, sound or refused.
struct MoleculeRecord {
  std::string refused;  // the reason; empty: it is sound
  std::string message;  // of the refusal
  std::uint64_t line = 0;
  std::string id;
  std::string title;
  std::string remark;
  std::vector<std::uint8_t> z;
  std::vector<float> pos;
  std::vector<std::int32_t> x;     // empty without --features ogb
  std::vector<std::string> edges;  // "SENDER-RECEIVER:TYPE", in their order
  std::vector<std::uint8_t> unsanitized;
  std::vector<std::pair<std::string, std::string>> labels;
};

// `format` is "smiles" or "sdf". A failure that is no refusal fails the test.
std::vector<MoleculeRecord> ReadMolecules(std::string_view format, const std::string& path,
                                          const ingest::FormatFlagValues& flags = {},
                                          const ingest::ReadLimits& limits = {});

// Reads files and texts of a format of molecules.
class MoleculeReaderTest : public ::testing::Test {
 protected:
  // `file_name` is that of texts.
  MoleculeReaderTest(std::string_view format, std::string file_name)
      : format_(format), file_name_(std::move(file_name)) {}

  std::vector<MoleculeRecord> Read(std::string_view text, const ingest::FormatFlagValues& flags = {},
                                   const ingest::ReadLimits& limits = {}) const {
    return ReadMolecules(format_, folder_.Write(file_name_, text), flags, limits);
  }
  // Of the only record of a text, why it is refused.
  std::string RefusalOf(std::string_view text, const ingest::FormatFlagValues& flags = {}) const {
    const std::vector<MoleculeRecord> records = Read(text, flags);
    return records.size() == 1 ? records.front().refused : "not one record";
  }
  // A file of tests/data/FORMAT.
  std::vector<MoleculeRecord> ReadSample(const std::string& name,
                                         const ingest::FormatFlagValues& flags = {}) const {
    return ReadMolecules(format_, TestData(format_ + "/" + name), flags);
  }

 private:
  const std::string format_;
  const std::string file_name_;
  const TempFolder folder_;
};

// What a file holds in all.
struct MoleculeCounts {
  std::uint64_t molecules = 0, nodes = 0, edges = 0, unsanitized = 0, refused = 0;

  friend bool operator==(const MoleculeCounts&, const MoleculeCounts&) = default;
};
MoleculeCounts CountMolecules(std::string_view format, const std::string& path,
                              const ingest::FormatFlagValues& flags = {});

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_READ_MOLECULES_H_
