#include "client/ingest/record_reader.h"

#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/refusal.h"
#include "proto/base/status_macros.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::NextNamed;
using testing::Refused;
using testing::StatusIs;

// What cutter and parsers of a file did.
struct Counts {
  std::atomic<int> cut{0};
  std::atomic<int> parsers{0};
};

// A record is a line. One that begins with "cut" is refused here, and one that begins with "stop" is an error
// that is no refusal.
class LineCutter : public RecordCutter {
 public:
  LineCutter(std::unique_ptr<LineReader> lines, Counts* counts) : lines_(std::move(lines)), counts_(counts) {}

  absl::StatusOr<bool> Next(RawRecord* record) override {
    std::string_view line;
    ABSL_ASSIGN_OR_RETURN(const bool more, lines_->Next(&line));
    record->origin = {lines_->path(), "line", lines_->line_number(), lines_->line_number()};
    if (!more) return lines_->line_number() == 0 ? Refuse(*record, "empty_file") : false;
    ++counts_->cut;
    record->text = line;
    if (line.starts_with("stop")) return absl::UnavailableError("the disk is gone");
    return line.starts_with("cut") ? Refuse(*record, "cut") : true;
  }

 private:
  absl::StatusOr<bool> Refuse(const RawRecord& record, std::string_view reason) {
    if (refused_empty_) return false;
    refused_empty_ = reason == "empty_file";
    return RefusedAt(record.origin, Refusal(reason, "not wanted"));
  }

  const std::unique_ptr<LineReader> lines_;
  Counts* const counts_;
  bool refused_empty_ = false;
};

// The nodes of a graph are the bytes of its line, the first word is its id and all of it a label. What begins
// with "parse" is refused.
class LineParser : public RecordParser {
 public:
  explicit LineParser(Counts* counts)
      : layout_{.fields = {{.name = "byte", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_U8}},
                .record_word = "line"} {
    ++counts->parsers;
  }

  const GraphLayout& layout() const override { return layout_; }

  absl::Status Parse(const RawRecord& record, SourceGraph* graph) override {
    graph->id = record.text.substr(0, record.text.find(' '));
    if (record.text.starts_with("parse")) return Refusal("parse", "no");
    graph->Values<std::uint8_t>(0).assign(record.text.begin(), record.text.end());
    graph->n_node = static_cast<std::uint32_t>(record.text.size());
    graph->labels.push_back({"text", record.text});
    return absl::OkStatus();
  }

 private:
  const GraphLayout layout_;
};

class RecordReaderTest : public ::testing::Test {
 protected:
  std::unique_ptr<GraphReader> Open(const std::string& text, std::size_t threads) {
    auto lines = LineReader::Open(folder_.Write("lines", text), {.max_line_bytes = 1 << 24}).value();
    return NewRecordReader(
        std::make_unique<LineCutter>(std::move(lines), &counts_),
        [this] { return std::make_unique<LineParser>(&counts_); }, threads);
  }

  // For each record its number, and its text or the reason why it is refused; "end", or the error that ended
  // it.
  std::vector<std::string> Outcomes(const std::string& text, std::size_t threads) {
    const std::unique_ptr<GraphReader> reader = Open(text, threads);
    SourceGraph graph(reader->layout());
    std::vector<std::string> outcomes;
    while (true) {
      const absl::StatusOr<bool> more = reader->Next(&graph);
      if (more.ok() && !*more) break;
      outcomes.push_back(absl::StrCat(graph.record, " ", more.ok() ? TextOf(graph) : ReasonOf(more.status())));
    }
    EXPECT_FALSE(reader->Next(&graph).value());
    return outcomes;
  }

  static std::string TextOf(SourceGraph& graph) {
    const std::vector<std::uint8_t>& bytes = graph.Values<std::uint8_t>(0);
    std::string text(bytes.begin(), bytes.end());
    EXPECT_EQ(graph.n_node, text.size());
    EXPECT_EQ(graph.labels.at(0).text, text);
    return text;
  }

  testing::TempFolder folder_;
  Counts counts_;
};

constexpr std::size_t kThreads[] = {1, 2, 3, 8};

TEST_F(RecordReaderTest, RecordsComeInTheOrderOfTheFileWithAnyNumberOfThreads) {
  std::string text;
  std::vector<std::string> expected;
  for (int line = 1; line <= 20'000; ++line) {
    const std::string word = line % 7 == 0 ? "cut" : line % 11 == 0 ? "parse" : "word";
    const std::string record = absl::StrCat(word, line, " ", std::string(line * 37 % 101, 'x'));
    text += record + "\n";
    expected.push_back(absl::StrCat(line, " ", word == "word" ? record : word));
  }
  for (const std::size_t threads : kThreads) EXPECT_EQ(Outcomes(text, threads), expected) << threads;
}

TEST_F(RecordReaderTest, RecordMayBeLargerThanAChunk) {
  const std::string large(300 << 10, 'x');
  for (const std::size_t threads : kThreads) {
    EXPECT_THAT(Outcomes("a\n" + large + "\nb\n" + large + "\nc\n", threads),
                ElementsAre("1 a", "2 " + large, "3 b", "4 " + large, "5 c"));
  }
}

TEST_F(RecordReaderTest, RefusalNamesPlaceAndId) {
  const std::unique_ptr<GraphReader> reader = Open("a\nparse1 x\ncut\nb\n", 2);
  SourceGraph graph(reader->layout());
  ASSERT_TRUE(reader->Next(&graph).value());
  EXPECT_THAT(NextNamed(*reader, &graph), Refused("parse", "lines:2: line 2 (parse1): no"));
  EXPECT_EQ(graph.id, "parse1");
  EXPECT_EQ(graph.line, 2u);
  EXPECT_THAT(reader->Next(&graph), Refused("cut", "lines:3: line 3: not wanted"));
  EXPECT_EQ(graph.id, "");
  EXPECT_EQ(graph.record, 3u);
  ASSERT_TRUE(reader->Next(&graph).value());
  EXPECT_EQ(graph.id, "b");
}

TEST_F(RecordReaderTest, ErrorThatIsNoRefusalIsTheLast) {
  std::string text;
  for (int line = 0; line < 5000; ++line) text += "a line of some words\n";
  for (const std::size_t threads : kThreads) {
    const std::unique_ptr<GraphReader> reader = Open(text + "stop\nnever seen\n", threads);
    SourceGraph graph(reader->layout());
    for (int line = 0; line < 5000; ++line) ASSERT_TRUE(reader->Next(&graph).value()) << line;
    EXPECT_THAT(reader->Next(&graph), StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr("disk")));
    EXPECT_FALSE(reader->Next(&graph).value());
  }
}

TEST_F(RecordReaderTest, EmptyFileIsOneRefusal) {
  for (const std::size_t threads : kThreads) EXPECT_THAT(Outcomes("", threads), ElementsAre("0 empty_file"));
}

TEST_F(RecordReaderTest, FileOfOneChunkTakesOneParser) {
  EXPECT_THAT(Outcomes("a\nb\n", 8), ElementsAre("1 a", "2 b"));
  EXPECT_EQ(counts_.parsers, 1);
  std::string text;
  for (int line = 0; line < 10'000; ++line) text += "a line of some words\n";
  EXPECT_EQ(Outcomes(text, 8).size(), 10'000u);
  EXPECT_EQ(counts_.parsers, 1 + 8);
}

TEST_F(RecordReaderTest, ReaderMayBeDestroyedAtAnyTime) {
  std::string text;
  for (int line = 0; line < 50'000; ++line) text += "a line of some words\n";
  for (const int read : {0, 1, 5000, 50'000}) {
    const std::unique_ptr<GraphReader> reader = Open(text, 3);
    SourceGraph graph(reader->layout());
    for (int line = 0; line < read; ++line) ASSERT_TRUE(reader->Next(&graph).value()) << line;
  }
}

TEST_F(RecordReaderTest, NoMoreThanFourChunksForEachThreadAreReadAhead) {
  std::string text;
  for (int line = 0; line < 100; ++line) text += std::string(100 << 10, 'x') + "\n";  // each a chunk
  const std::unique_ptr<GraphReader> reader = Open(text, 2);
  SourceGraph graph(reader->layout());
  for (int line = 1; line <= 50; ++line) {
    ASSERT_TRUE(reader->Next(&graph).value());
    EXPECT_LE(counts_.cut, line + 2 * 4) << line;
  }
}

TEST_F(RecordReaderTest, LargeRecordsAreReadAheadByTheirBytes) {
  std::string text;
  for (int line = 0; line < 14; ++line) text += std::string(8 << 20, 'x') + "\n";
  const std::unique_ptr<GraphReader> reader = Open(text, 3);
  SourceGraph graph(reader->layout());
  for (int line = 1; line <= 14; ++line) {
    ASSERT_TRUE(reader->Next(&graph).value());
    EXPECT_LE(counts_.cut, line + 32 / 8 + 1 + 3) << line;
  }
}

}  // namespace
}  // namespace packtrain::ingest
