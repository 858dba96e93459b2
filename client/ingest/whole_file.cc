#include "client/ingest/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace packtrain::ingest {
namespace {

std::string PartialOf(const std::string& path) { return path + ".partial"; }

absl::Status CannotWrite(const std::string& path, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": ", std::string(why)));
}

}  // namespace

WholeFile::WholeFile(std::string path, std::FILE* file)
    : path_(std::move(path)), partial_(PartialOf(path_)), file_(file) {}

WholeFile::~WholeFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::error_code ignored;
  std::filesystem::remove(partial_, ignored);
}

absl::StatusOr<std::unique_ptr<WholeFile>> WholeFile::Create(std::string path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return CannotWrite(path, "it is a folder");
  std::FILE* const file = std::fopen(PartialOf(path).c_str(), "wb");
  if (file == nullptr) return CannotWrite(path, std::strerror(errno));
  return std::unique_ptr<WholeFile>(new WholeFile(std::move(path), file));
}

absl::Status WholeFile::Failed() const { return CannotWrite(path_, std::strerror(errno)); }

absl::Status WholeFile::Write(std::string_view bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size() ? absl::OkStatus() : Failed();
}

absl::Status WholeFile::Commit() {
  if (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0) return Failed();
  std::error_code error;
  std::filesystem::rename(partial_, path_, error);
  if (error) return CannotWrite(path_, error.message());
  std::fclose(std::exchange(file_, nullptr));
  return absl::OkStatus();
}

}  // namespace packtrain::ingest
