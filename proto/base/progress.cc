#include "proto/base/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <ostream>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"

namespace packtrain::base {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBarEvery{100};
constexpr milliseconds kLineEvery{5000};
constexpr std::size_t kBarCells = 30;
constexpr std::string_view kClearLine = "\r\x1b[K";

std::string Bar(double share) {
  const auto filled = static_cast<std::size_t>(share * kBarCells);
  return '[' + std::string(filled, '#') + std::string(kBarCells - filled, '.') + ']';
}

std::string Duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 60) return absl::StrFormat("%d s", whole);
  if (whole < 3600) return absl::StrFormat("%d:%02d min", whole / 60, whole % 60);
  return absl::StrFormat("%d:%02d h", whole / 3600, whole / 60 % 60);
}

}  // namespace

Progress::Progress(std::ostream& out, bool terminal, Subject subject, std::function<Clock::time_point()> now)
    : out_(out),
      terminal_(terminal),
      subject_(std::move(subject)),
      now_(std::move(now)),
      start_(now_()),
      last_(start_) {}

Progress::~Progress() {
  if (terminal_ && shown_) out_ << kClearLine << std::flush;
}

void Progress::Update(std::uint64_t units, std::uint64_t consumed_bytes) {
  const Clock::time_point now = now_();
  if (now - last_ < (terminal_ ? kBarEvery : kLineEvery)) return;
  last_ = now;
  shown_ = true;
  const double share =
      subject_.total_bytes == 0
          ? 1.0
          : std::min(1.0, static_cast<double>(consumed_bytes) / static_cast<double>(subject_.total_bytes));
  const std::string text = Describe(units, share, std::chrono::duration<double>(now - start_).count());
  if (terminal_) {
    out_ << kClearLine << Bar(share) << ' ' << text << std::flush;
  } else {
    out_ << subject_.what << ": " << text << std::endl;
  }
}

std::string Progress::Describe(std::uint64_t units, double share, double seconds) const {
  std::string text = absl::StrFormat("%3.0f %%, %d %s, %.0f %s/s", 100 * share, units, subject_.unit,
                                     static_cast<double>(units) / seconds, subject_.unit);
  if (share > 0) text += ", " + Duration(seconds * (1 - share) / share) + " left";
  return text;
}

bool IsTerminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return isatty(descriptor) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace packtrain::base
