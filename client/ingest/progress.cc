#include "client/ingest/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <ostream>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"

namespace packtrain::ingest {
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

Progress::Progress(std::ostream& out, bool terminal, std::uint64_t total_bytes,
                   std::function<Clock::time_point()> now)
    : out_(out),
      terminal_(terminal),
      total_bytes_(total_bytes),
      now_(std::move(now)),
      start_(now_()),
      last_(start_) {}

Progress::~Progress() {
  if (terminal_ && shown_) out_ << kClearLine << std::flush;
}

void Progress::Update(std::uint64_t graphs, std::uint64_t consumed_bytes) {
  const Clock::time_point now = now_();
  if (now - last_ < (terminal_ ? kBarEvery : kLineEvery)) return;
  last_ = now;
  shown_ = true;
  const double share =
      total_bytes_ == 0
          ? 1.0
          : std::min(1.0, static_cast<double>(consumed_bytes) / static_cast<double>(total_bytes_));
  const std::string text = Describe(graphs, share, std::chrono::duration<double>(now - start_).count());
  if (terminal_) {
    out_ << kClearLine << Bar(share) << ' ' << text << std::flush;
  } else {
    out_ << "import: " << text << std::endl;
  }
}

std::string Progress::Describe(std::uint64_t graphs, double share, double seconds) const {
  std::string text = absl::StrFormat("%3.0f %%, %d graphs, %.0f graphs/s", 100 * share, graphs,
                                     static_cast<double>(graphs) / seconds);
  if (share > 0) text += ", " + Duration(seconds * (1 - share) / share) + " left";
  return text;
}

bool IsTerminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return isatty(descriptor) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace packtrain::ingest
