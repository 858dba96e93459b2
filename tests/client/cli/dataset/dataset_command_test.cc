#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/client/cli/run_line.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_server.h"

namespace packtrain::cli {
namespace {

using ::testing::HasSubstr;
using testing::Printed;
using testing::ReadFile;
using testing::RunLine;
using testing::TestServer;

const std::string kSample = std::string(PACKTRAIN_TEST_DATA) + "/qm9/qm9_sample.xyz.gz";
const std::string kTargets = std::string(PACKTRAIN_TEST_DATA) + "/qm9/qm9_sample_targets.csv.gz";

class DatasetCommandTest : public ::testing::Test {
 protected:
  Printed Run(std::vector<std::string> line) {
    line.insert(line.end(), {"--server", server_->address(), "--json"});
    return RunLine(std::move(line));
  }

  // Imports a part of the sample; returns the version.
  std::string Import(const std::string& name, std::vector<std::string> flags) {
    std::vector<std::string> line = {"import", "extxyz", kSample,  "--name", name,  "--limit",
                                     "300",    "--join", kTargets, "--key",  "name"};
    line.insert(line.end(), flags.begin(), flags.end());
    const Printed printed = Run(std::move(line));
    EXPECT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    return printed.Json()["version"];
  }

  std::string ErrorOf(std::vector<std::string> line) {
    const Printed printed = Run(std::move(line));
    EXPECT_EQ(printed.exit_code, 1) << printed.out;
    return printed.Json()["error"]["message"];
  }

  testing::TempFolder folder_;
  std::unique_ptr<TestServer> server_ = TestServer::Start().value();
};

TEST_F(DatasetCommandTest, DerivedIsTheVersionOfAnImportWithTheseEdges) {
  const std::string split = "800,100,100";
  const std::string source = Import("full", {"--split-permille", split});
  for (const char* edges : {"radius:5", "radius:3:8", "knn:24"}) {
    const std::string imported = Import("imported", {"--split-permille", split, "--edges", edges});
    const Printed derived = Run({"dataset", "derive", "full", "--edges", edges, "--name", "derived"});
    ASSERT_EQ(derived.exit_code, 0) << derived.out << derived.err;
    EXPECT_EQ(derived.Json()["version"], imported) << edges;
    EXPECT_EQ(derived.Json()["derived_from"], "full@" + source);
    EXPECT_EQ(Run({"dataset", "show", "derived"}).Json()["lineage"]["edges"], edges);
  }
}

TEST_F(DatasetCommandTest, DerivedIsTheVersionOfAnImportThatRenumbers) {
  const std::string imported = Import("imported", {"--edges", "knn:3", "--renumber", "rcm"});
  Import("mols", {"--edges", "knn:3"});
  const Printed renumbered = Run({"dataset", "derive", "mols", "--renumber", "rcm", "--name", "renumbered"});
  ASSERT_EQ(renumbered.exit_code, 0) << renumbered.out << renumbered.err;
  EXPECT_EQ(renumbered.Json()["version"], imported);
  const Printed derived =
      Run({"dataset", "derive", "renumbered", "--edges", "radius:2", "--renumber", "rcm", "--name", "derived"});
  ASSERT_EQ(derived.exit_code, 0) << derived.out << derived.err;
  EXPECT_EQ(derived.Json()["version"], Import("other", {"--edges", "radius:2", "--renumber", "rcm"}));
  const Printed plain = Run({"dataset", "derive", "renumbered", "--edges", "radius:2", "--name", "plain"});
  EXPECT_EQ(plain.Json()["version"], Import("other", {"--edges", "radius:2"}));
  EXPECT_THAT(ErrorOf({"dataset", "derive", "renumbered", "--renumber", "rcm", "--name", "twice"}),
              HasSubstr("renumbered already"));
}

TEST_F(DatasetCommandTest, ShowsTheNumberingAndBothBandwidths) {
  Import("mols", {"--edges", "knn:3", "--renumber", "rcm"});
  const nlohmann::json shown = Run({"dataset", "show", "mols"}).Json();
  EXPECT_EQ(shown["renumbered"], "rcm");
  EXPECT_EQ(shown["lineage"]["renumbered"], "rcm");
  EXPECT_EQ(shown["fields"].back()["name"], "source_node");
  EXPECT_LT(shown["bandwidth"]["mean"], shown["bandwidth_as_read"]["mean"]);
  EXPECT_GE(shown["bandwidth_as_read"]["max"], shown["bandwidth_as_read"]["p50"]);
  const Printed text = RunLine({"dataset", "show", "mols", "--server", server_->address()});
  EXPECT_THAT(text.out, HasSubstr("edges knn:3, renumbered: rcm"));
  EXPECT_THAT(text.out, HasSubstr("bandwidth as read"));
}

TEST_F(DatasetCommandTest, ASplitIsTheVersionOfAnImportWithIt) {
  Import("mols", {});
  const std::string imported = Import("imported", {"--split-permille", "500,250,250", "--split-seed", "7"});
  const Printed split = Run({"dataset", "split", "mols", "--permille", "500,250,250", "--seed", "7"});
  ASSERT_EQ(split.exit_code, 0) << split.out << split.err;
  EXPECT_EQ(split.Json()["version"], imported);
  EXPECT_EQ(Run({"dataset", "show", "mols"}).Json()["version"], imported);
  const std::string ids = folder_.Write("ids.txt", "train dsgdb9nsd_000004\nval dsgdb9nsd_000019\n");
  const Printed by_ids = Run({"dataset", "split", "mols", "--file", ids});
  ASSERT_EQ(by_ids.exit_code, 0) << by_ids.out << by_ids.err;
  EXPECT_EQ(Run({"dataset", "show", "mols"}).Json()["splits"]["val"]["graphs"], 1);
}

TEST_F(DatasetCommandTest, WrongUsageIsTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"dataset", "derive", "d", "--name", "e"}, "--edges or --renumber is required"},
      {{"dataset", "derive", "d", "--name", "e", "--renumber", "amd"}, "--renumber"},
      {{"dataset", "derive", "d", "--edges", "knn:3"}, "--name"},
      {{"dataset", "derive", "d", "--edges", "knn:0", "--name", "e"}, "--edges 'knn:0'"},
      {{"dataset", "split", "d"}, "how"},
      {{"dataset", "split", "d", "--permille", "1,2,3"}, "must add up to 1000"},
      {{"dataset", "split", "d", "--file", "f", "--permille", "1,2,3"}, "how"},
      {{"dataset", "delete", "d"}, "say --yes"},
      {{"dataset", "export", "d", "--format", "native"}, "--output"},
      {{"dataset", "export", "d", "--format", "xml", "-o", "f"}, "xml"},
      {{"dataset", "export", "d", "--format", "native", "-o", "-"}, "--output -: a native file is no text"},
      {{"import", "native", "f", "g"}, "--name is required"},
      {{"import", "native", "f", "-o", "g"}, "--output has no meaning"},
      {{"import", "extxyz", "f", "-o", "g", "--name", "d"}, "--name is for the join"},
      {{"import", "extxyz", "f", "-o", "g", "--split-file", "s"}, "--split-file is for the join"},
      {{"import", "native", "f", "--edges", "full"}, "--edges has no meaning"},
      {{"import", "native", "f", "--renumber", "rcm"}, "--renumber has no meaning"},
      {{"import", "extxyz", "f", "--name", "d", "--renumber", "rcm"}, "--renumber needs edges that are stored"},
      {{"import", "jsonl", "f", "--name", "d", "--edges", "full", "--renumber", "rcm"},
       "--renumber needs edges that are stored"},
      {{"import", "extxyz", "f"}, "--name is required"}};
  for (const auto& [line, words] : cases) {
    const Printed printed = RunLine(line);
    EXPECT_EQ(printed.exit_code, 2) << printed.out << printed.err;
    EXPECT_THAT(printed.err, HasSubstr(words));
  }
}

TEST_F(DatasetCommandTest, WhatIsDeletedIsGone) {
  const std::string version = Import("mols", {});
  Import("other", {});
  const Printed deleted = Run({"dataset", "delete", "mols", "--yes"});
  ASSERT_EQ(deleted.exit_code, 0) << deleted.out << deleted.err;
  EXPECT_EQ(deleted.Json()["versions"][0]["dataset"], "mols@" + version);
  EXPECT_EQ(deleted.Json()["versions"][0]["reclaimed"], true);
  EXPECT_EQ(deleted.Json()["current_version"], "");
  EXPECT_THAT(ErrorOf({"dataset", "show", "mols"}), HasSubstr("no data set 'mols'"));
  EXPECT_THAT(ErrorOf({"dataset", "delete", "mols", "--yes"}), HasSubstr("no data set 'mols'"));
  EXPECT_EQ(Run({"dataset", "list"}).Json().size(), 1u);
}

TEST_F(DatasetCommandTest, OfTwoVersionsOneIsLeft) {
  const std::string first = Import("mols", {});
  const std::string second = Import("mols", {"--split-permille", "500,250,250"});
  const Printed deleted = Run({"dataset", "delete", "mols@" + second, "--yes"});
  EXPECT_EQ(deleted.Json()["current_version"], first);
  EXPECT_EQ(Run({"dataset", "show", "mols"}).Json()["version"], first);
}

class ExportTest : public DatasetCommandTest {
 protected:
  std::string Export(const std::string& dataset, const std::string& format) {
    std::string file = folder_.PathOf(format);
    const Printed printed = Run({"dataset", "export", dataset, "--format", format, "-o", file});
    EXPECT_EQ(printed.exit_code, 0) << printed.out << printed.err;
    EXPECT_EQ(printed.Json()["graphs"], 300);
    EXPECT_EQ(printed.Json()["bytes"], std::filesystem::file_size(file));
    return file;
  }

  // What the import of these bytes says, which must fail and store nothing.
  std::string ErrorOfImport(const std::string& bytes) {
    const std::string file = folder_.Write("bad", bytes);
    std::string message = ErrorOf({"import", "native", file, "--name", "bad"});
    EXPECT_THAT(message, HasSubstr(file));
    EXPECT_EQ(Run({"dataset", "show", "bad"}).exit_code, 1);
    return message;
  }
};

TEST_F(ExportTest, ANativeFileGivesTheSameVersion) {
  for (const char* edges : {"full", "radius:3"}) {
    const std::string version = Import("mols", {"--edges", edges, "--split-permille", "800,100,100"});
    const std::string file = Export("mols", "native");
    EXPECT_FALSE(std::filesystem::exists(file + ".partial"));
    ASSERT_EQ(Run({"dataset", "delete", "mols", "--yes"}).exit_code, 0);
    const Printed imported = Run({"import", "native", file});
    ASSERT_EQ(imported.exit_code, 0) << imported.out << imported.err;
    EXPECT_EQ(imported.Json()["dataset"], "mols");
    EXPECT_EQ(imported.Json()["version"], version);
    EXPECT_EQ(imported.Json()["stored"], 300);
    const Printed shown = Run({"dataset", "show", "mols"});
    EXPECT_EQ(shown.Json()["splits"]["train"]["graphs"], 240);
    EXPECT_EQ(shown.Json()["lineage"]["sources"][0]["name"], kSample);
    EXPECT_EQ(Run({"import", "native", file, "--name", "copy"}).Json()["version"], version);
  }
}

TEST_F(ExportTest, ATruncatedDamagedOrForeignFileIsRefusedByName) {
  Import("mols", {"--edges", "radius:3", "--split-permille", "800,100,100"});
  const std::string bytes = ReadFile(Export("mols", "native"));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{8}, std::size_t{12}, bytes.size() / 2, bytes.size() - 1}) {
    const std::string message = ErrorOfImport(bytes.substr(0, size));
    EXPECT_THAT(message, HasSubstr(size < 8 ? "this is no file of" : "cut off"));
  }
  for (const std::size_t at : {std::size_t{20}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_THAT(ErrorOfImport(damaged), HasSubstr("damaged"));
  }
  EXPECT_THAT(ErrorOfImport(bytes + "x"), HasSubstr("behind the end"));
  EXPECT_THAT(ErrorOfImport("packtrn2" + bytes.substr(8)), HasSubstr("reads format 1"));
  EXPECT_THAT(ErrorOfImport(ReadFile(kSample)), HasSubstr("this is no file of"));
}

TEST_F(ExportTest, JsonLinesHoldEachGraph) {
  Import("mols", {"--edges", "knn:2", "--targets", "binding energy"});
  std::ifstream lines(Export("mols", "jsonl"));
  std::string line;
  int graphs = 0;
  while (std::getline(lines, line)) {
    const nlohmann::json graph = nlohmann::json::parse(line);
    const std::size_t n_node = graph["n_node"], n_edge = graph["n_edge"];
    EXPECT_EQ(graph["z"].size(), n_node);
    EXPECT_EQ(graph["pos"].size(), n_node);
    EXPECT_EQ(graph["pos"][0].size(), 3u);
    EXPECT_EQ(graph["senders"].size(), n_edge);
    EXPECT_EQ(graph["receivers"].size(), n_edge);
    EXPECT_EQ(graph["y"].size(), 1u);
    ++graphs;
  }
  EXPECT_EQ(graphs, 300);
}

TEST_F(ExportTest, JsonLinesAreImportedAsTheSameGraphs) {
  for (const std::string edges : {"knn:2", "full"}) {
    Import("mols", {"--edges", edges});
    const std::string file = Export("mols", "jsonl");
    ASSERT_EQ(Run({"import", "jsonl", file, "--name", "again"}).exit_code, 0);
    EXPECT_EQ(Run({"dataset", "show", "again"}).Json()["version"],
              Run({"dataset", "show", "mols"}).Json()["version"]);
  }
}

TEST_F(ExportTest, WordsAreShownAndWrittenOut) {
  const std::string lines =
      "{\"id\":\"a\",\"nodes\":{\"token\":[\"x\",\"=\"]},\"edges\":{\"senders\":[0],\"receivers\":[1],"
      "\"edge_type\":[\"next\"]}}\n"
      "{\"id\":\"b\",\"nodes\":{\"token\":[\"x\",\"x\"]},\"edges\":{\"senders\":[0],\"receivers\":[1],"
      "\"edge_type\":[\"last\"]}}\n";
  ASSERT_EQ(Run({"import", "jsonl", folder_.Write("code.jsonl", lines), "--name", "code"}).exit_code, 0);
  const nlohmann::json shown = Run({"dataset", "show", "code"}).Json();
  EXPECT_EQ(shown["vocabularies"]["token"], nlohmann::json::parse(R"({"words":["=","x"],"graphs":[1,2]})"));
  EXPECT_EQ(shown["vocabularies"]["edge_type"],
            nlohmann::json::parse(R"({"words":["last","next"],"graphs":[1,1]})"));
  const Printed text = RunLine({"dataset", "show", "code", "--server", server_->address()});
  EXPECT_THAT(text.out, HasSubstr("edge_type: last, next"));
  EXPECT_FALSE(Run({"dataset", "list"}).Json()[0].contains("vocabularies"));
  const std::string file = folder_.PathOf("written.jsonl");
  ASSERT_EQ(Run({"dataset", "export", "code", "--format", "jsonl", "-o", file}).exit_code, 0);
  std::ifstream written(file);
  std::string line;
  ASSERT_TRUE(std::getline(written, line));
  EXPECT_EQ(nlohmann::json::parse(line)["token"], nlohmann::json::parse(R"(["x","="])"));
  ASSERT_EQ(Run({"import", "jsonl", file, "--name", "again"}).exit_code, 0);
  EXPECT_EQ(Run({"dataset", "show", "again"}).Json()["version"], shown["version"]);
}

TEST_F(ExportTest, FullEdgesAreNotWrittenOut) {
  folder_.Write("two.xyz", "2\nid=\"a \\\"b\\\"\"\nC 1.5 2 0.1\nH 0 0 -1\n");
  ASSERT_EQ(Run({"import", "extxyz", folder_.PathOf("two.xyz"), "--name", "two"}).exit_code, 0);
  const std::string file = folder_.PathOf("two.jsonl");
  ASSERT_EQ(Run({"dataset", "export", "two", "--format", "jsonl", "-o", file}).exit_code, 0);
  const nlohmann::json graph = nlohmann::json::parse(ReadFile(file));
  EXPECT_EQ(graph["n_edge"], 2);
  EXPECT_FALSE(graph.contains("senders"));
  EXPECT_EQ(graph["pos"], nlohmann::json::parse("[[1.5,2,0.1],[0,0,-1]]"));
  EXPECT_EQ(graph["z"], nlohmann::json::parse("[6,1]"));
}

TEST_F(ExportTest, LinesGoToStandardOutput) {
  folder_.Write("two.xyz", "2\nid=a\nC 1.5 2 0.1\nH 0 0 -1\n");
  ASSERT_EQ(Run({"import", "extxyz", folder_.PathOf("two.xyz"), "--name", "two"}).exit_code, 0);
  ::testing::internal::CaptureStdout();
  const Printed printed = Run({"dataset", "export", "two", "--format", "jsonl", "-o", "-"});
  const std::string written = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(nlohmann::json::parse(written)["id"], "a");
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST_F(ExportTest, ThatCannotBeWrittenLeavesNothing) {
  Import("mols", {});
  EXPECT_THAT(ErrorOf({"dataset", "export", "mols", "--format", "native", "-o", "/nowhere/file"}),
              HasSubstr("/nowhere/file"));
  const std::string file = folder_.PathOf("none");
  EXPECT_THAT(ErrorOf({"dataset", "export", "none", "--format", "native", "-o", file}),
              HasSubstr("no data set"));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(file + ".partial"));
}

}  // namespace
}  // namespace packtrain::cli
