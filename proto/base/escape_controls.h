// Escapes text from outside, such as labels and ids, for a terminal.
#ifndef PACKTRAIN_PROTO_BASE_ESCAPE_CONTROLS_H_
#define PACKTRAIN_PROTO_BASE_ESCAPE_CONTROLS_H_

#include <string>
#include <string_view>

namespace packtrain::base {

// Spells out control characters (C0, DEL, and C1 in UTF-8), such as "\n" and "\x1b", so that text stays on its
// line and cannot control a terminal.
std::string EscapeControls(std::string_view text);
// The same, except that line ends are kept.
std::string EscapeControlsInLines(std::string_view text);

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_ESCAPE_CONTROLS_H_
