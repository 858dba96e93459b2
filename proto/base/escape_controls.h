// Text from elsewhere, such as labels and ids, on its way to a terminal.
#ifndef PACKTRAIN_PROTO_BASE_ESCAPE_CONTROLS_H_
#define PACKTRAIN_PROTO_BASE_ESCAPE_CONTROLS_H_

#include <string>
#include <string_view>

namespace packtrain::base {

// Control characters (C0, DEL, and C1 in UTF-8) spelt out, "\n" and "\x1b", so that text stays on its line and
// does not drive a terminal.
std::string EscapeControls(std::string_view text);
// The same, but for the ends of lines, which stay.
std::string EscapeControlsInLines(std::string_view text);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_ESCAPE_CONTROLS_H_
