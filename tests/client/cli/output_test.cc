#include "client/cli/output.h"

#include <gmock/gmock.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "proto/base/error_details.h"
#include "proto/base/escape_controls.h"

namespace packtrain::cli {
namespace {

const Table kTable = {{"name", "graphs", "fill"}, {{"qm9", "128,744", "0.91"}, {"a, \"b\"", "7", "-"}}};

class OutputTest : public ::testing::Test {
 protected:
  Output Make(OutputFormat format) { return Output(out_, err_, format); }

  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(OutputTest, ColumnsOfNumbersStandToTheRight) {
  EXPECT_EQ(FormatText(kTable),
            "name     graphs  fill\n"
            "qm9     128,744  0.91\n"
            "a, \"b\"        7     -\n");
}

TEST_F(OutputTest, ColumnsAreAlignedByWhatATerminalShows) {
  EXPECT_EQ(FormatText({{"name", "split"},
                        {{"qm9", "all"},
                         {"μόρια", "all"},
                         {"分子数据", "all"},
                         {"e\u0301te\u0301", "all"},  // accents that combine
                         {"\xff\xfe", "all"},         // no UTF-8
                         {"naïve", "all"}}}),
            "name      split\n"
            "qm9       all\n"
            "μόρια     all\n"
            "分子数据  all\n"
            "e\u0301te\u0301       all\n"
            "\xff\xfe        all\n"
            "naïve     all\n");
}

TEST_F(OutputTest, AColumnIsAsWideAsItsHeadShows) {
  EXPECT_EQ(FormatText({{"名", "β"}, {{"a", "1"}, {"b", "22"}}}), "名   β\na    1\nb   22\n");
}

TEST_F(OutputTest, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(FormatCsv(kTable), "name,graphs,fill\nqm9,\"128,744\",0.91\n\"a, \"\"b\"\"\",7,-\n");
}

TEST_F(OutputTest, NumbersAreShort) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(40939402), "40,939,402");
  EXPECT_EQ(FormatCount(-1234), "-1,234");
  EXPECT_EQ(FormatNumber(0.123456), "0.1235");
  EXPECT_EQ(FormatNumber(9999.6), "1e+04");
  EXPECT_EQ(FormatNumber(-91170.4), "-91170");
  EXPECT_EQ(FormatNumber(1e15), "1e+15");
  EXPECT_EQ(FormatExact(0.1), "0.1");
  EXPECT_EQ(FormatExact(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(FormatExact(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(FormatBytes(100), "100 B");
  EXPECT_EQ(FormatBytes(5 << 20), "5.0 MiB");
}

TEST_F(OutputTest, EachFormatPrintsItsOwn) {
  const Json json = {{"b", 1}, {"a", 2}};
  Make(OutputFormat::kText).Print(json, kTable, "after\n");
  EXPECT_EQ(out_.str(), FormatText(kTable) + "after\n");
  out_.str("");
  Make(OutputFormat::kCsv).Print(json, kTable, "after\n");
  EXPECT_EQ(out_.str(), FormatCsv(kTable));
  out_.str("");
  Make(OutputFormat::kJson).Print(json, kTable, "after\n");
  EXPECT_EQ(out_.str(), "{\"b\":1,\"a\":2}\n");
}

TEST_F(OutputTest, NanAndInfinitiesStayApartAndBadTextIsReplaced) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Make(OutputFormat::kJson)
      .Print({{"x", {{"list", {nan, kInfinity, -kInfinity, 1.5, nullptr}}}}, {"y", "\xff"}}, "");
  EXPECT_EQ(out_.str(),
            "{\"x\":{\"list\":[\"NaN\",\"Infinity\",\"-Infinity\",1.5,null]},\"y\":\"\xef\xbf\xbd\"}\n");
}

TEST_F(OutputTest, ControlCharactersAreSpeltOutForPeopleOnly) {
  const std::string wild = "a\x1b[2J\n\t\x7f\xc2\x9b\xc3\xa9";
  const std::string tame = "a\\x1b[2J\\n\\x09\\x7f\\x9b\xc3\xa9";
  EXPECT_EQ(base::EscapeControls(wild), tame);
  EXPECT_EQ(FormatText({{"label"}, {{wild}}}), "label\n" + tame + "\n");
  EXPECT_EQ(FormatCsv({{"label"}, {{wild}}}), "label\n\"" + wild + "\"\n");
  Make(OutputFormat::kText).Print(Json(), "x\x1b\ny\n");
  EXPECT_EQ(out_.str(), "x\\x1b\ny\n");
  Make(OutputFormat::kText).PrintError(absl::NotFoundError(wild));
  EXPECT_EQ(err_.str(), "packtrain: " + tame + "\n");
  out_.str("");
  Make(OutputFormat::kJson).Print(Json(wild), "");
  EXPECT_EQ(Json::parse(out_.str()), wild);
}

TEST_F(OutputTest, DataThatCannotBeWrittenIsAFailureAndSaidOnTheOtherStream) {
  EXPECT_TRUE(Make(OutputFormat::kJson).Written().ok());
  std::ofstream full("/dev/full");
  Output output(full, err_, OutputFormat::kJson);
  output.Print(Json(1), "");
  EXPECT_EQ(output.Written().code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(output.Write("more").ok());
  output.PrintError(output.Written());
  EXPECT_EQ(err_.str(), "packtrain: standard output could not be written\n");
}

TEST_F(OutputTest, ErrorsGoWhereTheyAreExpected) {
  const absl::Status status = absl::NotFoundError("no data set 'x'");
  Make(OutputFormat::kText).PrintError(status);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "packtrain: no data set 'x'\n");
  err_.str("");
  Make(OutputFormat::kJson).PrintError(status);
  EXPECT_EQ(out_.str(),
            "{\"error\":{\"code\":\"NOT_FOUND\",\"message\":\"no data set 'x'\",\"details\":[]}}\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(OutputTest, ReasonAndFieldAreDetails) {
  const absl::Status status =
      base::WithField(base::WithReason(absl::InvalidArgumentError("bad"), "BAD_RANK", {{"rank", "5"}}), "rank");
  Make(OutputFormat::kJson).PrintError(status);
  const Json details = Json::parse(out_.str())["error"]["details"];
  const Json info = {{"type", base::kErrorInfoUrl},
                     {"reason", "BAD_RANK"},
                     {"domain", "packtrain"},
                     {"metadata", {{"rank", "5"}}}};
  const Json field = {{"field", "rank"}, {"description", "bad"}};
  EXPECT_THAT(details, ::testing::UnorderedElementsAre(info, Json{{"type", base::kBadRequestUrl},
                                                                  {"field_violations", Json::array({field})}}));
}

TEST_F(OutputTest, PayloadsAreDetails) {
  absl::Status status = absl::InvalidArgumentError("bad");
  status.SetPayload("reason", absl::Cord("not_finite"));
  Make(OutputFormat::kJson).PrintError(status);
  EXPECT_THAT(out_.str(), ::testing::HasSubstr(R"("details":[{"type":"reason","value":"not_finite"}])"));
}

}  // namespace
}  // namespace packtrain::cli
