// The event log of a server: one line on stderr for each event, with a fixed name and named fields.
//
//   log::Log(log::Level::kInfo, "dataset_reclaimed", {{"dataset", "qm9@989018c25482dc36"}});
//
// writes
//
//   time=2026-11-28T02:41:23.124+00:00 level=info event=dataset_reclaimed dataset=qm9@989018c25482dc36
//
// deploy/OPERATIONS.md lists all events.
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
  kLogfmt,  // time=.. level=.. event=.. KEY=VALUE; a value that is not a plain word is quoted as in JSON
  kJson,    // {"time":"..","level":"..","event":"..","KEY":VALUE}
};

struct Options {
  Format format = Format::kLogfmt;
  Level least = Level::kInfo;
};

// A key and a value, both borrowed for one call of Log.
class Field {
 public:
  Field(std::string_view key, std::string_view value) : key_(key), value_(value) {}
  Field(std::string_view key, const std::string& value) : key_(key), value_(std::string_view(value)) {}
  Field(std::string_view key, const char* value) : key_(key), value_(std::string_view(value)) {}
  Field(std::string_view key, std::uint64_t value) : key_(key), value_(value) {}
  Field(std::string_view key, double value) : key_(key), value_(value) {}

  std::string_view key() const { return key_; }
  // The value as it is written in a line.
  std::string Text(Format format) const;

 private:
  std::string_view key_;
  std::variant<std::string_view, std::uint64_t, double> value_;
};

// Sets the form and the lowest level of this process's lines, which go to stderr. To be called before any
// thread logs; until then, lines of level info and above are written in logfmt.
void SetUp(const Options& options);
// The same, but lines go to `out`, which outlives the process's last line or the next SetUp.
void SetUp(const Options& options, std::ostream& out);

// Writes a line. Any thread. Keys are constants in snake_case; values may be any bytes: control characters and
// what is not ASCII come out escaped, so that no value can forge a line or a field.
void Log(Level level, std::string_view event, std::initializer_list<Field> fields);

}  // namespace packtrain::log

#endif  // PACKTRAIN_SERVER_LOG_EVENT_LOG_H_
