// An archive as a folder, for formats that read its members in any order.
#ifndef PACKTRAIN_CLIENT_INGEST_UNPACKED_FOLDER_H_
#define PACKTRAIN_CLIENT_INGEST_UNPACKED_FOLDER_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/ingest/input_folder.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// As InputFolder::Open, for an archive.
absl::StatusOr<std::unique_ptr<InputFolder>> UnpackFolder(const std::string& archive,
                                                          std::span<const std::string_view> extensions,
                                                          const ReadLimits& limits);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_UNPACKED_FOLDER_H_
