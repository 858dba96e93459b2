#include "proto/base/escape_controls.h"

namespace packtrain::base {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// U+0080 to U+009F, of which terminals take some for the start of a command.
bool IsC1Control(std::string_view text) {
  return text.size() > 1 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) - 0x80u < 0x20;
}

void AppendHex(char c, std::string* text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  text->append("\\x").append(1, kDigits[byte / 16]).append(1, kDigits[byte % 16]);
}

std::string Escape(std::string_view text, bool keep_line_ends) {
  std::string escaped;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (IsC1Control(text.substr(at))) {
      AppendHex(text[++at], &escaped);
    } else if (!IsControl(c) || (c == '\n' && keep_line_ends)) {
      escaped += c;
    } else if (c == '\n') {
      escaped += "\\n";
    } else {
      AppendHex(c, &escaped);
    }
  }
  return escaped;
}

}  // namespace

std::string EscapeControls(std::string_view text) { return Escape(text, /*keep_line_ends=*/false); }

std::string EscapeControlsInLines(std::string_view text) { return Escape(text, /*keep_line_ends=*/true); }

}  // namespace packtrain::base
