// A folder of files for one test, gone afterwards.
#ifndef PACKTRAIN_TESTS_TESTING_TEMP_FILE_H_
#define PACKTRAIN_TESTS_TESTING_TEMP_FILE_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace packtrain::testing {

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "packtrain-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string PathOf(std::string_view name) const { return (path_ / name).string(); }

  // Returns the path of the file.
  std::string Write(std::string_view name, std::string_view content) const {
    std::ofstream(PathOf(name), std::ios::binary) << content;
    return PathOf(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_TEMP_FILE_H_
