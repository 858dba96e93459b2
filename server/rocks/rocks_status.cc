#include "server/rocks/rocks_status.h"

#include <rocksdb/status.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "server/rocks/disk_reserve.h"

namespace packtrain::rocks {

absl::Status ToStatus(const rocksdb::Status& status, std::string_view doing) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = absl::StrCat(std::string(doing), ": ", status.ToString());
  if (status.IsNoSpace()) {
    return base::WithReason(absl::ResourceExhaustedError(absl::StrCat("disk full while ", message)), kDiskFull);
  }
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsNotFound()) return absl::NotFoundError(message);
  return absl::UnavailableError(message);
}

}  // namespace packtrain::rocks
