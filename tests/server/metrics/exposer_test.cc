#include "server/metrics/exposer.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "tests/testing/http.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::metrics {
namespace {

using ::packtrain::testing::Exchange;
using ::packtrain::testing::HttpGet;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::Scrape;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<Exposer> StartOrFail() {
  auto exposer = Exposer::Start("127.0.0.1", 0);
  EXPECT_THAT(exposer, IsOk());
  return *std::move(exposer);
}

TEST(ExposerTest, ShowsWhatIsReadAtEachScrape) {
  const auto exposer = StartOrFail();
  EXPECT_THAT(HttpGet(exposer->address(), "/metrics"), StartsWith("HTTP/1.1 404"));
  ServerReading reading;
  reading.version = "1.2.3";
  reading.streams.ended["UNAVAILABLE"] = 3;
  exposer->Serve([&reading] { return reading; });
  auto samples = Scrape(exposer->address());
  EXPECT_EQ(samples.at("packtrain_build_info{version=\"1.2.3\",api=\"\",plan_version=\"0\"}"), 1);
  EXPECT_EQ(samples.at("packtrain_streams_ended_total{code=\"UNAVAILABLE\"}"), 3);
  reading.streams.ended["UNAVAILABLE"] = 4;
  EXPECT_EQ(Scrape(exposer->address()).at("packtrain_streams_ended_total{code=\"UNAVAILABLE\"}"), 4);
}

TEST(ExposerTest, BucketsAreCumulative) {
  const auto exposer = StartOrFail();
  ServerReading reading;
  for (const double value : {0.0, 0.005, 0.3, 0.95}) reading.streams.sent.all.padding_ratio.Observe(value);
  exposer->Serve([&reading] { return reading; });
  const auto samples = Scrape(exposer->address());
  EXPECT_EQ(samples.at("packtrain_padding_ratio_bucket{le=\"0\"}"), 1);
  EXPECT_EQ(samples.at("packtrain_padding_ratio_bucket{le=\"0.01\"}"), 2);
  EXPECT_EQ(samples.at("packtrain_padding_ratio_bucket{le=\"0.3\"}"), 3);
  EXPECT_EQ(samples.at("packtrain_padding_ratio_bucket{le=\"0.9\"}"), 3);
  EXPECT_EQ(samples.at("packtrain_padding_ratio_bucket{le=\"+Inf\"}"), 4);
  EXPECT_EQ(samples.at("packtrain_padding_ratio_count"), 4);
  EXPECT_DOUBLE_EQ(samples.at("packtrain_padding_ratio_sum"), 1.255);
}

TEST(ExposerTest, LabelsAreEscaped) {
  const auto exposer = StartOrFail();
  ServerReading reading;
  reading.streams.sent.batches[{"static", "a\"b\\c\nd"}] = 1;
  exposer->Serve([&reading] { return reading; });
  EXPECT_EQ(Scrape(exposer->address())
                .at("packtrain_batches_sent_total{policy=\"static\",dataset=\"a\\\"b\\\\c\\nd\"}"),
            1);
}

TEST(ExposerTest, BytesThatAreNoRequestDoNoHarm) {
  const auto exposer = StartOrFail();
  exposer->Serve([] { return ServerReading(); });
  for (const std::string& bytes :
       {std::string(), std::string("\0\xff\x16\x03\x01", 5), std::string("GET"),
        std::string("GET /metrics\r\n\r\n"), "GET /" + std::string(1 << 20, 'x') + " HTTP/1.1\r\n\r\n",
        "GET /metrics HTTP/1.1\r\n" + std::string(1 << 16, 'h') + "\r\n\r\n",
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string("GET /../../etc/passwd HTTP/1.1\r\n\r\n"),
        std::string("POST /metrics HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n")}) {
    EXPECT_THAT(Exchange(exposer->address(), bytes), Not(HasSubstr("root:")));
    EXPECT_THAT(HttpGet(exposer->address(), "/metrics"), StartsWith("HTTP/1.1 200")) << bytes.substr(0, 40);
  }
}

TEST(ExposerTest, AnAddressThatCannotBeHadIsNamedWithTheFlag) {
  const auto first = StartOrFail();
  const int taken = std::atoi(first->address().substr(first->address().rfind(':') + 1).c_str());
  EXPECT_THAT(Exposer::Start("127.0.0.1", static_cast<std::uint16_t>(taken)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr(first->address()), HasSubstr("in use"), HasSubstr("--metrics-port"))));
  EXPECT_THAT(Exposer::Start("192.0.2.1", 0),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("192.0.2.1"), HasSubstr("--metrics-port"))));
  EXPECT_THAT(Exposer::Start("no such host", 0),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("no such host"), HasSubstr("--metrics-port"))));
  EXPECT_THAT(Exposer::Start("::1", 0), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                 AllOf(HasSubstr("::1"), HasSubstr("--metrics-port"))));
}

}  // namespace
}  // namespace packtrain::metrics
