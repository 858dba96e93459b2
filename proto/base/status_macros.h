// Passes errors on. These are the macros of Abseil's absl/status/status_macros.h, for releases of Abseil that
// lack it; where the header exists it is used instead.
//
//   absl::StatusOr<Plan> Load(const std::string& path) {
//     ABSL_RETURN_IF_ERROR(CheckPath(path));
//     ABSL_ASSIGN_OR_RETURN(const std::string text, Read(path));
//     return Parse(text);
//   }
//
// A comma outside parentheses ends an argument: write (std::pair{a, b}) and (Find<A, B>()).
#ifndef PACKTRAIN_PROTO_BASE_STATUS_MACROS_H_
#define PACKTRAIN_PROTO_BASE_STATUS_MACROS_H_

#if __has_include("absl/status/status_macros.h")
#include "absl/status/status_macros.h"
#else

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status that `expression` gives, unless that is OK. For functions that return absl::Status or
// absl::StatusOr.
#define ABSL_RETURN_IF_ERROR(expression) \
  PACKTRAIN_RETURN_IF_ERROR_AS(PACKTRAIN_UNIQUE_NAME(absl_status_, __COUNTER__), expression)

// Declares or assigns `left` from the value that `expression`, an absl::StatusOr, holds; returns its status
// where it holds none. Stands for more than one statement: not to be used as the body of an `if` without
// braces.
#define ABSL_ASSIGN_OR_RETURN(left, expression) \
  PACKTRAIN_ASSIGN_OR_RETURN_AS(PACKTRAIN_UNIQUE_NAME(absl_status_or_, __COUNTER__), left, expression)

// The switch keeps an `else` behind the macro from being taken for its own.
#define PACKTRAIN_RETURN_IF_ERROR_AS(status, expression)                \
  switch (0)                                                            \
  case 0:                                                               \
  default:                                                              \
    if (::absl::Status status = (expression); status.ok()) [[likely]] { \
    } else /* NOLINT(readability-else-after-return) */                  \
      return status

#define PACKTRAIN_ASSIGN_OR_RETURN_AS(status_or, left, expression) \
  auto status_or = (expression);                                   \
  if (!status_or.ok()) [[unlikely]]                                \
    return std::move(status_or).status();                          \
  left = *std::move(status_or)

#define PACKTRAIN_UNIQUE_NAME(stem, number) PACKTRAIN_JOINED_NAME(stem, number)
#define PACKTRAIN_JOINED_NAME(stem, number) stem##number

#endif  // __has_include("absl/status/status_macros.h")

#endif  // PACKTRAIN_PROTO_BASE_STATUS_MACROS_H_
