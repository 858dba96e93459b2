#include "client/cli/output.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <ostream>

#include "absl/strings/cord.h"
#include "client/cli/message_json.h"
#include "google/rpc/error_details.pb.h"
#include "proto/base/error_details.h"
#include "proto/base/escape_controls.h"
#include "proto/base/json_text.h"

namespace packtrain::cli {
namespace {

constexpr double kFirstWithExponent = 1e15;

Table EscapeCells(const Table& table) {
  Table escaped = table;
  for (std::string& column : escaped.columns) column = base::EscapeControls(column);
  for (std::vector<std::string>& row : escaped.rows) {
    for (std::string& cell : row) cell = base::EscapeControls(cell);
  }
  return escaped;
}

bool LooksNumeric(std::string_view cell) {
  if (cell.empty() || cell == "-") return true;
  const char last = cell.back();
  const std::string_view body = last == '%' ? cell.substr(0, cell.size() - 1) : cell;
  return body.find_first_not_of("0123456789+-.,e") == std::string_view::npos;
}

bool IsNumericColumn(const Table& table, std::size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(),
                     [column](const std::vector<std::string>& row) { return LooksNumeric(row[column]); });
}

// The columns of a terminal that a text takes: two for a Chinese character, none for an accent that combines
// with the letter before it. What is not UTF-8 takes one a byte.
std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t taken = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                    static_cast<utf8proc_ssize_t>(text.size()), &character);
    width += taken > 0 ? static_cast<std::size_t>(utf8proc_charwidth(character)) : 1;
    text.remove_prefix(taken > 0 ? static_cast<std::size_t>(taken) : 1);
  }
  return width;
}

struct ColumnLayout {
  std::size_t width;
  bool right;
};

std::vector<ColumnLayout> LayOut(const Table& table) {
  std::vector<ColumnLayout> layout;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::size_t width = DisplayWidth(table.columns[column]);
    for (const std::vector<std::string>& row : table.rows) width = std::max(width, DisplayWidth(row[column]));
    layout.push_back({width, IsNumericColumn(table, column)});
  }
  return layout;
}

void AppendRow(const std::vector<std::string>& cells, const std::vector<ColumnLayout>& layout,
               std::string* text) {
  std::string line;
  for (std::size_t column = 0; column < cells.size(); ++column) {
    if (column > 0) line += "  ";
    const std::string padding(layout[column].width - DisplayWidth(cells[column]), ' ');
    line += layout[column].right ? padding + cells[column] : cells[column] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  *text += line + '\n';
}

void AppendCsvCell(std::string_view cell, std::string* text) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    text->append(cell);
    return;
  }
  *text += '"';
  for (const char c : cell) {
    if (c == '"') *text += '"';
    *text += c;
  }
  *text += '"';
}

void AppendCsvRow(const std::vector<std::string>& cells, std::string* text) {
  for (std::size_t column = 0; column < cells.size(); ++column) {
    if (column > 0) *text += ',';
    AppendCsvCell(cells[column], text);
  }
  *text += '\n';
}

// A detail of a type that is known here: its URL, then its fields.
template <typename Message>
Json ParsedDetail(const std::string& type, const std::string& payload) {
  Message message;
  if (!message.ParseFromString(payload)) return {{"type", type}, {"value", payload}};
  Json detail = {{"type", type}};
  detail.update(MessageToJson(message));
  return detail;
}

Json DetailToJson(const std::string& type, const std::string& payload) {
  if (type == base::kErrorInfoUrl) return ParsedDetail<google::rpc::ErrorInfo>(type, payload);
  if (type == base::kBadRequestUrl) return ParsedDetail<google::rpc::BadRequest>(type, payload);
  return {{"type", type}, {"value", payload}};
}

Json Details(const absl::Status& status) {
  Json details = Json::array();
  status.ForEachPayload([&details](auto type_url, const absl::Cord& payload) {
    details.push_back(DetailToJson(std::string(type_url), std::string(payload)));
  });
  return details;
}

std::string CellOf(const Json& value, const std::function<std::string(double)>& format_real) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? format_real(value.get<double>()) : value.dump();
}

}  // namespace

std::string FormatText(const Table& raw) {
  const Table table = EscapeCells(raw);
  const std::vector<ColumnLayout> layout = LayOut(table);
  std::string text;
  AppendRow(table.columns, layout, &text);
  for (const std::vector<std::string>& row : table.rows) AppendRow(row, layout, &text);
  return text;
}

std::string FormatCsv(const Table& table, bool header) {
  std::string text;
  if (header) AppendCsvRow(table.columns, &text);
  for (const std::vector<std::string>& row : table.rows) AppendCsvRow(row, &text);
  return text;
}

std::string FormatCount(double value) {
  std::array<char, 64> buffer;
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.0f", value);
  std::string digits(buffer.data(), static_cast<std::size_t>(length));
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  if (!std::isfinite(value)) return digits;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string FormatNumber(double value, int digits) {
  std::array<char, 64> buffer;
  const bool all_digits = std::abs(value) >= std::pow(10, digits) && std::abs(value) < kFirstWithExponent;
  const int length = all_digits ? std::snprintf(buffer.data(), buffer.size(), "%.0f", value)
                                : std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, value);
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::string FormatExact(double value) {
  std::array<char, 32> buffer;
  const std::to_chars_result end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end.ptr);
}

std::string FormatTime(std::int64_t ms) {
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[sizeof("2025-01-31T12:00:00Z") + 16];
  return std::string(text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc));
}

std::vector<std::string> KeysOf(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

Table TableOf(const Json& list, const std::vector<std::string>& keys,
              const std::function<std::string(double)>& format_real) {
  Table table{keys, {}};
  for (const Json& object : list) {
    std::vector<std::string>& row = table.rows.emplace_back();
    for (const std::string& key : keys) row.push_back(CellOf(object[key], format_real));
  }
  return table;
}

Table WithoutEmptyColumns(const Table& table) {
  Table filled{{}, std::vector<std::vector<std::string>>(table.rows.size())};
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const auto is_empty = [column](const std::vector<std::string>& row) { return row[column].empty(); };
    if (!table.rows.empty() && std::all_of(table.rows.begin(), table.rows.end(), is_empty)) continue;
    filled.columns.push_back(table.columns[column]);
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      filled.rows[row].push_back(table.rows[row][column]);
  }
  return filled;
}

std::string FormatBytes(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  std::array<char, 64> buffer;
  const int length =
      std::snprintf(buffer.data(), buffer.size(), unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

Output::Output(std::ostream& out, std::ostream& err, OutputFormat format)
    : out_(out), err_(err), format_(format) {}

void Output::Print(const Json& json, std::string_view text) {
  if (format_ == OutputFormat::kJson) {
    out_ << base::JsonText(json) << '\n';
  } else {
    out_ << base::EscapeControlsInLines(text);
  }
  out_.flush();
}

void Output::Print(const Json& json, const Table& table, std::string_view text_after) {
  if (format_ == OutputFormat::kCsv) {
    out_ << FormatCsv(table) << std::flush;
  } else {
    Print(json, FormatText(table) + std::string(text_after));
  }
}

absl::Status Output::Write(std::string_view text) {
  out_ << text << std::flush;
  return Written();
}

absl::Status Output::Written() const {
  return out_ ? absl::OkStatus() : absl::InternalError("standard output could not be written");
}

void Output::Note(std::string_view text) { err_ << base::EscapeControls(text) << std::endl; }

void Output::PrintError(const absl::Status& status) {
  if (format_ == OutputFormat::kJson) {
    const Json error = {{"code", absl::StatusCodeToString(status.code())},
                        {"message", std::string(status.message())},
                        {"details", Details(status)}};
    if (Write(base::JsonText({{"error", error}}) + '\n').ok()) return;
  }
  Note("packtrain: " + std::string(status.message()));
}

}  // namespace packtrain::cli
