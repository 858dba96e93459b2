// What `packtrain dataset export` writes is the same data set when it is imported again.
#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "tests/client/cli/run_line.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using testing::Printed;
using testing::ReadFile;
using testing::RunLine;
using testing::TestServer;

const std::string kData = PACKTRAIN_TEST_DATA;

// An import. `text`, where it is not empty, is the content of its file; else `file` lies among the test data.
struct Source {
  std::string name;
  std::string format;
  std::string file;
  std::string text;
  std::vector<std::string> flags = {};
};

void PrintTo(const Source& source, std::ostream* out) { *out << source.name; }

// Of the smallest, largest and least round numbers, and zeros of both signs. `gap` is missing in one graph,
// `mu` in all.
constexpr char kMolecules[] =
    "2\nid=a e=-0.0 gap=1e300\nC 0.1 -0.0 3.4028235e38\nH 1e-45 0.33333334 -1.1754944e-38\n"
    "1\nid=b e=18446744073709551616 gap=5e-324\nC 16777217 123456789 1e10\n"
    "2\nid=c e=9007199254740993\nC 1 2 3\nO -7 8.5 9\n"
    "1\nid=d e=-123456789012345678901 gap=0.1\nC 7.038531e-26 8.589973e9 1e-7\n";

constexpr char kOddIds[] =
    "{\"id\":\"a \\\"b\\\" \\\\ 'c'\",\"nodes\":{\"z\":[6]}}\n"
    "{\"id\":\"tab\\tnewline\\nreturn\\r\\u0001\\u001f\\u007f\",\"nodes\":{\"z\":[6]}}\n"
    "{\"id\":\"Gr\\u00fc\\u00dfe \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\xa7\xaa\",\"nodes\":{\"z\":[6]}}\n"
    "{\"id\":\" spaces at both ends \",\"nodes\":{\"z\":[6]}}\n"
    "{\"id\":\"17\",\"nodes\":{\"z\":[6]}}\n"
    "{\"id\":\"null\",\"nodes\":{\"z\":[6]}}\n"
    "{\"id\":\"a/b.c:d#2,e;f\",\"nodes\":{\"z\":[6]}}\n";

constexpr char kFieldsOfAllTypes[] =
    "{\"id\":\"a\",\"schema\":{\"fields\":[{\"name\":\"k\",\"scope\":\"node\",\"dtype\":\"i64\"},"
    "{\"name\":\"w\",\"scope\":\"node\",\"dtype\":\"f64\",\"dims\":[2,2],\"unit\":\"eV\"},"
    "{\"name\":\"h\",\"scope\":\"edge\",\"dtype\":\"u16\"},{\"name\":\"q\",\"scope\":\"graph\",\"dtype\":"
    "\"i32\"},"
    "{\"name\":\"s\",\"scope\":\"node\",\"dtype\":\"u8\"},{\"name\":\"t\",\"scope\":\"node\",\"dtype\":"
    "\"u32\",\"dims\":[2]},{\"name\":\"u\",\"scope\":\"node\",\"dtype\":\"u64\"},"
    "{\"name\":\"v\",\"scope\":\"node\",\"dtype\":\"f32\"},"
    "{\"name\":\"part\",\"scope\":\"node\",\"dtype\":\"u16\"}],\"targets\":[{\"name\":\"e\",\"unit\":\"eV\"},"
    "{\"name\":\"never\"}],\"edge_builder\":\"made up\",\"words\":[\"part\"]},"
    "\"nodes\":{\"k\":[9223372036854775807,-9223372036854775808],\"part\":[\"x\",\"\"],"
    "\"s\":[255,0],\"t\":[[4294967295,0],[1,2]],\"u\":[18446744073709551615,9223372036854775808],"
    "\"v\":[3.4028235e38,1e-45],"
    "\"w\":[[[0.1,-0.0],[1e300,5e-324]],[[1,2],[3,4]]]},\"edges\":{\"senders\":[1,0,0],\"receivers\":[0,0,0],"
    "\"h\":[65535,0,1]},\"graph\":{\"q\":-5},\"y\":[0.1,null]}\n"
    "{\"id\":\"b\",\"nodes\":{\"k\":[0],\"s\":[1],\"t\":[[3,4]],\"u\":[0],\"v\":[-0.0],\"w\":[[[0,0],[0,0]]],"
    "\"part\":[\"y "
    "\\\"z\\\"\"]},\"edges\":{\"senders\":[],"
    "\"receivers\":[],\"h\":[]},\"graph\":{\"q\":7},\"y\":[null,null]}\n";

constexpr char kTargetOfNone[] =
    "{\"id\":\"a\",\"nodes\":{\"z\":[6]},\"targets\":{\"mu\":null,\"e\":1.5}}\n"
    "{\"id\":\"b\",\"nodes\":{\"z\":[1]},\"targets\":{\"mu\":null,\"e\":null}}\n";

constexpr char kFieldsCalledLikeKeys[] =
    "{\"id\":\"a\",\"nodes\":{\"id\":[1,2],\"nodes\":[0.5,1],\"z\":[6,1]},\"edges\":{\"senders\":[0],"
    "\"receivers\":[1],\"edges\":[3],\"targets\":[4]},\"graph\":{\"split\":[1,2],\"schema\":8,\"graph\":9}}\n";

constexpr char kSplits[] =
    "{\"id\":\"a\",\"split\":\"test\",\"nodes\":{\"z\":[6]}}\n"
    "{\"id\":\"b\",\"split\":\"train\",\"nodes\":{\"z\":[1]}}\n"
    "{\"id\":\"c\",\"nodes\":{\"z\":[8]}}\n"
    "{\"id\":\"d\",\"split\":\"val\",\"nodes\":{\"z\":[7]}}\n"
    "{\"id\":\"e\",\"split\":\"train\",\"nodes\":{\"z\":[7]}}\n";

const Source kSources[] = {
    {"NumbersOfAllSizes", "extxyz", "m.xyz", kMolecules, {"--edges", "full", "--missing-target", "nan"}},
    {"TargetThatNoGraphHas", "jsonl", "m.jsonl", kTargetOfNone, {"--missing-target", "nan"}},
    {"UnitsOfTargets", "qm9-xyz", "qm9/raw_xyz", "", {"--edges", "knn:3"}},
    {"Crystals", "extxyz", "crystals/mp_sample.extxyz", "", {"--edges", "knn:12"}},
    {"BondsOfMolfiles", "sdf", "sdf/gdb_sample.sdf", "", {"--on-error", "skip"}},
    {"OgbFeatures", "smiles", "smiles/pcqm4mv2_sample.csv", "", {"--features", "ogb", "--on-error", "skip"}},
    {"SparseLabels",
     "smiles",
     "smiles/muv_sample.csv",
     "",
     {"--id", "mol_id", "--missing-target", "nan", "--split-permille", "500,250,250"}},
    {"TypedBondGraphs", "jsonl", "jsonl/qm9_graphs.jsonl.gz", "", {"--split-permille", "800,100,100"}},
    {"ProgramsOfTokens", "jsonl", "jsonl/great.jsonl.gz", "", {"--split-permille", "600,200,200"}},
    {"ProgramsOfTrees", "jsonl", "jsonl/exprsynth.jsonl.gz", ""},
    {"RenumberedBondGraphs",
     "jsonl",
     "jsonl/qm9_graphs.jsonl.gz",
     "",
     {"--renumber", "rcm", "--split-permille", "800,100,100"}},
    {"RenumberedPrograms", "jsonl", "jsonl/great.jsonl.gz", "", {"--renumber", "rcm"}},
    {"RenumberedCrystals",
     "extxyz",
     "crystals/mp_sample.extxyz",
     "",
     {"--edges", "knn:12", "--renumber", "rcm"}},
    {"OddIds", "jsonl", "m.jsonl", kOddIds},
    {"FieldsOfAllTypes", "jsonl", "m.jsonl", kFieldsOfAllTypes, {"--missing-target", "nan"}},
    {"FieldsCalledLikeKeys", "jsonl", "m.jsonl", kFieldsCalledLikeKeys},
    {"SplitsOfTheSource", "jsonl", "m.jsonl", kSplits},
    {"BenchmarkFolder", "tudataset", "tudataset/MUTAG", ""},
};

class RoundTripTest : public ::testing::TestWithParam<Source> {
 protected:
  Printed Run(std::vector<std::string> line) {
    line.insert(line.end(), {"--server", server_->address(), "--json"});
    return RunLine(std::move(line));
  }

  // Returns the version.
  std::string Import(const std::string& format, const std::string& path, std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"import", format, path});
    const Printed printed = Run(std::move(flags));
    EXPECT_TRUE(printed.exit_code == 0 || printed.exit_code == 4) << printed.out << printed.err;
    return printed.exit_code == 0 || printed.exit_code == 4 ? printed.Json()["version"] : "none";
  }

  std::string ImportSource() {
    const Source& source = GetParam();
    const std::string path =
        source.text.empty() ? kData + "/" + source.file : folder_.Write(source.file, source.text);
    std::vector<std::string> flags = source.flags;
    flags.insert(flags.end(), {"--name", "first"});
    return Import(source.format, path, std::move(flags));
  }

  std::string Export(const std::string& format) {
    std::string file = folder_.PathOf("exported." + format);
    const Printed printed = Run({"dataset", "export", "first", "--format", format, "-o", file});
    EXPECT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    return file;
  }

  testing::TempFolder folder_;
  const std::unique_ptr<TestServer> server_ = TestServer::Start().value();
};

TEST_P(RoundTripTest, NativeFileIsTheSameVersion) {
  const std::string version = ImportSource();
  const std::string file = Export("native");
  ASSERT_EQ(Run({"dataset", "delete", "first", "--yes"}).exit_code, 0);
  EXPECT_EQ(Import("native", file, {}), version);
}

// The version is a hash of the schema, of all graphs in their order, and of the splits.
TEST_P(RoundTripTest, LinesOfJsonAreTheSameGraphsFieldsAndSplits) {
  const std::string version = ImportSource();
  const std::string file = Export("jsonl");
  const std::vector<std::string>& flags = GetParam().flags;
  std::vector<std::string> again = {"--name", "again"};
  if (std::ranges::find(flags, "nan") != flags.end()) again.insert(again.end(), {"--missing-target", "nan"});
  EXPECT_EQ(Import("jsonl", file, again), version) << ReadFile(file).substr(0, 2000);
}

INSTANTIATE_TEST_SUITE_P(Sources, RoundTripTest, ::testing::ValuesIn(kSources),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace packtrain::cli
