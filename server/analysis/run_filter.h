// The expressions of `run list --where`.
//
//   or      := and ("or" and)*
//   and     := not ("and" not)*
//   not     := "not" not | "(" or ")" | KEY OP VALUE
//   OP      := = != < <= > >= ~
//   VALUE   := WORD | 'text' | "text"     (in quotes, \ takes the next character as it is)
//
// A WORD has no space, bracket, quote or operator character. Keys are those of run_settings.h. A key that is a
// number there compares as one; every other one as text, but of labels, libraries and other settings < <= > >=
// compare numbers, and what is not a number satisfies none of them. A number is finite. ~ searches for a
// regular expression (RE2). What a run lacks, as it may a label, is unequal to every value and satisfies no
// other comparison.
#ifndef PACKTRAIN_SERVER_ANALYSIS_RUN_FILTER_H_
#define PACKTRAIN_SERVER_ANALYSIS_RUN_FILTER_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"

namespace packtrain::analysis {

inline constexpr std::size_t kMaxFilterBytes = 4096;
inline constexpr int kMaxFilterDepth = 64;  // of brackets and "not"

// Immutable; any number of threads may use it.
class RunFilter {
 public:
  // Blank text takes every run. INVALID_ARGUMENT: does not parse, or a value is no number where one is needed;
  // the message gives the column, from 1.
  static absl::StatusOr<RunFilter> Parse(std::string_view text);

  bool Matches(const v1::Run& run) const;

  // A part of the expression.
  class Node {
   public:
    virtual ~Node() = default;
    virtual bool Matches(const v1::Run& run) const = 0;
  };

 private:
  explicit RunFilter(std::shared_ptr<const Node> root);

  std::shared_ptr<const Node> root_;  // null: every run
};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_RUN_FILTER_H_
