#include "server/rocks/rocks_status.h"

#include <rocksdb/status.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "server/rocks/disk_reserve.h"

namespace packtrain::rocks {
namespace {

absl::Status DiskFull(const std::string& message) {
  return base::WithReason(absl::ResourceExhaustedError(absl::StrCat("disk full while ", message)), kDiskFull);
}

}  // namespace

absl::Status ToStatus(const rocksdb::Status& status, std::string_view doing) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = absl::StrCat(std::string(doing), ": ", status.ToString());
  if (status.IsNoSpace()) return DiskFull(message);
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsNotFound()) return absl::NotFoundError(message);
  return absl::UnavailableError(message);
}

absl::Status ToStatus(int error, std::string_view doing) {
  const std::string message = absl::StrCat(std::string(doing), ": ", ::strerror(error));
  return error == ENOSPC || error == EDQUOT ? DiskFull(message) : absl::UnavailableError(message);
}

}  // namespace packtrain::rocks
