#include "server/log/event_log.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace packtrain::log {
namespace {

constexpr char kLogger[] = "packtrain";
// %l gives the words debug, info, warning and error.
constexpr char kLogfmtPattern[] = "time=%Y-%m-%dT%H:%M:%S.%e%z level=%l %v";
constexpr char kJsonPattern[] = R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})";

// The format of this process's lines. It is global, as the library's default logger is.
std::atomic<Format> format_of_lines = Format::kLogfmt;

spdlog::level::level_enum LevelOf(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

std::string Json(const nlohmann::json& value) {
  constexpr bool kAsciiAlone = true;
  return value.dump(-1, ' ', kAsciiAlone, nlohmann::json::error_handler_t::replace);
}

bool IsPlain(char c) { return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\'; }

std::string Logfmt(std::string_view value) {
  const bool plain = !value.empty() && std::all_of(value.begin(), value.end(), IsPlain);
  return plain ? std::string(value) : Json(value);
}

std::string Line(Format format, std::string_view event, std::initializer_list<Field> fields) {
  const bool json = format == Format::kJson;
  std::string line = Field("event", event).Text(format);
  for (const Field& field : fields) line.append(json ? "," : " ").append(field.Text(format));
  return line;
}

void SetUp(const Options& options, std::shared_ptr<spdlog::sinks::sink> sink) {
  auto logger = std::make_shared<spdlog::logger>(kLogger, std::move(sink));
  logger->set_level(LevelOf(options.least));
  logger->set_pattern(options.format == Format::kJson ? kJsonPattern : kLogfmtPattern);
  logger->flush_on(spdlog::level::debug);
  format_of_lines = options.format;
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace

std::string Field::Text(Format format) const {
  const bool json = format == Format::kJson;
  const std::string value = std::visit(
      [json](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string_view>) {
          return json ? Json(held) : Logfmt(held);
        } else {
          return Json(held);
        }
      },
      value_);
  return json ? Json(key_).append(":").append(value) : std::string(key_).append("=").append(value);
}

void SetUp(const Options& options) { SetUp(options, std::make_shared<spdlog::sinks::stderr_sink_mt>()); }

void SetUp(const Options& options, std::ostream& out) {
  SetUp(options, std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
}

void Log(Level level, std::string_view event, std::initializer_list<Field> fields) {
  if (!spdlog::should_log(LevelOf(level))) return;
  const std::string line = Line(format_of_lines, event, fields);
  spdlog::log(LevelOf(level), spdlog::string_view_t(line));
}

}  // namespace packtrain::log
