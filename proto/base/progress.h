// Shows the progress of a long command: a bar on a terminal, a line every few seconds elsewhere.
#ifndef PACKTRAIN_PROTO_BASE_PROGRESS_H_
#define PACKTRAIN_PROTO_BASE_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace packtrain::base {

// Rate and time left are means since the start. No colours are used. Used by one thread.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  struct Subject {
    std::string what;  // "import", which a line begins with
    std::string unit;  // "graphs", which are counted
    std::uint64_t total_bytes = 0;
  };
  // `out` is borrowed; `terminal` says whether it is one. `now` is Clock::now except in tests.
  Progress(std::ostream& out, bool terminal, Subject subject, std::function<Clock::time_point()> now);
  // Clears the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Replaces the total by a better estimate.
  void SetTotal(std::uint64_t bytes) { subject_.total_bytes = bytes; }

  // Shows at most ten bars a second, or a line each five seconds.
  void Update(std::uint64_t units, std::uint64_t consumed_bytes);

 private:
  std::string Describe(std::uint64_t units, double share, double seconds) const;

  std::ostream& out_;
  const bool terminal_;
  Subject subject_;
  const std::function<Clock::time_point()> now_;
  const Clock::time_point start_;
  Clock::time_point last_;
  bool shown_ = false;
};

// Whether file descriptor `descriptor` is a terminal that can redraw a line.
bool IsTerminal(int descriptor);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_PROGRESS_H_
