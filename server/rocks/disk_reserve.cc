#include "server/rocks/disk_reserve.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"

namespace packtrain::rocks {

DiskReserve::DiskReserve(std::filesystem::path folder, std::uint64_t bytes)
    : folder_(std::move(folder)), bytes_(bytes) {}

absl::Status DiskReserve::Require(std::uint64_t bytes) const {
  std::error_code error;
  const std::uint64_t available = std::filesystem::space(folder_, error).available;
  if (error || available >= bytes + bytes_) return absl::OkStatus();
  return base::WithReason(absl::ResourceExhaustedError(
                              absl::StrCat("disk full: ", folder_.string(), " has ", available, " bytes free, ",
                                           bytes, " are needed and ", bytes_, " are kept back")),
                          kDiskFull, {{"free_bytes", absl::StrCat(available)}});
}

}  // namespace packtrain::rocks
