#include "client/ingest/first_bytes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/ingest/origin.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kTarMagicOffset = 257;
constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec/";

struct Packing {
  std::string_view magic;
  std::string_view name;
};

constexpr std::array kUnreadPackings = {
    Packing{"BZh11AY&SY"sv, "bzip2"},        Packing{"\x28\xb5\x2f\xfd"sv, "zstd"},
    Packing{"\x04\x22\x4d\x18"sv, "lz4"},    Packing{"7z\xbc\xaf\x27\x1c"sv, "7-Zip"},
    Packing{"Rar!\x1a\x07"sv, "RAR"},        Packing{"\x1f\x9d"sv, "compress (.Z)"},
    Packing{"\x1f\x8b\x08"sv, "gzip twice"}, Packing{"\xfd\x37zXZ\0"sv, "xz twice"}};

// The fourth byte of bzip2 says how large its blocks are.
std::optional<std::string_view> UnreadPacking(std::string_view head) {
  std::string start(head.substr(0, 10));
  if (start.size() == 10 && start.starts_with("BZh") && start[3] >= '1' && start[3] <= '9') start[3] = '1';
  for (const Packing& packing : kUnreadPackings) {
    if (start.starts_with(packing.magic)) return packing.name;
  }
  return std::nullopt;
}

// By its byte order mark, or by an ASCII character and a zero, in either order.
bool IsUtf16(std::string_view head) {
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return true;
  const auto pair = [&](std::size_t at) {
    return head.size() >= at + 2 && (head[at] == '\0') != (head[at + 1] == '\0');
  };
  return pair(0) && pair(2);
}

// "size 111718516" in a pointer.
std::string SizeInPointer(std::string_view head) {
  const std::size_t at = head.find("\nsize ");
  if (at == std::string_view::npos) return "";
  std::string_view rest = head.substr(at + 6);
  rest = rest.substr(0, rest.find('\n'));
  const std::optional<std::uint64_t> bytes = ParseCount(Trim(rest));
  return bytes ? absl::StrCat(" (", *bytes, " bytes)") : "";
}

}  // namespace

bool IsZip(std::string_view head) {
  return head.starts_with("PK\x03\x04"sv) || head.starts_with("PK\x05\x06"sv);
}

bool IsTar(std::string_view head) {
  return head.substr(std::min(head.size(), kTarMagicOffset)).starts_with("ustar");
}

absl::Status CheckNoLfsPointer(std::string_view head, const std::string& path) {
  if (!head.starts_with(kLfsPointer)) return absl::OkStatus();
  return RefusedWhole(path, "git_lfs_pointer",
                      absl::StrCat("a Git LFS pointer in place of the data", SizeInPointer(head),
                                   "; `git lfs pull` fetches them"));
}

absl::Status CheckFirstBytes(std::string_view head, const std::string& path) {
  ABSL_RETURN_IF_ERROR(CheckNoLfsPointer(head, path));
  if (const std::optional<std::string_view> packing = UnreadPacking(head)) {
    return RefusedWhole(
        path, "unread_packing",
        absl::StrCat("packed with ", std::string(*packing), ", which is not read; gzip, xz, tar and zip are"));
  }
  if (IsZip(head) || IsTar(head)) {
    return RefusedWhole(path, "archive",
                        absl::StrCat("a ", IsZip(head) ? "zip" : "tar", " archive where a file is expected"));
  }
  if (IsUtf16(head)) {
    return RefusedWhole(path, "utf16_text",
                        "the text is UTF-16 or UTF-32; convert it to UTF-8, as with `iconv`");
  }
  return absl::OkStatus();
}

}  // namespace packtrain::ingest
