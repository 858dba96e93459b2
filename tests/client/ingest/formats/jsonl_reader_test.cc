#include "client/ingest/formats/jsonl_reader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "client/ingest/formats/format_table.h"
#include "client/ingest/input_list.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::IsOk;
using ::testing::Not;
using testing::Refused;
using testing::TestData;

// What a file gives when it is read as an import does, twice where it holds words.
struct JsonlFile {
  explicit JsonlFile(const std::string& path, ReadOptions options = {}) {
    options.vocabularies = std::make_shared<Vocabularies>();
    vocabularies = options.vocabularies;
    const std::unique_ptr<InputList> inputs = InputList::Create(*FindFormat("jsonl"), {path}, options).value();
    gathered = GatherWords(*inputs, 0, *vocabularies);
    EXPECT_THAT(inputs->Restart(), IsOk());
    const std::unique_ptr<GraphReader> reader = inputs->Next().value();
    layout = reader->layout();
    while (true) {
      SourceGraph graph(layout);
      const absl::StatusOr<bool> more = reader->Next(&graph);
      if (more.ok() && !*more) break;
      statuses.push_back(more.status());
      outcomes.push_back(more.ok() ? graph.id : ReasonOf(more.status()));
      graphs.push_back(std::move(graph));
    }
  }

  template <typename T>
  std::vector<T>& Values(std::size_t graph, std::string_view name) {
    const auto field = std::find_if(layout.fields.begin(), layout.fields.end(),
                                    [&](const GraphField& candidate) { return candidate.name == name; });
    EXPECT_NE(field, layout.fields.end()) << name;
    return graphs[graph].Values<T>(static_cast<std::size_t>(field - layout.fields.begin()));
  }
  std::string LabelNamed(std::size_t graph, std::string_view name) const {
    for (const Label& label : graphs[graph].labels) {
      if (label.name == name) return std::string(label.text);
    }
    return "none";
  }
  std::vector<std::size_t> NodeCounts() const {
    std::vector<std::size_t> counts;
    for (const SourceGraph& graph : graphs) counts.push_back(graph.n_node);
    return counts;
  }
  std::vector<std::size_t> EdgeCounts() const {
    std::vector<std::size_t> counts;
    for (const SourceGraph& graph : graphs) counts.push_back(graph.senders.size());
    return counts;
  }
  // How many nodes of each graph are marked.
  std::vector<int> Marked(std::string_view name) {
    std::vector<int> counts;
    for (std::size_t k = 0; k < graphs.size(); ++k) {
      const std::vector<std::uint8_t>& marks = Values<std::uint8_t>(k, name);
      counts.push_back(std::accumulate(marks.begin(), marks.end(), 0));
    }
    return counts;
  }

  absl::Status gathered;
  std::shared_ptr<Vocabularies> vocabularies;
  GraphLayout layout;
  std::vector<SourceGraph> graphs;
  std::vector<absl::Status> statuses;  // by record
  std::vector<std::string> outcomes;   // an id, or the reason of a refusal
};

class JsonlReaderTest : public ::testing::Test {
 protected:
  JsonlFile Read(std::string_view text, const ReadLimits& limits = {}) {
    ReadOptions options;
    options.limits = limits;
    return JsonlFile(folder_.Write("g.jsonl", text), options);
  }
  // The refusal of the only record.
  absl::Status StatusOf(std::string_view text, const ReadLimits& limits = {}) {
    const JsonlFile file = Read(text, limits);
    EXPECT_EQ(file.statuses.size(), 1u);
    return file.statuses.front();
  }

  testing::TempFolder folder_;
};

TEST_F(JsonlReaderTest, BondGraphsHaveEachBondBothWays) {
  JsonlFile file(TestData("jsonl/qm9_graphs.jsonl.gz"));
  EXPECT_THAT(file.statuses, Each(IsOk()));
  EXPECT_THAT(file.NodeCounts(),
              ElementsAre(17, 20, 14, 20, 21, 16, 20, 19, 13, 19, 18, 19, 19, 21, 21, 16, 10, 16, 18, 15));
  EXPECT_THAT(file.EdgeCounts(),
              ElementsAre(36, 42, 30, 38, 42, 32, 42, 44, 26, 38, 38, 38, 36, 44, 46, 36, 18, 30, 40, 30));
  EXPECT_EQ(file.graphs[0].id, "qm9:049241");
  EXPECT_THAT(file.Values<std::uint8_t>(0, "z"),
              ElementsAre(8, 6, 6, 7, 6, 6, 6, 6, 7, 1, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_EQ(file.Values<float>(0, "x").size(), 17u * 15);
  // Its first bonds: 0=1, 1-2, 1-9.
  const SourceGraph& graph = file.graphs[0];
  EXPECT_THAT(std::vector(graph.senders.begin(), graph.senders.begin() + 6), ElementsAre(0, 1, 1, 2, 1, 9));
  EXPECT_THAT(std::vector(graph.receivers.begin(), graph.receivers.begin() + 6), ElementsAre(1, 0, 2, 1, 9, 1));
  const std::vector<std::uint8_t>& types = file.Values<std::uint8_t>(0, "edge_type");
  EXPECT_THAT(std::vector(types.begin(), types.begin() + 6), ElementsAre(2, 2, 1, 1, 1, 1));
  EXPECT_EQ(file.LabelNamed(0, "target_0"), "0.14480467");
  EXPECT_EQ(file.layout.edges, "bonds");
}

// The words, counts and ids below come from a separate program.
TEST_F(JsonlReaderTest, TokensBecomeIdsOfASortedVocabulary) {
  JsonlFile file(TestData("jsonl/great.jsonl.gz"));
  EXPECT_THAT(file.statuses, Each(IsOk()));
  EXPECT_THAT(file.NodeCounts(), ElementsAre(48, 73, 23, 43, 63, 42, 116, 30, 47, 84));
  EXPECT_THAT(file.EdgeCounts(), ElementsAre(77, 117, 36, 75, 107, 58, 149, 45, 65, 155));
  const v1::Vocabulary tokens = file.vocabularies->Of("token");
  ASSERT_EQ(tokens.words_size(), 143);
  EXPECT_EQ(tokens.words(0), "#INDENT#");
  EXPECT_EQ(tokens.words(127), "self");
  EXPECT_EQ(tokens.graphs(127), 9u);
  EXPECT_EQ(std::accumulate(tokens.graphs().begin(), tokens.graphs().end(), std::uint64_t{0}), 244u);
  const std::vector<std::int32_t>& first = file.Values<std::int32_t>(0, "token");
  EXPECT_THAT(std::vector(first.begin(), first.begin() + 8), ElementsAre(1, 75, 127, 29, 26, 60, 29, 28));
  int sum = 0;
  for (std::size_t k = 0; k < file.graphs.size(); ++k) {
    const std::vector<std::int32_t>& ids = file.Values<std::int32_t>(k, "token");
    sum = std::accumulate(ids.begin(), ids.end(), sum);
  }
  EXPECT_EQ(sum, 27970);
  const v1::Vocabulary types = file.vocabularies->Of("edge_type");
  EXPECT_THAT(types.words(),
              ElementsAre("enum_CFG_NEXT", "enum_COMPUTED_FROM", "enum_FIELD", "enum_LAST_LEXICAL_USE",
                          "enum_LAST_READ", "enum_LAST_WRITE", "enum_NEXT_SYNTAX"));
  EXPECT_THAT(types.graphs(), ElementsAre(10, 7, 10, 10, 9, 10, 10));
  EXPECT_EQ(file.Values<std::uint8_t>(0, "edge_type")[0], 2);
}

TEST_F(JsonlReaderTest, SlotIsNoCandidateAndAProgramWithoutABugHasNone) {
  JsonlFile file(TestData("jsonl/great.jsonl.gz"));
  EXPECT_THAT(file.Marked("is_slot"), ElementsAre(1, 0, 1, 0, 1, 0, 1, 0, 1, 0));
  EXPECT_EQ(file.Values<std::uint8_t>(0, "is_slot")[37], 1);
  EXPECT_EQ(file.Values<std::uint8_t>(0, "is_candidate")[37], 0);
  EXPECT_THAT(file.Marked("is_candidate"), ElementsAre(8, 14, 4, 9, 9, 7, 7, 5, 6, 17));
  EXPECT_THAT(file.Marked("is_target"), ElementsAre(3, 0, 1, 0, 3, 0, 1, 0, 2, 0));
  EXPECT_EQ(file.LabelNamed(0, "has_bug"), "1");
  EXPECT_EQ(file.LabelNamed(1, "has_bug"), "0");
}

TEST_F(JsonlReaderTest, SyntaxTreesAreReadByTheirNodeTable) {
  JsonlFile file(TestData("jsonl/exprsynth.jsonl.gz"));
  EXPECT_THAT(file.statuses, Each(IsOk()));
  EXPECT_THAT(file.NodeCounts(), ElementsAre(492, 498));
  EXPECT_THAT(file.EdgeCounts(), ElementsAre(1008, 1010));
  EXPECT_EQ(file.vocabularies->Of("token").words_size(), 130);
  EXPECT_THAT(file.vocabularies->Of("edge_type").words(),
              ElementsAre("Child", "ComputedFrom", "FormalArgName", "GuardedBy", "GuardedByNegation",
                          "LastLexicalUse", "LastUse", "LastWrite", "NextToken", "ReturnsTo"));
  EXPECT_EQ(file.Values<std::int32_t>(0, "token")[0], 29);  // <HOLE>
  EXPECT_THAT(file.Marked("is_slot"), ElementsAre(1, 1));
  EXPECT_THAT(file.Marked("is_candidate"), ElementsAre(3, 6));
  EXPECT_EQ(file.Values<std::uint8_t>(0, "is_candidate")[483], 1);
}

TEST_F(JsonlReaderTest, SymbolCandidatesSayWhichIsRight) {
  JsonlFile file = Read(
      R"({"ContextGraph":{"NodeLabels":{"0":"a","2":"c","1":"b"},"Edges":{"Child":[[0,1]]}},"SlotDummyNode":2,)"
      R"("SymbolCandidates":[{"SymbolDummyNode":0,"IsCorrect":false},{"SymbolDummyNode":1,"IsCorrect":true}]})");
  EXPECT_THAT(file.statuses, ElementsAre(IsOk()));
  EXPECT_THAT(file.Values<std::int32_t>(0, "token"), ElementsAre(0, 1, 2));
  EXPECT_THAT(file.Values<std::uint8_t>(0, "is_slot"), ElementsAre(0, 0, 1));
  EXPECT_THAT(file.Values<std::uint8_t>(0, "is_candidate"), ElementsAre(1, 1, 0));
  EXPECT_THAT(file.Values<std::uint8_t>(0, "is_target"), ElementsAre(0, 1, 0));
}

TEST_F(JsonlReaderTest, VocabularyDoesNotDependOnThreads) {
  ReadOptions options;
  options.threads = 1;
  JsonlFile one(TestData("jsonl/great.jsonl.gz"), options);
  options.threads = 4;
  JsonlFile four(TestData("jsonl/great.jsonl.gz"), options);
  EXPECT_EQ(one.vocabularies->Of("token").SerializeAsString(),
            four.vocabularies->Of("token").SerializeAsString());
  EXPECT_EQ(one.Values<std::int32_t>(9, "token"), four.Values<std::int32_t>(9, "token"));
}

TEST_F(JsonlReaderTest, LimitOfRecordsLimitsTheVocabulary) {
  ReadOptions options;
  options.vocabularies = std::make_shared<Vocabularies>();
  const std::string path =
      folder_.Write("g.jsonl", "{\"nodes\":{\"w\":[\"b\"]}}\n{\"nodes\":{\"w\":[\"a\"]}}\n");
  const std::unique_ptr<InputList> inputs = InputList::Create(*FindFormat("jsonl"), {path}, options).value();
  ASSERT_THAT(GatherWords(*inputs, 1, *options.vocabularies), IsOk());
  EXPECT_THAT(options.vocabularies->Of("w").words(), ElementsAre("b"));
}

constexpr char kMolecule[] =
    R"({"id":"a","nodes":{"z":[6,1],"pos":[[0,0,0],[0,0,1.25]]},)"
    R"("edges":{"senders":[0,1],"receivers":[1,0],"edge_type":["single","single"],"weight":[0.5,0.25]},)"
    R"("graph":{"cell":[[9,0,0],[0,9,0],[0,0,9]],"pbc":[1,1,0]},"targets":{"energy":-1.5,"gap":null},"source":"x"})";

TEST_F(JsonlReaderTest, GeneralFormIsReadAsItSays) {
  JsonlFile file = Read(kMolecule);
  ASSERT_THAT(file.statuses, ElementsAre(IsOk()));
  EXPECT_THAT(file.outcomes, ElementsAre("a"));
  EXPECT_THAT(file.Values<std::uint8_t>(0, "z"), ElementsAre(6, 1));
  EXPECT_THAT(file.Values<float>(0, "pos"), ElementsAre(0, 0, 0, 0, 0, 1.25f));
  EXPECT_THAT(file.Values<float>(0, "cell"), ElementsAre(9, 0, 0, 0, 9, 0, 0, 0, 9));
  EXPECT_THAT(file.Values<std::uint8_t>(0, "pbc"), ElementsAre(1, 1, 0));
  EXPECT_THAT(file.Values<std::uint8_t>(0, "edge_type"), ElementsAre(0, 0));
  EXPECT_THAT(file.Values<float>(0, "weight"), ElementsAre(0.5f, 0.25f));
  EXPECT_THAT(file.graphs[0].senders, ElementsAre(0, 1));
  EXPECT_THAT(file.graphs[0].receivers, ElementsAre(1, 0));
  EXPECT_EQ(file.LabelNamed(0, "energy"), "-1.5");
  EXPECT_EQ(file.LabelNamed(0, "gap"), "");
  EXPECT_EQ(file.LabelNamed(0, "source"), "x");
}

TEST_F(JsonlReaderTest, NodesWithoutFieldsAreCounted) {
  JsonlFile file =
      Read("{\"nodes\":3,\"edges\":[[0,1]],\"targets\":{\"y\":1}}\n\n{\"n_node\":2,\"edges\":[]}\n");
  EXPECT_THAT(file.statuses, Each(IsOk()));
  EXPECT_THAT(file.NodeCounts(), ElementsAre(3, 2));
  EXPECT_THAT(file.EdgeCounts(), ElementsAre(1, 0));
}

TEST_F(JsonlReaderTest, SchemaOfTheFirstRecordHoldsForAll) {
  JsonlFile file = Read(
      R"({"id":1,"schema":{"fields":[{"name":"q","scope":"node","dtype":"i64","dims":[2],"unit":"e"}],)"
      R"("targets":[{"name":"gap"}],"edge_builder":"radius:5"},"n_node":1,"n_edge":1,"senders":[0],"receivers":[0],)"
      R"("q":[[9007199254740993,-1]],"y":[0.5]})"
      "\n"
      R"({"id":2,"n_edge":0,"senders":[],"receivers":[],"q":[[1,2]],"y":[null]})");
  ASSERT_THAT(file.statuses, ElementsAre(IsOk(), IsOk()));
  EXPECT_THAT(file.outcomes, ElementsAre("1", "2"));
  EXPECT_THAT(file.Values<std::int64_t>(0, "q"), ElementsAre(9007199254740993, -1));
  EXPECT_EQ(file.layout.fields[0].unit, "e");
  EXPECT_EQ(file.layout.edges, "radius:5");
  EXPECT_EQ(file.LabelNamed(0, "gap"), "0.5");
  EXPECT_EQ(file.LabelNamed(1, "gap"), "");
}

// A node of one field `q` of a type.
std::string NodeOf(const std::string& type, const std::string& value) {
  return R"({"schema":{"fields":[{"name":"q","scope":"node","dtype":")" + type +
         R"("}],"edge_builder":"full"},"nodes":{"q":[)" + value + "]}}\n";
}

TEST_F(JsonlReaderTest, FieldsMayHaveEveryTypeAndItsWholeRange) {
  EXPECT_THAT(Read(NodeOf("u8", "255")).Values<std::uint8_t>(0, "q"), ElementsAre(255));
  EXPECT_THAT(Read(NodeOf("u16", "65535")).Values<std::uint16_t>(0, "q"), ElementsAre(65535));
  EXPECT_THAT(Read(NodeOf("u32", "4294967295")).Values<std::uint32_t>(0, "q"), ElementsAre(4294967295u));
  EXPECT_THAT(Read(NodeOf("u64", "18446744073709551615")).Values<std::uint64_t>(0, "q"),
              ElementsAre(18446744073709551615u));
  EXPECT_THAT(Read(NodeOf("i32", "-2147483648")).Values<std::int32_t>(0, "q"), ElementsAre(INT32_MIN));
  EXPECT_THAT(Read(NodeOf("i64", "-9223372036854775808")).Values<std::int64_t>(0, "q"), ElementsAre(INT64_MIN));
  EXPECT_THAT(Read(NodeOf("f32", "0.1")).Values<float>(0, "q"), ElementsAre(0.1f));
  EXPECT_THAT(Read(NodeOf("f64", "0.1")).Values<double>(0, "q"), ElementsAre(0.1));
}

TEST_F(JsonlReaderTest, NumbersThatTheirTypeDoesNotHoldAreRefused) {
  for (const auto& [type, value] : {std::pair("u8", "256"),
                                    {"u32", "-1"},
                                    {"u32", "4294967296"},
                                    {"u32", "0.5"},
                                    {"u64", "-1"},
                                    {"i64", "9223372036854775808"}}) {
    EXPECT_THAT(Read(NodeOf(type, value)).outcomes, ElementsAre("bad_value")) << type << " " << value;
  }
}

TEST_F(JsonlReaderTest, SchemaSaysThatNodesAreRenumbered) {
  const auto line = [](const std::string& renumbered) {
    return R"({"id":1,"schema":{"fields":[{"name":"source_node","scope":"node","dtype":"i32"}],)"
           R"("edge_builder":"bonds","renumbered":)" +
           renumbered + R"(},"senders":[0],"receivers":[1],"source_node":[1,0]})";
  };
  JsonlFile file = Read(line(R"("rcm")"));
  ASSERT_THAT(file.statuses, ElementsAre(IsOk()));
  EXPECT_EQ(file.layout.renumbered, v1::RENUMBERING_RCM);
  EXPECT_THAT(file.Values<std::int32_t>(0, "source_node"), ElementsAre(1, 0));
  EXPECT_THAT(Read(line(R"("amd")")).statuses, ElementsAre(Not(IsOk())));
}

TEST_F(JsonlReaderTest, WordsNeedAFileThatIsReadTwice) {
  ReadOptions options;
  options.vocabularies = std::make_shared<Vocabularies>();
  ASSERT_THAT(options.vocabularies->Finish(), IsOk());
  const std::string path = folder_.Write("g.jsonl", kMolecule);
  const std::unique_ptr<GraphReader> reader =
      OpenJsonl(ByteSource::Open(path, 1 << 20).value(), options).value();
  SourceGraph graph(reader->layout());
  EXPECT_THAT(reader->Next(&graph), Refused("unknown_word", "pipe"));
}

struct BadLine {
  const char* name;
  const char* line;
  const char* reason;
  const char* part;
};

void PrintTo(const BadLine& row, std::ostream* out) { *out << row.name; }

class BadLineTest : public JsonlReaderTest, public ::testing::WithParamInterface<BadLine> {};

TEST_P(BadLineTest, IsRefusedBetweenItsNeighbours) {
  const std::string good = "{\"id\":\"a\",\"nodes\":{\"z\":[6,1]},\"edges\":[[0,1]]}\n";
  const JsonlFile file = Read(good + GetParam().line + "\n" + good);
  EXPECT_THAT(file.outcomes, ElementsAre("a", GetParam().reason, "a"));
  EXPECT_THAT(file.statuses[1], Refused(GetParam().reason, GetParam().part));
  EXPECT_THAT(file.statuses[1], Refused(GetParam().reason, "g.jsonl:2: record 2"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLineTest,
    ::testing::Values(
        BadLine{"Nan", R"({"nodes":{"z":[6]},"edges":[],"energy":NaN})", "bad_json", "NaN"},
        BadLine{"Infinity", R"({"nodes":{"z":[6]},"edges":[],"energy":-Infinity})", "bad_json", "Infinity"},
        BadLine{"NanThatIsSkipped", R"({"nodes":{"z":[6]},"edges":[],"other":{"a":[NaN]}})", "bad_json", "NaN"},
        BadLine{"HugeNumber", R"({"nodes":{"z":[6]},"edges":[],"energy":1e400})", "bad_json", "number"},
        BadLine{"Latin1", "{\"id\":\"\xe9\",\"nodes\":{\"z\":[6]},\"edges\":[]}", "not_utf8", "UTF-8"},
        BadLine{"Truncated", R"({"nodes":{"z":[6]},"edges":[)", "truncated_line", "ends"},
        BadLine{"TruncatedText", R"({"nodes":{"z":[6]},"ed)", "truncated_line", "ends"},
        BadLine{"List", "[1]", "not_an_object", "{...}"}, BadLine{"TwoObjects", "{} {}", "bad_json", "JSON"},
        BadLine{"DuplicateKey", R"({"nodes":{"z":[6]},"edges":[],"id":"b","id":"c"})", "duplicate_key", "'id'"},
        BadLine{"DuplicateField", R"({"nodes":{"z":[6],"z":[7]},"edges":[]})", "duplicate_key", "'z'"},
        BadLine{"NegativeEnd", R"({"nodes":{"z":[6]},"edges":[[0,-1]]})", "bad_value", "edges"},
        BadLine{"EndOutOfRange", R"({"nodes":{"z":[6]},"edges":[[0,1]]})", "edge_out_of_range", "node 1"},
        BadLine{"AtomicNumberAbove255", R"({"nodes":{"z":[256]},"edges":[]})", "bad_value", "'z'"},
        BadLine{"HalfAnAtomicNumber", R"({"nodes":{"z":[6.5]},"edges":[]})", "bad_value", "'z'"},
        BadLine{"NoNodes", R"({"nodes":{"z":[]},"edges":[]})", "no_nodes", "no nodes"},
        BadLine{"MissingField", R"({"nodes":1,"edges":[]})", "missing_field", "'z'"},
        BadLine{"MissingEdges", R"({"nodes":{"z":[6]}})", "missing_field", "'edges'"},
        BadLine{"OtherField", R"({"nodes":{"z":[6],"q":[1]},"edges":[]})", "unknown_field", "'q'"},
        BadLine{"TwoCounts", R"({"nodes":{"z":[6]},"n_node":2,"edges":[]})", "length_mismatch",
                "'n_node' means 2"},
        BadLine{"RaggedEdge", R"({"nodes":{"z":[6]},"edges":[[0]]})", "bad_shape", "[sender, receiver]"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(JsonlReaderTest, LimitsNameTheirFlags) {
  const std::string pair = R"({"nodes":{"z":[6,1]},"edges":[[0,1],[1,0]]})";
  EXPECT_THAT(StatusOf(pair, {.max_atoms = 1}), Refused("too_many_atoms", "--max-atoms"));
  EXPECT_THAT(StatusOf(pair, {.max_edges = 1}), Refused("too_many_edges", "--max-edges"));
  EXPECT_THAT(StatusOf(pair, {.max_depth = 2}), Refused("too_deep", "--max-depth"));
  EXPECT_THAT(StatusOf(pair, {.max_line_bytes = 9}), Refused("line_too_long", "--max-line-bytes"));
  EXPECT_THAT(StatusOf(std::string(100000, '[') + std::string(100000, ']')),
              Refused("too_deep", "--max-depth"));
}

TEST_F(JsonlReaderTest, FirstSoundRecordDecidesTheForm) {
  const JsonlFile file = Read("{broken}\n{\"id\":\"b\",\"nodes\":{\"z\":[6]}}\n");
  EXPECT_EQ(file.outcomes.size(), 2u);
  EXPECT_EQ(file.outcomes[1], "b");
  EXPECT_THAT(file.statuses[0], Refused("bad_json", "g.jsonl:1: record 1"));
}

TEST_F(JsonlReaderTest, FeaturesThatContradictTheAtomicNumberAreRefused) {
  const JsonlFile file = Read(
      "{\"id\":\"a\",\"graph\":[],\"node_features\":[[1,0,0,0,0,1]]}\n"
      "{\"id\":\"b\",\"graph\":[],\"node_features\":[[1,0,0,0,0,6]]}\n");
  EXPECT_THAT(file.outcomes, ElementsAre("a", "contradiction"));
}

TEST_F(JsonlReaderTest, NodeTableWithAGapIsRefused) {
  EXPECT_THAT(StatusOf(R"({"ContextGraph":{"NodeLabels":{"0":"a","2":"c"},"Edges":{}},"HoleNode":0})"),
              Refused("bad_node_table", "'2'"));
}

// The sums are those of statistics that were made with a separate program.
struct WholeFile {
  const char* name;
  std::size_t graphs, nodes, edges;
};

void PrintTo(const WholeFile& row, std::ostream* out) { *out << row.name; }

class WholeJsonlTest : public ::testing::TestWithParam<WholeFile> {};

TEST_P(WholeJsonlTest, HasItsNumbersOfNodesAndEdges) {
  const char* data = std::getenv("PACKTRAIN_DATA");
  if (data == nullptr) GTEST_SKIP() << "$PACKTRAIN_DATA names no folder with " << GetParam().name;
  const JsonlFile file(std::string(data) + "/" + GetParam().name);
  EXPECT_THAT(file.statuses, Each(IsOk()));
  const std::vector<std::size_t> nodes = file.NodeCounts(), edges = file.EdgeCounts();
  EXPECT_EQ(nodes.size(), GetParam().graphs);
  EXPECT_EQ(std::accumulate(nodes.begin(), nodes.end(), std::size_t{0}), GetParam().nodes);
  EXPECT_EQ(std::accumulate(edges.begin(), edges.end(), std::size_t{0}), GetParam().edges);
}

INSTANTIATE_TEST_SUITE_P(
    All, WholeJsonlTest,
    ::testing::Values(WholeFile{"program/great_varmisuse/dev_permissive.jsonl.gz", 2246, 235055, 390222},
                      WholeFile{"program/exprsynth_csharp/exprs-graph.0.jsonl.gz", 15, 7364, 14782}));

TEST(WholeJsonl, BothFilesOfQm9HaveTheirNumbersOfAtomsAndBonds) {
  const char* data = std::getenv("PACKTRAIN_DATA");
  if (data == nullptr) GTEST_SKIP() << "$PACKTRAIN_DATA names no folder with qm9/graphs";
  std::size_t graphs = 0, nodes = 0, edges = 0;
  for (const char* name : {"/qm9/graphs/valid.jsonl.gz", "/qm9/graphs/test.jsonl.gz"}) {
    const JsonlFile file(data + std::string(name));
    EXPECT_THAT(file.statuses, Each(IsOk()));
    graphs += file.graphs.size();
    for (const SourceGraph& graph : file.graphs) nodes += graph.n_node, edges += graph.senders.size();
  }
  EXPECT_EQ(graphs, 20000u);
  EXPECT_EQ(nodes, 361505u);
  EXPECT_EQ(edges, 747940u);
}

}  // namespace
}  // namespace packtrain::ingest
