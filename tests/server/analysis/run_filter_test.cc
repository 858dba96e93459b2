#include "server/analysis/run_filter.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/server/analysis/reported_run.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::analysis {
namespace {

using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

v1::Run TestRun() {
  v1::Run run;
  run.set_run("20231114-221320-abcd");
  run.set_state(v1::RUN_STATE_DONE);
  run.set_steps(50);
  *run.mutable_description() = SampleDescription();
  v1::RunDescription& description = *run.mutable_description();
  description.set_dataset("qm9@7");
  description.set_model_seed(3);
  description.mutable_spec()->set_seed(4);
  description.mutable_labels()->insert({"node", "rack 7"});
  description.mutable_labels()->insert({"batch", "9"});
  description.mutable_labels()->insert({"torch", "2.10"});
  description.mutable_labels()->insert({"loss", "nan"});
  description.mutable_labels()->insert({"limit", "inf"});
  description.mutable_labels()->insert({"id", "007"});
  description.mutable_settings()->set_threads(8);
  description.mutable_settings()->mutable_other()->insert({"cutoff", "5.0"});
  return run;
}

bool Matches(const std::string& where) {
  const absl::StatusOr<RunFilter> filter = RunFilter::Parse(where);
  EXPECT_TRUE(filter.ok()) << filter.status();
  return filter.ok() && filter->Matches(TestRun());
}

TEST(RunFilter, BlankTextTakesEveryRun) {
  EXPECT_TRUE(Matches(""));
  EXPECT_TRUE(Matches(" \t\n"));
}

TEST(RunFilter, EveryKeyReadsItsField) {
  EXPECT_TRUE(Matches("run = 20231114-221320-abcd"));
  EXPECT_TRUE(Matches("state = done"));
  EXPECT_TRUE(Matches("model=schnet"));
  EXPECT_TRUE(Matches("target = energy"));
  EXPECT_TRUE(Matches("dataset = qm9"));
  EXPECT_TRUE(Matches("version = 7"));
  EXPECT_TRUE(Matches("policy = static-multiple"));
  EXPECT_TRUE(Matches("batch_graphs = 32"));
  EXPECT_TRUE(Matches("precision = f32"));
  EXPECT_TRUE(Matches("engine = eager"));
  EXPECT_TRUE(Matches("world_size = 1"));
  EXPECT_TRUE(Matches("seed = 4"));
  EXPECT_TRUE(Matches("model_seed = 3"));
  EXPECT_TRUE(Matches("steps = 50"));
  EXPECT_TRUE(Matches("hardware = Xeon"));
  EXPECT_TRUE(Matches("input = served"));
  EXPECT_TRUE(Matches("order = full and drop_last = no"));
  EXPECT_TRUE(Matches("label.node = 'rack 7'"));
}

TEST(RunFilter, AndBindsTighterThanOrAndNotTightest) {
  EXPECT_TRUE(Matches("model = schnet or model = painn and state = running"));
  EXPECT_FALSE(Matches("(model = schnet or model = painn) and state = running"));
  EXPECT_TRUE(Matches("not state = running and model = schnet"));
  EXPECT_FALSE(Matches("not (state = running or model = schnet)"));
  EXPECT_TRUE(Matches("not not model = schnet"));
}

TEST(RunFilter, NumbersCompareAsNumbers) {
  EXPECT_TRUE(Matches("steps > 9"));
  EXPECT_TRUE(Matches("steps >= 50.0"));
  EXPECT_TRUE(Matches("steps <= 5e1"));
  EXPECT_FALSE(Matches("steps < 50"));
  EXPECT_TRUE(Matches("steps != 51"));
  EXPECT_TRUE(Matches("label.batch < 10"));
  EXPECT_TRUE(Matches("threads = 8.0"));
  EXPECT_TRUE(Matches("batch_graphs = 032"));
}

TEST(RunFilter, WholeNumbersCompareToTheLastDigit) {
  v1::Run run = TestRun();
  run.mutable_description()->set_parameters(9'007'199'254'740'993);
  EXPECT_FALSE(RunFilter::Parse("parameters = 9007199254740992")->Matches(run));
  EXPECT_TRUE(RunFilter::Parse("parameters > 9007199254740992")->Matches(run));
}

TEST(RunFilter, LabelsAndVersionsAreEqualAsText) {
  EXPECT_FALSE(Matches("label.torch = 2.1"));
  EXPECT_TRUE(Matches("label.torch != 2.1"));
  EXPECT_TRUE(Matches("label.torch = 2.10"));
  EXPECT_TRUE(Matches("label.loss = nan"));
  EXPECT_FALSE(Matches("label.loss != nan"));
  EXPECT_FALSE(Matches("label.limit = 1e400"));
  EXPECT_TRUE(Matches("label.limit = inf"));
  EXPECT_FALSE(Matches("label.id = 7"));
  EXPECT_TRUE(Matches("label.id = 007"));
  EXPECT_FALSE(Matches("version = 7.0"));
  EXPECT_FALSE(Matches("version = 07"));
  EXPECT_FALSE(Matches("other.cutoff = 5"));
}

TEST(RunFilter, TheOrderOfLabelsIsThatOfNumbersOnBothSides) {
  EXPECT_TRUE(Matches("label.torch < 2.2"));
  EXPECT_TRUE(Matches("label.id >= 7"));
  EXPECT_TRUE(Matches("other.cutoff <= 5"));
  for (const char* op : {"<", "<=", ">", ">="}) {
    EXPECT_FALSE(Matches(std::string("label.node ") + op + " 5")) << op;
    EXPECT_FALSE(Matches(std::string("label.loss ") + op + " 5")) << op;
    EXPECT_FALSE(Matches(std::string("label.limit ") + op + " 5")) << op;
  }
}

TEST(RunFilter, AnythingElseComparesAsText) {
  EXPECT_TRUE(Matches("run > 20231114"));
  EXPECT_TRUE(Matches("run < 20231114-23"));
  EXPECT_TRUE(Matches("model >= schnet"));
  EXPECT_TRUE(Matches("model <= schnet"));
  EXPECT_FALSE(Matches("model < painn"));
}

TEST(RunFilter, RegularExpressionsSearch) {
  EXPECT_TRUE(Matches("model ~ ^sch"));
  EXPECT_TRUE(Matches("label.node ~ 'rack (7|8)'"));
  EXPECT_FALSE(Matches("model ~ ^net"));
}

TEST(RunFilter, AMissingLabelIsUnequalToEverything) {
  EXPECT_FALSE(Matches("label.none = x"));
  EXPECT_TRUE(Matches("label.none != x"));
  EXPECT_FALSE(Matches("label.none < 5"));
  EXPECT_FALSE(Matches("label.none ~ .*"));
}

TEST(RunFilter, QuotesHoldAnyText) {
  v1::Run run = TestRun();
  run.mutable_description()->mutable_labels()->insert({"odd", "a 'b' \\ (and)"});
  const absl::StatusOr<RunFilter> filter = RunFilter::Parse(R"(label.odd = 'a \'b\' \\ (and)')");
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_TRUE(filter->Matches(run));
  EXPECT_FALSE(Matches("model = \"or\""));
}

void ExpectError(const std::string& where, const std::string& message) {
  EXPECT_THAT(RunFilter::Parse(where), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)))
      << where;
}

TEST(RunFilter, ErrorsNameTheColumn) {
  ExpectError("model", "column 6: expected one of = != < <= > >= ~ after model");
  ExpectError("model =", "column 8: expected a value after =");
  ExpectError("modell = schnet", "column 1: unknown key modell; known are balance, batch_graphs, ");
  ExpectError("label. = x", "column 1: unknown key label.");
  ExpectError("model = schnet state = done", "column 16: expected and, or, or the end, found state");
  ExpectError(
      "target = binding energy",
      "column 18: expected and, or, or the end, found energy; a value that has spaces or brackets needs "
      "quotes, as in 'binding ...'");
  ExpectError("target = 'a' b", "column 14: expected and, or, or the end, found b");
  ExpectError("(model = schnet", "column 1: the bracket is not closed");
  ExpectError("model = schnet)", "column 15: expected and");
  ExpectError("model = 'schnet", "column 9: the quote is not closed");
  ExpectError("model ! schnet", "column 7: unknown operator !");
  ExpectError("model = schnet and", "column 19: expected a key");
  ExpectError("= schnet", "column 1: expected a key");
  ExpectError("not", "column 4: expected a key");
  ExpectError("model ~ '('", "column 9: bad regular expression");
  ExpectError("()", "column 2: expected a key");
  ExpectError("model == schnet", "column 8: expected a value");
  ExpectError("label.node < rack", "column 14: label.node < takes a finite number, and rack is none");
  ExpectError("label.loss >= nan", "column 15: label.loss >= takes a finite number, and nan is none");
  ExpectError("steps = many", "column 9: steps = takes a finite number, and many is none");
  ExpectError("steps < 1e400", "column 9: steps < takes a finite number, and 1e400 is none");
  ExpectError("learning_rate != inf", "column 18: learning_rate != takes a finite number");
}

TEST(RunFilter, DepthAndLengthAreLimited) {
  const auto nested = [](int depth) {
    return std::string(depth, '(').append("steps > 1").append(std::string(depth, ')'));
  };
  EXPECT_TRUE(Matches(nested(kMaxFilterDepth - 1)));
  ExpectError(nested(kMaxFilterDepth), "nested deeper than 64");
  std::string negations;
  for (int i = 0; i < 100; ++i) negations.append("not ");
  ExpectError(negations, "nested deeper than 64");
  ExpectError(std::string(kMaxFilterBytes + 1, ' '), "4097 bytes, at most 4096");
}

TEST(RunFilter, AHostileExpressionIsRefusedOrFast) {
  ExpectError("model ~ '((((a{1000}){1000}){1000}){1000})'", "bad regular expression");
  v1::Run run = TestRun();
  run.mutable_description()->set_model(std::string(1000, 'a'));
  const absl::StatusOr<RunFilter> filter = RunFilter::Parse("model ~ '^(a+)+$x'");
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_FALSE(filter->Matches(run));
}

}  // namespace
}  // namespace packtrain::analysis
