// What a command prints: one line of JSON, CSV, or text for people, as the command line asks.
//
// An action makes both forms of its result, and the output prints the one that is wanted.
//
//   output.Print(MessageToJson(plan, PlanRules()), ToText(plan));  // text or JSON
//   output.Print(list, Table{{"name", "graphs"}, rows});           // CSV, too
#ifndef PACKTRAIN_CLIENT_CLI_OUTPUT_H_
#define PACKTRAIN_CLIENT_CLI_OUTPUT_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace packtrain::cli {

// Keys keep the order in which they are set.
using Json = nlohmann::ordered_json;

// Cells are text; rows are as long as `columns`.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

// Columns padded to their widest cell, columns of numbers to the right; EscapeControls on every cell.
std::string FormatText(const Table& table);
// RFC 4180 with "\n" line ends; the header comes first, unless the rows go on a table that was begun.
std::string FormatCsv(const Table& table, bool header = true);
// 1234567.8 as "1,234,568".
std::string FormatCount(double value);
// With `digits` significant digits; all digits before the point below 1e15.
std::string FormatNumber(double value, int digits = 4);
// As few digits as read back as the same double; "nan", "inf", "-inf".
std::string FormatExact(double value);
// Milliseconds since 1970 as "2025-01-31T12:00:00Z".
std::string FormatTime(std::int64_t ms);
// 5242880 as "5.0 MiB".
std::string FormatBytes(double bytes);

// The keys of an object, in order.
std::vector<std::string> KeysOf(const Json& object);
// A row for each object of `list`, a column for each of `keys`, which every object has. Texts are taken as they
// are, null becomes an empty cell and `format_real` writes numbers that are not whole.
Table TableOf(const Json& list, const std::vector<std::string>& keys,
              const std::function<std::string(double)>& format_real = FormatExact);

// Without the columns whose cells are empty in every row; a table without rows keeps all. For people: programs
// count on every column.
Table WithoutEmptyColumns(const Table& table);

enum class OutputFormat { kText, kJson, kCsv };

// Data on one stream, messages on another. Used by one thread.
class Output {
 public:
  // Streams are borrowed for the life of the object.
  Output(std::ostream& out, std::ostream& err, OutputFormat format);

  OutputFormat format() const { return format_; }

  // The result of a command, as JSON or as text; there control characters but the ends of lines are escaped.
  void Print(const Json& json, std::string_view text);
  // The result of a command that is a table; `text_after` follows the table for people.
  void Print(const Json& json, const Table& table, std::string_view text_after = "");
  // A piece of a result that is too long to be held, as it stands. As Written.
  absl::Status Write(std::string_view text);
  // INTERNAL: some of the data could not be written, as on a full disk.
  absl::Status Written() const;
  // A message for people, a line of its own on the messages' stream; also with JSON.
  void Note(std::string_view text);
  // A failure: {"error":{"code","message","details"}} with JSON where that can be written, else a message.
  void PrintError(const absl::Status& status);

  // The messages' stream, for progress.
  std::ostream& messages() { return err_; }

 private:
  std::ostream& out_;
  std::ostream& err_;
  OutputFormat format_;
};

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_OUTPUT_H_
