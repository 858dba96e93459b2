#include "server/node/descriptor_limit.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/node/file_descriptor.h"

namespace packtrain::node {
namespace {

constexpr int kFewestConnections = 64;

int DescriptorLimit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<int>::max()));
}

// The system gives the lowest number that is free.
int DescriptorsOpen() {
  const FileDescriptor next(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return next.valid() ? next.get() : std::numeric_limits<int>::max();
}

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::StatusOr<int> DescriptorsForConnections() {
  const int limit = DescriptorLimit();
  const int descriptors = limit - limit / 4;
  const int open = DescriptorsOpen();
  if (open <= descriptors - kFewestConnections) return descriptors;
  return absl::FailedPreconditionError(
      absl::StrCat("the limit of open files is ", limit, ", and the stores have ", open, " open: fewer than ",
                   kFewestConnections, " connections would be taken; raise it with ulimit -Hn"));
}

}  // namespace packtrain::node
