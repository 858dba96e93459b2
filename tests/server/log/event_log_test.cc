#include "server/log/event_log.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace packtrain::log {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class EventLogTest : public ::testing::Test {
 protected:
  ~EventLogTest() override { log::SetUp({}); }

  std::string Logged(const Options& options, std::string_view event, std::initializer_list<Field> fields) {
    std::ostringstream out;
    log::SetUp(options, out);
    Log(Level::kInfo, event, fields);
    return out.str();
  }
};

TEST_F(EventLogTest, ALineHasTimeLevelEventAndFields) {
  EXPECT_THAT(Logged({}, "sealed", {{"dataset", "qm9@1"}, {"graphs", std::uint64_t{7}}, {"seconds", 0.5}}),
              MatchesRegex("time=[-0-9]+T[:0-9]+\\.[0-9][0-9][0-9][-+][0-9][0-9]:[0-9][0-9] level=info "
                           "event=sealed dataset=qm9@1 graphs=7 seconds=0.5\n"));
}

TEST_F(EventLogTest, AJsonLineIsAnObject) {
  const auto line = nlohmann::json::parse(
      Logged({.format = Format::kJson}, "sealed", {{"dataset", "a \"b\""}, {"graphs", std::uint64_t{7}}}));
  EXPECT_EQ(line.at("level"), "info");
  EXPECT_EQ(line.at("event"), "sealed");
  EXPECT_EQ(line.at("dataset"), "a \"b\"");
  EXPECT_EQ(line.at("graphs"), 7);
  EXPECT_TRUE(line.contains("time"));
}

TEST_F(EventLogTest, NoValueCanFeignAFieldOrALine) {
  const std::string line =
      Logged({}, "failed", {{"message", "x\nlevel=error event=\"y\" \x1b[31m\xc2\x9b {} %v \xff"}});
  EXPECT_THAT(line, EndsWith("message=\"x\\nlevel=error event=\\\"y\\\" \\u001b[31m\\u009b {} %v \\ufffd\"\n"));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  for (const char* value : {"", "a b", "a=b", "a\\b"}) {
    EXPECT_THAT(Logged({}, "failed", {{"message", value}}), AllOf(HasSubstr("message=\""), EndsWith("\"\n")));
  }
}

TEST_F(EventLogTest, JsonLinesHoldAnyBytes) {
  const auto line =
      nlohmann::json::parse(Logged({.format = Format::kJson}, "failed", {{"message", "\xff\n\x01 %v {}"}}));
  EXPECT_EQ(line.at("message"), "\xef\xbf\xbd\n\x01 %v {}");
}

TEST_F(EventLogTest, WhatIsBelowTheLevelIsNotLogged) {
  std::ostringstream out;
  log::SetUp({.least = Level::kWarn}, out);
  Log(Level::kInfo, "fine", {});
  Log(Level::kWarn, "odd", {});
  Log(Level::kError, "bad", {});
  EXPECT_THAT(out.str(), AllOf(Not(HasSubstr("fine")), HasSubstr("level=warning event=odd\n"),
                               HasSubstr("level=error event=bad\n")));
}

}  // namespace
}  // namespace packtrain::log
