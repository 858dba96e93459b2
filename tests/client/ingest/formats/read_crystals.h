// Reads files of crystals by their format, without an import.
#ifndef PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_READ_CRYSTALS_H_
#define PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_READ_CRYSTALS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/ingest/format.h"
#include "client/ingest/formats/format_table.h"
#include "client/ingest/graph_reader.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"

namespace packtrain::testing {

// Reads a file of a format of crystals, such as "cif", structure by structure.
class CrystalReaderTest : public ::testing::Test {
 protected:
  // `file_name` is that of files that a test writes.
  CrystalReaderTest(std::string_view format, std::string file_name, std::uint64_t max_atoms)
      : format_(*ingest::FindFormat(format)), file_name_(std::move(file_name)) {
    options_.limits.max_atoms = max_atoms;
  }

  // The first structure of a text or a file.
  absl::Status Read(const std::string& text) { return ReadFile(folder_.Write(file_name_, text)); }
  absl::Status ReadFile(const std::string& path) {
    Open(path);
    return ReadNext();
  }

  void Open(const std::string& path) {
    auto file = ingest::ByteSource::Open(path, options_.limits.max_unpacked_bytes).value();
    reader_ = format_.open_graphs(std::move(file), options_).value();
  }
  absl::Status ReadNext() {
    graph_ = ingest::SourceGraph(reader_->layout());
    return NextNamed(*reader_, &graph_).status();
  }
  bool IsAtEnd() { return !reader_->Next(&graph_).value(); }

  // Of the structure that was read last.
  std::vector<std::uint8_t> Z() { return graph_.Values<std::uint8_t>(kZ); }
  std::vector<float> Pos() { return graph_.Values<float>(kPos); }
  std::vector<float> Cell() { return graph_.Values<float>(kCell); }
  std::vector<std::uint8_t> Pbc() { return graph_.Values<std::uint8_t>(kPbc); }

  TempFolder folder_;
  ingest::SourceGraph graph_ = ingest::SourceGraph(ingest::GraphLayout());

 private:
  enum FieldPosition : std::size_t { kZ, kPos, kCell, kPbc };  // as of CrystalLayout

  const ingest::Format& format_;
  const std::string file_name_;
  ingest::ReadOptions options_;
  std::unique_ptr<ingest::GraphReader> reader_;
};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_INGEST_FORMATS_READ_CRYSTALS_H_
