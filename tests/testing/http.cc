#include "tests/testing/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <sstream>

namespace packtrain::testing {
namespace {

int Connect(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1)));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &name.sin_addr);
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // A connection that failed answers nothing.
  (void)connect(connection, reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  return connection;
}

}  // namespace

std::string Exchange(const std::string& address, const std::string& bytes) {
  const int connection = Connect(address);
  send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  shutdown(connection, SHUT_WR);
  std::string answer;
  std::array<char, 4096> buffer;
  for (ssize_t count = 0; (count = recv(connection, buffer.data(), buffer.size(), 0)) > 0;) {
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(connection);
  return answer;
}

std::string HttpGet(const std::string& address, const std::string& path) {
  return Exchange(address, "GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
}

std::map<std::string, double> Scrape(const std::string& address) {
  std::istringstream lines(HttpGet(address, "/metrics"));
  std::map<std::string, double> samples;
  bool body = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "\r") body = true;
    const std::size_t space = line.rfind(' ');
    if (!body || line.starts_with('#') || space == std::string::npos) continue;
    samples[line.substr(0, space)] = std::strtod(line.c_str() + space, nullptr);
  }
  return samples;
}

}  // namespace packtrain::testing
