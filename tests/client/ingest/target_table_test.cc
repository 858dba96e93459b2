#include "client/ingest/target_table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "client/ingest/csv_reader.h"
#include "tests/client/ingest/gzip.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::IsNan;
using testing::Refused;
using testing::StatusIs;

class CsvReaderTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::vector<std::vector<std::string>>> ReadRows(std::string_view text) {
    auto csv = CsvReader::Open(folder_.Write("t.csv", text), {}).value();
    std::vector<std::vector<std::string>> rows;
    while (true) {
      std::vector<std::string> row;
      absl::StatusOr<bool> more = csv->Next(&row);
      if (!more.ok()) return more.status();
      if (!*more) return rows;
      rows.push_back(row);
    }
  }

  testing::TempFolder folder_;
};

TEST_F(CsvReaderTest, FieldsAreTrimmed) {
  EXPECT_THAT(ReadRows("a, b c ,\td\r\n1,,\n").value(),
              ElementsAre(ElementsAre("a", "b c", "d"), ElementsAre("1", "", "")));
}

TEST_F(CsvReaderTest, QuotedFieldsKeepCommasQuotesBlanksAndLineEnds) {
  EXPECT_THAT(ReadRows("\"a,b\", \"say \"\"hi\"\"\" ,\" x \"\n\"two\nlines\",2,\"\"\n").value(),
              ElementsAre(ElementsAre("a,b", "say \"hi\"", " x "), ElementsAre("two\nlines", "2", "")));
}

TEST_F(CsvReaderTest, BlankLinesAndByteOrderMarkArePassedOver) {
  EXPECT_THAT(ReadRows("\xef\xbb\xbf"
                       "a,b\n\n \n1,2")
                  .value(),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "2")));
}

TEST_F(CsvReaderTest, BrokenQuotesAreRefused) {
  EXPECT_THAT(ReadRows("a,b\n1,\"x\n2,3\n"), Refused("bad_csv", "t.csv:2"));
  EXPECT_THAT(ReadRows("a,b\n\"1\"x,2\n"), Refused("bad_csv", "after a closing quote"));
}

class TargetTableTest : public ::testing::Test {
 protected:
  absl::StatusOr<TargetTable> Read(std::string_view text, const std::string& key = "",
                                   const std::vector<std::string>& targets = {}) {
    return TargetTable::Read({folder_.Write("t.csv", text), key, targets}, {});
  }

  testing::TempFolder folder_;
};

TEST_F(CsvReaderTest, ARowOfManyLinesIsRefusedAtTheLimitOfALine) {
  const std::string path = folder_.Write("t.csv", "a\n\"" + std::string(20, '\n'));
  auto csv = CsvReader::Open(path, {.max_line_bytes = 10}).value();
  std::vector<std::string> row;
  EXPECT_TRUE(csv->Next(&row).value());
  EXPECT_THAT(csv->Next(&row), Refused("line_too_long", "t.csv:2: the row is longer than 10 bytes"));
}

TEST_F(TargetTableTest, SampleOfQm9IsRead) {
  const TargetTable table =
      TargetTable::Read({testing::TestData("qm9/qm9_sample_targets.csv.gz"), "name", {}}, {}).value();
  EXPECT_EQ(table.rows(), 2778u);
  EXPECT_THAT(table.names(), ElementsAre("binding energy", "ionization energy", "dipole magnitude", "dipole x",
                                         "dipole y", "dipole z"));
  EXPECT_THAT(table.Find("dsgdb9nsd_000004").value().values,
              ElementsAre(-0.638103811108, -0.411453, 0.0, 0.0, 0.0, 0.0));
  EXPECT_FALSE(table.Find("dsgdb9nsd_000001").has_value());
}

TEST_F(TargetTableTest, NumericColumnsAreFoundWhateverTheirPlace) {
  const TargetTable table = Read("note,a,id,b,none\nword,1,x,2,\n3,4,y,,\n", "id").value();
  EXPECT_THAT(table.names(), ElementsAre("a", "b"));
  EXPECT_THAT(table.Find("x").value().values, ElementsAre(1, 2));
  EXPECT_THAT(table.Find("y").value().values, ElementsAre(4, IsNan()));
}

TEST_F(TargetTableTest, NamedColumnsComeInTheirOrder) {
  EXPECT_THAT(Read("id,a,b,c\nx,1,2,3\n", "", {"c", "a"}).value().Find("x").value().values, ElementsAre(3, 1));
}

TEST_F(TargetTableTest, MissingValuesHaveSeveralSpellings) {
  EXPECT_THAT(
      Read("id,a,b,c,d,e\nx,,nan,N/A,None,-\n", "", {"a", "b", "c", "d", "e"}).value().Find("x")->values,
      ElementsAre(IsNan(), IsNan(), IsNan(), IsNan(), IsNan()));
}

TEST_F(TargetTableTest, AnOddCellAmongNumbersRefusesItsRowAlone) {
  const TargetTable table =
      Read("id,energy,gap\nw,-76.4,1\nx,\"-76,417\",2\ny,-76.417 Ha,3\nz,-76.5,inf\nv,-76.6,5\n").value();
  EXPECT_THAT(table.names(), ElementsAre("energy", "gap"));
  EXPECT_THAT(table.Check(table.Find("w").value()), testing::IsOk());
  EXPECT_THAT(table.Check(table.Find("x").value()),
              Refused("bad_target", "t.csv:3: '-76,417' in column 'energy' is not a number"));
  EXPECT_THAT(table.Check(table.Find("y").value()), Refused("bad_target", "t.csv:4: '-76.417 Ha' in column"));
  EXPECT_THAT(table.Check(table.Find("z").value()), Refused("not_finite", "t.csv:5: "));
}

TEST_F(TargetTableTest, ColumnsWithoutMoreNumbersThanWordsAreNotUsed) {
  const TargetTable table = Read("id,half,gap,none\nw,1,1,-\nx,word,2,\n").value();
  EXPECT_THAT(table.names(), ElementsAre("gap"));
  ASSERT_EQ(table.columns().size(), 3u);
  EXPECT_EQ(table.columns()[0].name, "gap");
  EXPECT_EQ(table.columns()[0].reason, "");
  EXPECT_EQ(table.columns()[1].reason, "text");
  EXPECT_EQ(table.columns()[1].first_no_number, folder_.PathOf("t.csv") + ":3: 'word'");
  EXPECT_EQ(table.columns()[2].reason, "empty");
  using enum LabelText::Kind;
  EXPECT_THAT(table.Find("w")->cells, ElementsAre(kNumber, kNumber, kMissing));
  EXPECT_THAT(table.Find("x")->cells, ElementsAre(kNumber, kText, kMissing));
}

TEST_F(TargetTableTest, TruthsAreNumbersAndArraysAreNone) {
  const TargetTable table = Read("id,stable,dipole\nw,True,1 2 3\nx,False,[1 2 3]\n").value();
  EXPECT_THAT(table.names(), ElementsAre("stable"));
  EXPECT_THAT(table.Find("w")->values, ElementsAre(1));
  EXPECT_THAT(table.Find("x")->values, ElementsAre(0));
  EXPECT_EQ(table.columns()[1].reason, "array");
}

TEST_F(TargetTableTest, ATableWithoutAHeaderIsRefused) {
  EXPECT_THAT(Read("w,1.5,2\nx,3,4\n"),
              Refused("no_header", "t.csv:1: the table begins with values, 'w,1.5,2'"));
  EXPECT_THAT(Read("\nw,CCO,1.5,\nx,CC,3,4\n"), Refused("no_header", "t.csv:2: "));
  EXPECT_THAT(Read("id,e\nx,1\n"), testing::IsOk());
  // Columns that are numbered are named where one of them is asked for.
  EXPECT_THAT(Read("id,0,1\nx,1,2\n"), Refused("no_header", "--key"));
  EXPECT_THAT(Read("id,0,1\nx,1,2\n", "id")->names(), ElementsAre("0", "1"));
  EXPECT_THAT(Read("id,0,1\nx,1,2\n", "", {"1"})->names(), ElementsAre("1"));
}

TEST_F(TargetTableTest, KeyIsTheFirstColumnUnlessNamed) {
  EXPECT_TRUE(Read("a,b\n1,2\n").value().Find("1").has_value());
  EXPECT_TRUE(Read("a,b\n1,2\n", "b").value().Find("2").has_value());
}

TEST_F(TargetTableTest, GzipIsRead) {
  EXPECT_EQ(TargetTable::Read({folder_.Write("t.csv", Gzip("id,a\nx,1\n")), "", {}}, {}).value().rows(), 1u);
}

TEST_F(TargetTableTest, BadTablesAreRefused) {
  EXPECT_THAT(Read(""), Refused("empty_file", "t.csv"));
  EXPECT_THAT(Read("id,a\nx,1\n", "name"), Refused("no_column", "no column 'name' (--key); there are: id, a"));
  EXPECT_THAT(Read("id,a\nx,1\n", "", {"gap"}), Refused("no_column", "no column 'gap' (--targets)"));
  EXPECT_THAT(Read("id,a,a\nx,1,2\n", "", {"a"}), Refused("no_column", "two columns"));
  EXPECT_THAT(Read("id,a,a\nx,1,2\n"), Refused("no_column", "two columns of numbers are called 'a'"));
  EXPECT_THAT(Read("id,a,,\nx,1,,\n").value().names(), ElementsAre("a"));
  EXPECT_THAT(Read("id,a\nx,1\nid,a\ny,2\n"),
              Refused("second_header", "t.csv:3: the header comes a second time"));
  EXPECT_THAT(Read("id,a\nx,word\n"), Refused("no_targets", "no column of numbers beside 'id'"));
  EXPECT_THAT(Read("id,a\nx,1\n\ny\n"), Refused("ragged_row", "t.csv:4: the row has 1 fields, the header 2"));
  EXPECT_THAT(Read("id,a\nx,1\ny,2\nx,3\n"),
              Refused("duplicate_key", "t.csv:4: 'x' was there before, in line 2"));
  const TargetTable named = Read("id,a\nx,word\n", "", {"a"}).value();
  EXPECT_THAT(named.Check(named.Find("x").value()), Refused("bad_target", "t.csv:2: 'word' in column 'a'"));
}

TEST_F(TargetTableTest, MissingFileIsNamed) {
  EXPECT_THAT(TargetTable::Read({folder_.PathOf("none.csv"), "", {}}, {}),
              StatusIs(absl::StatusCode::kNotFound, ::testing::HasSubstr("none.csv")));
}

}  // namespace
}  // namespace packtrain::ingest
