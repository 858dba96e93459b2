// The limits on what is read, by format.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "client/ingest/formats/format_table.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/input_folder.h"
#include "tests/client/ingest/formats/format_samples.h"
#include "tests/client/ingest/formats/read_file.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {

namespace {

using testing::FormatSample;
using testing::IsOk;
using testing::ReadResult;
using testing::Refused;

// A flag that bounds what is read. `fits` is enough for the sample of the format, and one less is refused as
// `reason`. 0: as many bytes as the longest line, or the largest file, of the sample has.
struct FormatLimit {
  std::string_view format;
  std::string_view flag;
  std::uint64_t fits;
  std::string_view reason;
};

void PrintTo(const FormatLimit& row, std::ostream* out) { *out << row.format << ' ' << row.flag; }

constexpr std::string_view kUnpackedFlag = "--max-unpacked-bytes", kLineFlag = "--max-line-bytes",
                           kAtomsFlag = "--max-atoms", kEdgesFlag = "--max-edges", kDepthFlag = "--max-depth";

// Those that apply to formats of text; `native` holds records that were checked when they were made.
constexpr FormatLimit kFormatLimits[] = {{"cif", kUnpackedFlag, 0, "unpacked_limit"},
                                         {"cif", kLineFlag, 0, "line_too_long"},
                                         {"cif", kAtomsFlag, 3, "too_many_atoms"},
                                         {"extxyz", kUnpackedFlag, 0, "unpacked_limit"},
                                         {"extxyz", kLineFlag, 0, "line_too_long"},
                                         {"extxyz", kAtomsFlag, 3, "too_many_atoms"},
                                         {"jsonl", kUnpackedFlag, 0, "unpacked_limit"},
                                         {"jsonl", kLineFlag, 0, "line_too_long"},
                                         {"jsonl", kAtomsFlag, 3, "too_many_atoms"},
                                         {"jsonl", kEdgesFlag, 2, "too_many_edges"},
                                         {"jsonl", kDepthFlag, 4, "too_deep"},
                                         {"ogb-csv", kUnpackedFlag, 0, "unpacked_limit"},
                                         {"ogb-csv", kLineFlag, 0, "line_too_long"},
                                         {"ogb-csv", kAtomsFlag, 3, "too_many_atoms"},
                                         {"ogb-csv", kEdgesFlag, 2, "too_many_edges"},
                                         {"poscar", kUnpackedFlag, 0, "unpacked_limit"},
                                         {"poscar", kLineFlag, 0, "line_too_long"},
                                         {"poscar", kAtomsFlag, 3, "too_many_atoms"},
                                         {"qm9-xyz", kUnpackedFlag, 0, "unpacked_limit"},
                                         {"qm9-xyz", kLineFlag, 0, "line_too_long"},
                                         {"qm9-xyz", kAtomsFlag, 2, "too_many_atoms"},
                                         {"sdf", kUnpackedFlag, 0, "unpacked_limit"},
                                         {"sdf", kLineFlag, 0, "line_too_long"},
                                         {"sdf", kAtomsFlag, 3, "too_many_atoms"},
                                         {"sdf", kEdgesFlag, 4, "too_many_edges"},
                                         {"smiles", kUnpackedFlag, 0, "unpacked_limit"},
                                         {"smiles", kLineFlag, 0, "line_too_long"},
                                         {"smiles", kAtomsFlag, 5, "too_many_atoms"},
                                         {"smiles", kEdgesFlag, 10, "too_many_edges"},
                                         {"tudataset", kUnpackedFlag, 0, "unpacked_limit"},
                                         {"tudataset", kLineFlag, 0, "line_too_long"},
                                         {"tudataset", kAtomsFlag, 3, "too_many_atoms"},
                                         {"tudataset", kEdgesFlag, 2, "too_many_edges"}};

// The sample of a format as it lies on disk.
class WrittenSample {
 public:
  explicit WrittenSample(std::string_view format) : sample_(testing::SampleOf(format)) {
    std::filesystem::create_directory(folder_.PathOf("set"));
    if (sample_.folder.empty()) sample_.folder[sample_.file_name] = sample_.three;
    for (const auto& [name, content] : sample_.folder) folder_.Write("set/" + name, content);
  }

  std::string path() const { return folder_.PathOf("set/" + sample_.file_name); }

  std::uint64_t LargestFile() const {
    std::size_t largest = 0;
    for (const auto& [name, content] : sample_.folder) largest = std::max(largest, content.size());
    return largest;
  }
  std::uint64_t LongestLine() const {
    std::size_t longest = 0;
    for (const auto& [name, content] : sample_.folder) {
      std::istringstream lines(content);
      for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    }
    return longest;
  }

 private:
  testing::TempFolder folder_;
  FormatSample sample_;
};

ReadLimits LimitsOf(std::string_view flag, std::uint64_t value) {
  ReadLimits limits;
  if (flag == kUnpackedFlag) limits.max_unpacked_bytes = value;
  if (flag == kLineFlag) limits.max_line_bytes = value;
  if (flag == kAtomsFlag) limits.max_atoms = value;
  if (flag == kEdgesFlag) limits.max_edges = value;
  if (flag == kDepthFlag) limits.max_depth = value;
  return limits;
}

class FormatLimitTest : public ::testing::TestWithParam<FormatLimit> {
 protected:
  std::uint64_t Fits() const {
    if (GetParam().flag == kUnpackedFlag) return written_.LargestFile();
    return GetParam().flag == kLineFlag ? written_.LongestLine() : GetParam().fits;
  }
  ReadResult Read(std::uint64_t limit, bool skip_refused) const {
    ImportOptions options;
    options.paths = {written_.path()};
    options.skip_refused = skip_refused;
    options.read.limits = LimitsOf(GetParam().flag, limit);
    return testing::ReadBy(*FindFormat(GetParam().format), std::move(options));
  }

  const WrittenSample written_{GetParam().format};
};

TEST_P(FormatLimitTest, WhatExceedsALimitIsRefusedByItsName) {
  const ReadResult fits = Read(Fits(), /*skip_refused=*/false);
  EXPECT_THAT(fits.status, IsOk());
  EXPECT_EQ(fits.graphs.size(), 3u);
  const std::string flag(GetParam().flag), reason(GetParam().reason);
  EXPECT_THAT(Read(Fits() - 1, /*skip_refused=*/false).status, Refused(reason, flag));
  const ReadResult skipped = Read(Fits() - 1, /*skip_refused=*/true);
  EXPECT_LT(skipped.graphs.size(), 3u);
  EXPECT_TRUE(skipped.ledger.refused_by_reason().contains(reason));
}

std::string NameOfLimit(const ::testing::TestParamInfo<FormatLimit>& row) {
  std::string name = std::string(row.param.format) + std::string(row.param.flag);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Formats, FormatLimitTest, ::testing::ValuesIn(kFormatLimits), NameOfLimit);

class AppliedLimitsTest : public ::testing::TestWithParam<Format> {
 protected:
  // Whether records of the format may hold edges.
  static bool BringsEdges(const Format& format, const std::string& path) {
    const ReadOptions options;
    if (format.open_graphs != nullptr) {
      std::unique_ptr<ByteSource> file = ByteSource::Open(path, options.limits.max_unpacked_bytes).value();
      return !format.open_graphs(std::move(file), options).value()->layout().edges.empty();
    }
    const std::unique_ptr<InputFolder> folder =
        InputFolder::Open(path, format.extensions, options.limits).value();
    return !format.open_folder(*folder, options).value()->layout().edges.empty();
  }
};

TEST_P(AppliedLimitsTest, LimitsThatApplyAreTested) {
  const Format& row = GetParam();
  if (row.open_blocks != nullptr) GTEST_SKIP() << "its records were checked when they were made";
  const WrittenSample written(row.name);
  std::set<std::string_view> expected = {kUnpackedFlag, kLineFlag, kAtomsFlag}, tested;
  if (BringsEdges(row, written.path())) expected.insert(kEdgesFlag);
  if (row.name == "jsonl") expected.insert(kDepthFlag);
  for (const FormatLimit& limit : kFormatLimits) {
    if (limit.format == row.name) tested.insert(limit.flag);
  }
  EXPECT_EQ(tested, expected);
}

std::string NameOfFormat(const ::testing::TestParamInfo<Format>& row) {
  std::string name(row.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Formats, AppliedLimitsTest, ::testing::ValuesIn(Formats().begin(), Formats().end()),
                         NameOfFormat);

}  // namespace
}  // namespace packtrain::ingest
