#include <fcntl.h>
#include <gmock/gmock.h>

#include <unistd.h>
#include <cstdlib>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "client/connection.h"
#include "client/dataset_info.h"
#include "tests/client/cli/run_line.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Printed;
using testing::ReadFile;
using testing::RunLine;
using testing::StatusIs;
using testing::TestServer;

const std::string kData = PACKTRAIN_TEST_DATA;
constexpr char kThree[] = "1\nid=a\nC 1 2 3\n1\nid=b\nH 1 2 3\n1\nid=c\nO 1 2 3\n";

std::string SameMolecule(int times) {
  std::string text;
  for (int frame = 0; frame < times; ++frame) text += "1\nid=a\nC 1 2 3\n";
  return text;
}

std::ptrdiff_t LinesOf(const std::string& path) {
  const std::string text = ReadFile(path);
  return std::count(text.begin(), text.end(), '\n');
}

class ImportCommandTest : public ::testing::Test {
 protected:
  // Imports a file of this text as "mols".
  Printed Import(std::string_view text, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"import", "extxyz", folder_.Write("m.xyz", text), "--name", "mols", "--server",
                                 server_->address(), "--json"});
    return RunLine(std::move(flags));
  }
  // The same, without --json.
  Printed ImportForPeople(std::string_view text, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"import", "extxyz", folder_.Write("m.xyz", text), "--name", "mols", "--server",
                                 server_->address()});
    return RunLine(std::move(flags));
  }
  absl::StatusOr<client::DatasetInfo> Stored(const std::string& name = "mols") {
    client::ConnectionOptions options;
    options.server = server_->address();
    return client::GetDatasetInfo(**client::Connection::Open(options), name);
  }
  std::uint64_t GraphsOfSplit(const std::string& split) { return Stored().value().FindSplit(split)->graphs; }
  void ExpectNothingStored() { EXPECT_THAT(Stored(), StatusIs(absl::StatusCode::kNotFound)); }

  testing::TempFolder folder_;
  std::unique_ptr<TestServer> server_ = TestServer::Start().value();
};

TEST_F(ImportCommandTest, SampleOfQm9IsStoredWithTargetsAndSplits) {
  const Printed printed = RunLine({"import", "extxyz", kData + "/qm9/qm9_sample.xyz.gz", "--name", "qm9",
                                   "--edges", "full", "--join", kData + "/qm9/qm9_sample_targets.csv.gz",
                                   "--key", "name", "--targets", "binding energy, dipole x", "--split-permille",
                                   "800,100,100", "--server", server_->address(), "--json"});
  ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
  const nlohmann::json result = printed.Json();
  EXPECT_EQ(result["dataset"], "qm9");
  EXPECT_EQ(result["read"], 2778);
  EXPECT_EQ(result["stored"], 2778);
  EXPECT_EQ(result["refused"], 0);
  EXPECT_EQ(result["refused_by_reason"], nlohmann::json::object());
  EXPECT_GT(result["graphs_per_second"], 0);
  const client::DatasetInfo info = Stored("qm9").value();
  EXPECT_EQ(info.reference, "qm9@" + result["version"].get<std::string>());
  EXPECT_EQ(info.graphs, 2778u);
  EXPECT_EQ(info.FindSplit("train")->graphs, 2222u);
  ASSERT_EQ(info.FindSplit("all")->targets.size(), 2u);
  EXPECT_EQ(info.FindSplit("all")->targets[0].target, "binding energy");
  EXPECT_EQ(info.FindSplit("all")->targets[1].target, "dipole x");
}

TEST_F(ImportCommandTest, DashIsStandardInput) {
  const int file = ::open(folder_.Write("m.xyz", kThree).c_str(), O_RDONLY | O_CLOEXEC);
  const int kept = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  ASSERT_EQ(::dup2(file, STDIN_FILENO), STDIN_FILENO);
  const Printed printed =
      RunLine({"import", "extxyz", "-", "--name", "mols", "--json", "--server", server_->address()});
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
  ::close(file);
  ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
  EXPECT_EQ(printed.Json()["stored"], 3);
}

TEST_F(ImportCommandTest, SaysWhatBecameOfEachLabel) {
  constexpr char kLabels[] = "1\nid=a gap=1 energy=2 name=x\nC 1 2 3\n1\nid=b name=y gap=2\nC 1 2 3\n";
  const nlohmann::json result = Import(kLabels).Json();
  nlohmann::json labels = nlohmann::json::parse(R"([{"name":"gap","found":2,"used":true,"reason":null},
                                      {"name":"energy","found":1,"used":false,"reason":"missing_in_some"},
                                      {"name":"name","found":2,"used":false,"reason":"text","no_numbers":2}])");
  labels[2]["first_no_number"] = folder_.PathOf("m.xyz") + ":2: frame 1 (a): 'x'";
  EXPECT_EQ(result["labels"], labels);
  EXPECT_EQ(result["default_target"], "gap");
  const Printed printed = RunLine({"import", "extxyz", folder_.PathOf("m.xyz"), "--name", "mols", "--server",
                                   server_->address(), "--missing-target", "nan"});
  EXPECT_THAT(printed.out, HasSubstr("\ntarget gap (in 2 of 2)\ntarget energy (in 1 of 2)\n"
                                     "no target name (in 2 of 2; text)\n"
                                     "training learns gap unless --target names another\n"));
}

TEST_F(ImportCommandTest, SaysWhereTextStandsAmongNumbersAndWhatArraysAre) {
  const Printed printed =
      ImportForPeople("1\nid=a e=1 d=\"1 2 3\"\nC 1 2 3\n1\nid=b e=oops d=\"1 2 3\"\nC 1 2 3\n");
  EXPECT_THAT(printed.out,
              HasSubstr("\nno target e (in 2 of 2; text in 1, first in " + folder_.PathOf("m.xyz") +
                        ":5: frame 2 (b): 'oops')\nno target d (in 2 of 2; an array)\n"
                        "no targets: no label is one\n"));
  EXPECT_THAT(ImportForPeople("1\nid=a\nC 1 2 3\n").out, HasSubstr("\nno targets: nothing read is a label"));
}

TEST_F(ImportCommandTest, TagsOfCifAreOffered) {
  const Printed printed =
      RunLine({"import", "cif", kData + "/cif/mp-66.cif", "--name", "c", "--server", server_->address()});
  EXPECT_THAT(printed.out,
              HasSubstr("\nno target _symmetry_Int_Tables_number, _cell_volume, _cell_formula_units_Z "
                        "(in 1 of 1; describes the record; --targets makes it one)\n"))
      << printed.err;
  const Printed named = RunLine({"import", "cif", kData + "/cif/mp-66.cif", "--name", "c", "--targets",
                                 "_cell_volume", "--server", server_->address()});
  EXPECT_THAT(named.out, HasSubstr("\ntarget _cell_volume (in 1 of 1)\n")) << named.err;
}

TEST_F(ImportCommandTest, JoinSaysWhichGraphsAndRowsAreAlone) {
  const std::string csv = folder_.Write("t.csv", "id,e\na,1\nx,2\ny,3\n");
  const Printed printed = ImportForPeople(kThree, {"--join", csv, "--missing-target", "nan"});
  EXPECT_THAT(printed.out, HasSubstr("\n2 of 3 graphs have no row in " + csv + ": b, c\n2 of 3 rows of " + csv +
                                     " have no graph: x, y\ntarget e (in 1 of 3)\n"))
      << printed.err;
  const nlohmann::json result = Import(kThree, {"--join", csv, "--missing-target", "nan"}).Json();
  EXPECT_EQ(result["labels"][0]["found"], 1);
  EXPECT_EQ(result["join"], (nlohmann::json{{"file", csv},
                                            {"graphs", 3},
                                            {"graphs_without_row", 2},
                                            {"first_graphs_without_row", {"b", "c"}},
                                            {"rows", 3},
                                            {"rows_without_graph", 2},
                                            {"first_rows_without_graph", {"x", "y"}}}));
  EXPECT_EQ(Stored().value().FindSplit("all")->targets[0].count, 1u);
}

TEST_F(ImportCommandTest, AJoinOrTargetOfNoGraphStoresNothing) {
  const std::string csv = folder_.Write("t.csv", "id,e\nx,1\n");
  const Printed joined = Import(kThree, {"--join", csv, "--missing-target", "nan"});
  EXPECT_EQ(joined.exit_code, 1);
  EXPECT_THAT(joined.Json()["error"]["message"].get<std::string>(), HasSubstr("is of any of the 3 graphs"));
  const Printed typo = Import(kThree, {"--targets", "egnery", "--missing-target", "nan"});
  EXPECT_EQ(typo.exit_code, 1);
  EXPECT_THAT(typo.Json()["error"]["message"].get<std::string>(), HasSubstr("no graph has target 'egnery'"));
  ExpectNothingStored();
}

// Refused by the server: the second one of an id.
TEST_F(ImportCommandTest, LabelsAreCountedInTheGraphsThatAreStored) {
  const std::string text = "1\nid=a e=1 f=1\nC 1 2 3\n1\nid=a e=2 g=1\nC 1 2 3\n1\nid=b e=3\nC 1 2 3\n";
  const Printed printed = ImportForPeople(text, {"--on-error", "skip", "--missing-target", "nan"});
  EXPECT_THAT(
      printed.out,
      HasSubstr("\ntarget e (in 2 of 2)\ntarget f (in 1 of 2)\ntarget g (in 0 of 2; no graph has it)\n"));
}

// The server has nothing left of what was sent before everything was read again.
TEST_F(ImportCommandTest, WhatWasSentBeforeTheTargetsWereKnownLeavesNothingBehind) {
  std::string text;
  for (int frame = 0; frame < 1500; ++frame) {
    text += "1\nid=" + std::to_string(frame) + " a=1 b=2\nC 1 2 3\n";
  }
  const Printed printed = Import(text + "1\nid=last b=2\nC 1 2 3\n");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(
      printed.err,
      HasSubstr("reads everything again, because 'a' is no number, or not clearly a pair, in some graph"));
  EXPECT_EQ(printed.Json()["read"], 1501);
  EXPECT_EQ(Stored().value().graphs, 1501u);
  ASSERT_EQ(Stored().value().FindSplit("all")->targets.size(), 1u);
  EXPECT_EQ(Stored().value().FindSplit("all")->targets[0].target, "b");
}

TEST_F(ImportCommandTest, ASplitThatWasAskedForAndIsEmptyIsSaidToBe) {
  const Printed printed = Import(kThree, {"--split-permille", "900,50,50"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  ASSERT_EQ(GraphsOfSplit("val"), 0u);
  EXPECT_THAT(printed.err, HasSubstr("split val of mols@"));
  EXPECT_THAT(printed.err, HasSubstr("is empty"));
  EXPECT_THAT(printed.err, Not(HasSubstr("split test of")));
}

// What a program of its own counts, in whole numbers of the four decimals of the file. The versions are hashes
// of every byte that is stored: the same whatever compiled the server.
TEST_F(ImportCommandTest, EdgesOfTheSampleAreThoseOfTheReference) {
  for (const auto& [edges, count, version] : {std::tuple{"radius:5", 787'778, "e8233aa140d39a04"},
                                              {"radius:3", 415'124, "c02106fde175e70e"},
                                              {"knn:24", 886'450, "2b9715974e27ce36"},
                                              {"knn:12", 602'918, "8a5ce908e8a14b6a"}}) {
    const Printed printed = RunLine({"import", "extxyz", kData + "/qm9/qm9_sample.xyz.gz", "--name", "qm9",
                                     "--edges", edges, "--server", server_->address(), "--json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    EXPECT_EQ(printed.Json()["version"], version) << edges;
    const nlohmann::json shown =
        RunLine({"dataset", "show", "qm9", "--server", server_->address(), "--json"}).Json();
    EXPECT_EQ(shown["edges"]["total"], count) << edges;
    EXPECT_EQ(shown["lineage"]["edges"], edges);
  }
}

// The version hashes the numbering of each molecule.
TEST_F(ImportCommandTest, NumberingOfTheSampleIsTheSameEverywhere) {
  for (const auto& [edges, version] :
       {std::pair{"radius:2", "8a44e08705c45227"}, {"knn:12", "219d806de82957be"}}) {
    const Printed printed =
        RunLine({"import", "extxyz", kData + "/qm9/qm9_sample.xyz.gz", "--name", "qm9", "--edges", edges,
                 "--renumber", "rcm", "--server", server_->address(), "--json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    EXPECT_EQ(printed.Json()["version"], version) << edges;
  }
}

// Counts of ASE's neighbour lists.
TEST_F(ImportCommandTest, EdgesOfCrystalsCountPeriodicImages) {
  for (const auto& [edges, count] : {std::pair{"knn:12", 480}, {"radius:5", 1192}}) {
    const Printed printed =
        RunLine({"import", "extxyz", kData + "/crystals", "--name", "crystals", "--edges", edges,
                 "--missing-target", "nan", "--server", server_->address(), "--json"});
    ASSERT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    const nlohmann::json shown =
        RunLine({"dataset", "show", "crystals", "--server", server_->address(), "--json"}).Json();
    EXPECT_EQ(shown["edges"]["total"], count) << edges;
  }
}

// 4,704 cells with 90,104 atoms, of $PACKTRAIN_DATA.
TEST_F(ImportCommandTest, CellsOfTheMaterialsProjectHaveTwelveNeighboursAnAtomFromBothForms) {
  const char* const data = std::getenv("PACKTRAIN_DATA");
  if (data == nullptr) GTEST_SKIP() << "$PACKTRAIN_DATA names no folder with crystals/";
  const std::string crystals = std::string(data) + "/crystals";
  for (const auto& [format, file] : {std::pair<std::string, std::string>{"extxyz", "/extxyz/mp_3dsc.extxyz.gz"},
                                     {"cif", "/mp_3dsc/mp_cifs.tar.gz"}}) {
    const Printed printed = RunLine({"import", format, crystals + file, "--name", "mp", "--edges", "knn:12",
                                     "--missing-target", "nan", "--server", server_->address(), "--json"});
    ASSERT_EQ(printed.exit_code, 0) << format << printed.out << printed.err;
    const nlohmann::json shown =
        RunLine({"dataset", "show", "mp", "--server", server_->address(), "--json"}).Json();
    EXPECT_EQ(shown["splits"]["all"]["graphs"], 4704) << format;
    EXPECT_EQ(shown["nodes"]["total"], 90'104) << format;
    EXPECT_EQ(shown["edges"]["total"], 1'081'248) << format;
  }
}

TEST_F(ImportCommandTest, CrystalsAreStoredWithCells) {
  const Printed printed = RunLine({"import", "extxyz", kData + "/crystals", "--name", "crystals",
                                   "--missing-target", "nan", "--server", server_->address()});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("stored 6 of 6 graphs"));
}

TEST_F(ImportCommandTest, SameContentIsTheSameVersion) {
  const nlohmann::json first = Import(kThree).Json();
  const nlohmann::json second = Import(kThree).Json();
  EXPECT_EQ(first["version"], second["version"]);
  EXPECT_EQ(first["unchanged"], false);
  EXPECT_EQ(second["unchanged"], true);
}

TEST_F(ImportCommandTest, BadGraphStopsTheImportAndNothingIsStored) {
  const Printed printed = Import(std::string(kThree) + "1\nid=d\nC nan 2 3\n");
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.Json()["error"]["code"], "INVALID_ARGUMENT");
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(),
              HasSubstr("m.xyz:12: frame 4 (d): coordinate 'nan'"));
  ExpectNothingStored();
}

TEST_F(ImportCommandTest, SkippedGraphsAreCountedListedAndEndInFour) {
  const std::string ledger = folder_.PathOf("refused.jsonl");
  const Printed printed = Import(std::string(kThree) + "1\nid=d\nC nan 2 3\n1\nid=a\nC 1 2 3\n",
                                 {"--on-error", "skip", "--ledger", ledger});
  ASSERT_EQ(printed.exit_code, 4) << printed.out;
  const nlohmann::json result = printed.Json();
  EXPECT_EQ(result["read"], 5);
  EXPECT_EQ(result["stored"], 3);
  EXPECT_EQ(result["refused"], 2);
  EXPECT_EQ(result["refused_by_reason"], (nlohmann::json{{"duplicate_id", 1}, {"not_finite", 1}}));
  EXPECT_THAT(printed.err, HasSubstr("refused: "));
  std::istringstream lines(ReadFile(ledger));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(nlohmann::json::parse(line)["reason"], "not_finite");
  ASSERT_TRUE(std::getline(lines, line));
  const nlohmann::json duplicate = nlohmann::json::parse(line);
  EXPECT_EQ(duplicate["reason"], "duplicate_id");
  EXPECT_EQ(duplicate["file"], folder_.PathOf("m.xyz"));
  EXPECT_EQ(duplicate["frame"], 5);
  EXPECT_EQ(duplicate["line"], 13);
  EXPECT_EQ(duplicate["id"], "a");
}

TEST_F(ImportCommandTest, FileThatIsNotReadOnIsTold) {
  const std::string text = std::string(kThree) + "rubbish\n";
  const Printed printed = Import(text, {"--on-error", "skip"});
  ASSERT_EQ(printed.exit_code, 4) << printed.out;
  EXPECT_EQ(printed.Json()["rest_unread"],
            (nlohmann::json::array({{{"file", folder_.PathOf("m.xyz")}, {"line", 10}}})));
  EXPECT_THAT(printed.err, HasSubstr("found 'rubbish'; nothing is read from there on"));
}

TEST_F(ImportCommandTest, RefusalOfTheServerCountsAsTheFileDoes) {
  const Printed printed = Import(std::string(kThree) + "1\nid=a\nC 1 2 3\n");
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(
      printed.Json()["error"]["message"].get<std::string>(),
      ::testing::StartsWith(folder_.PathOf("m.xyz") + ":10: frame 4 (a): the source id 'a' came before"));
}

TEST_F(ImportCommandTest, FiftyThousandDuplicatesAreAllListed) {
  const std::string ledger = folder_.PathOf("refused.jsonl");
  const Printed printed = Import(SameMolecule(50'001), {"--on-error", "skip", "--ledger", ledger});
  ASSERT_EQ(printed.exit_code, 4) << printed.out;
  EXPECT_EQ(printed.Json()["read"], 50'001);
  EXPECT_EQ(printed.Json()["stored"], 1);
  EXPECT_EQ(printed.Json()["refused"], 50'000);
  EXPECT_EQ(printed.Json()["refused_by_reason"], (nlohmann::json{{"duplicate_id", 50'000}}));
  EXPECT_EQ(printed.Json()["refused_truncated"], false);
  EXPECT_THAT(printed.err, HasSubstr("lists all"));
  EXPECT_EQ(LinesOf(ledger), 50'000);
}

TEST_F(ImportCommandTest, DuplicatesThatTheAnswerCannotHoldAreCounted) {
  node::ServerOptions options;
  options.max_message_bytes = 64 << 10;
  server_ = TestServer::Start(options).value();
  const std::string ledger = folder_.PathOf("refused.jsonl");
  const Printed printed = Import(SameMolecule(501), {"--on-error", "skip", "--ledger", ledger});
  ASSERT_EQ(printed.exit_code, 4) << printed.out;
  EXPECT_EQ(printed.Json()["refused"], 500);
  EXPECT_EQ(printed.Json()["refused_by_reason"], (nlohmann::json{{"duplicate_id", 500}}));
  EXPECT_EQ(printed.Json()["refused_truncated"], true);
  EXPECT_LT(LinesOf(ledger), 500);
  EXPECT_THAT(printed.err, HasSubstr("lists the first " + std::to_string(LinesOf(ledger)) + " of 500"));
}

TEST_F(ImportCommandTest, LedgerIsWrittenWhereTheImportStopsToo) {
  const std::string ledger = folder_.PathOf("refused.jsonl");
  EXPECT_EQ(Import("1\nid=d\nC nan 2 3\n", {"--ledger", ledger}).exit_code, 1);
  EXPECT_THAT(ReadFile(ledger), HasSubstr("\"reason\":\"not_finite\""));
}

TEST_F(ImportCommandTest, LedgerThatCannotBeWrittenStopsTheImportBeforeItBegins) {
  const Printed printed = Import(kThree, {"--ledger", "/nowhere/refused.jsonl"});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr("/nowhere/refused.jsonl"));
  ExpectNothingStored();
}

TEST_F(ImportCommandTest, ResultIsPrintedThoughTheLedgerIsLost) {
  const std::string ledger = folder_.PathOf("refused.jsonl");
  std::filesystem::create_symlink("/dev/full", ledger);
  const Printed printed =
      Import(std::string(kThree) + "1\nid=d\nC nan 2 3\n", {"--on-error", "skip", "--ledger", ledger});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_EQ(printed.Json()["stored"], 3);
  EXPECT_THAT(printed.err, HasSubstr("cannot write " + ledger));
}

TEST_F(ImportCommandTest, DuplicateIdIsRefusedByNameOrNumbered) {
  const std::string twice = std::string(kThree) + "1\nid=a\nC 4 5 6\n";
  const Printed refused = Import(twice);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.Json()["error"]["message"].get<std::string>(), HasSubstr("m.xyz:10: frame 4"));
  ExpectNothingStored();
  EXPECT_EQ(Import(twice, {"--duplicate-ids", "number"}).Json()["stored"], 4);
}

TEST_F(ImportCommandTest, IdMissingInTheTableIsNamed) {
  const Printed printed = Import(kThree, {"--join", folder_.Write("t.csv", "id,e\na,1\nb,2\n")});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr("frame 3 (c): no row of"));
  ExpectNothingStored();
}

TEST_F(ImportCommandTest, MissingTargetsAreStoredWhereAllowed) {
  const std::string csv = folder_.Write("t.csv", "id,e\na,1\nb,3\n");
  ASSERT_EQ(Import(kThree, {"--join", csv, "--missing-target", "nan"}).exit_code, 0);
  EXPECT_EQ(Stored().value().FindSplit("all")->targets[0].count, 2u);
  EXPECT_EQ(Stored().value().FindSplit("all")->targets[0].mean, 2);
}

TEST_F(ImportCommandTest, SplitFileDecidesTheSplits) {
  ASSERT_EQ(Import(kThree, {"--split-file", folder_.Write("s", "train a\ntrain c\nval b\n")}).exit_code, 0);
  EXPECT_EQ(GraphsOfSplit("train"), 2u);
  EXPECT_EQ(GraphsOfSplit("val"), 1u);
}

TEST_F(ImportCommandTest, GraphsInNoSplitAreCounted) {
  const std::string split = folder_.Write("s", "train a\n");
  const nlohmann::json result = Import(kThree, {"--split-file", split}).Json();
  EXPECT_EQ(result["splits"], (nlohmann::json{{"train", 1}, {"val", 0}, {"test", 0}}));
  EXPECT_EQ(result["in_no_split"], 2);
  EXPECT_THAT(ImportForPeople(kThree, {"--split-file", split}).out,
              HasSubstr("\nsplits: train 1, val 0, test 0; 2 graphs are in none\n"));
  const nlohmann::json whole = Import(kThree).Json();
  EXPECT_EQ(whole["splits"], nlohmann::json::object());
  EXPECT_EQ(whole["in_no_split"], nullptr);
}

TEST_F(ImportCommandTest, SplitFileMayNameGraphsThatWereSkipped) {
  const std::string split = folder_.Write("s", "train a\ntrain d\nval b\ntest c\n");
  EXPECT_EQ(Import(std::string(kThree) + "1\nid=d\nC nan 2 3\n", {"--split-file", split, "--on-error", "skip"})
                .exit_code,
            4);
  EXPECT_EQ(GraphsOfSplit("train"), 1u);
}

TEST_F(ImportCommandTest, SplitFileThatNamesAnUnknownGraphIsRefused) {
  const Printed printed = Import(kThree, {"--split-file", folder_.Write("s", "train a\nval zzz\n")});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr("zzz"));
  ExpectNothingStored();
}

TEST_F(ImportCommandTest, LimitReadsTheFirstGraphsOnly) {
  EXPECT_EQ(Import(kThree, {"--limit", "2"}).Json()["stored"], 2);
}

TEST_F(ImportCommandTest, LimitsOnInputNameTheirFlag) {
  const std::vector<std::pair<std::string, std::string>> limits = {
      {"--max-atoms", "0"}, {"--max-line-bytes", "3"}, {"--max-unpacked-bytes", "10"}};
  for (const auto& [flag, value] : limits) {
    const Printed printed = Import(kThree, {flag, value});
    EXPECT_EQ(printed.exit_code, 1);
    EXPECT_THAT(printed.Json()["error"]["message"].get<std::string>(), HasSubstr(flag));
  }
}

TEST_F(ImportCommandTest, FileWithoutFramesIsNamed) {
  const Printed printed = RunLine(
      {"import", "extxyz", kData + "/awkward/empty.xyz", "--name", "mols", "--server", server_->address()});
  EXPECT_EQ(printed.exit_code, 1);
  EXPECT_THAT(printed.err, HasSubstr("empty.xyz: the file holds no frame"));
  EXPECT_THAT(printed.out, IsEmpty());
}

TEST_F(ImportCommandTest, ServerOutOfReachIsThree) {
  const Printed printed = RunLine({"import", "extxyz", folder_.Write("m.xyz", kThree), "--name", "mols",
                                   "--server", "unix:/nonexistent/packtrain.socket", "--give-up", "0.1"});
  EXPECT_EQ(printed.exit_code, 3);
}

TEST_F(ImportCommandTest, OfVeryManyFilesTheFirstAreNamedAndTheOthersCounted) {
  constexpr int kFiles = 2'000;
  for (int file = 0; file < kFiles; ++file) {
    const std::string name = std::to_string(file);
    folder_.Write(std::string(100, 'x') + name + ".xyz", "1\nid=" + name + "\nC 1 2 3\n");
  }
  const Printed printed = RunLine(
      {"import", "extxyz", folder_.PathOf(""), "--name", "mols", "--server", server_->address(), "--json"});
  EXPECT_EQ(printed.exit_code, 0) << printed.out;
  EXPECT_EQ(Stored()->graphs, kFiles);  // its description fits into a usual message
}

}  // namespace
}  // namespace packtrain::cli
