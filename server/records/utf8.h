// Text that programs of any language read.
#ifndef PACKTRAIN_SERVER_RECORDS_UTF8_H_
#define PACKTRAIN_SERVER_RECORDS_UTF8_H_

#include <string_view>

namespace packtrain::records {

// Whether the bytes are UTF-8 as protobuf takes it: no character in more bytes than it needs, no surrogate,
// none above U+10FFFF. Source: RFC 3629, section 4.
bool IsUtf8(std::string_view text);

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_UTF8_H_
