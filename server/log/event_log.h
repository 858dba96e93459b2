// What a server tells its operator: one line an event, of a fixed name and named fields, on stderr.
#ifndef PACKTRAIN_SERVER_LOG_EVENT_LOG_H_
#define PACKTRAIN_SERVER_LOG_EVENT_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

namespace packtrain::log {

enum class Level : std::uint8_t { kDebug, kInfo, kWarn, kError };
enum class Format : std::uint8_t {
  kLogfmt,  // time=.. level=.. event=.. KEY=VALUE; a value that is no plain word stands in quotes, as in JSON
  kJson,    // {"time":"..","level":"..","event":"..","KEY":VALUE}
};

struct Options {
  Format format = Format::kLogfmt;
  Level least = Level::kInfo;
};

// Owns nothing: lives for one call.
class Field {
 public:
  Field(std::string_view key, std::string_view value) : key_(key), value_(value) {}
  Field(std::string_view key, const std::string& value) : key_(key), value_(std::string_view(value)) {}
  Field(std::string_view key, const char* value) : key_(key), value_(std::string_view(value)) {}
  Field(std::string_view key, std::uint64_t value) : key_(key), value_(value) {}
  Field(std::string_view key, double value) : key_(key), value_(value) {}

  std::string_view key() const { return key_; }
  // As it stands in a line.
  std::string Text(Format format) const;

 private:
  std::string_view key_;
  std::variant<std::string_view, std::uint64_t, double> value_;
};

// Where this process's lines go. Before the first thread that logs; until then lines of level info and above go
// to stderr, in logfmt.
void SetUp(const Options& options);
// The same into `out`, which outlives the process's last line or the next SetUp.
void SetUp(const Options& options, std::ostream& out);

// Writes a line. Any thread. Keys are constants in snake_case; values may be any bytes: control characters and
// what is not ASCII come out escaped, so that nothing can feign a line or a field.
void Log(Level level, std::string_view event, std::initializer_list<Field> fields);

}  // namespace packtrain::log

#endif  // PACKTRAIN_SERVER_LOG_EVENT_LOG_H_
