// A plain HTTP client, and what it scrapes.
#ifndef PACKTRAIN_TESTS_TESTING_HTTP_H_
#define PACKTRAIN_TESTS_TESTING_HTTP_H_

#include <map>
#include <string>

namespace packtrain::testing {

// Sends bytes to HOST:PORT, HOST a number of IPv4, and returns what came until the other side closed; empty
// where it could not be reached.
std::string Exchange(const std::string& address, const std::string& bytes);

// The whole answer to GET, headers included.
std::string HttpGet(const std::string& address, const std::string& path);

// Samples of a scrape in Prometheus' text format: values by name and labels as they are written, such as
// `up{job="a"}`.
std::map<std::string, double> Scrape(const std::string& address);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_HTTP_H_
