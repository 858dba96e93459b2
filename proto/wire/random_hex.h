// Names that nobody else makes.
#ifndef PACKTRAIN_PROTO_WIRE_RANDOM_HEX_H_
#define PACKTRAIN_PROTO_WIRE_RANDOM_HEX_H_

#include <string>

namespace packtrain::wire {

// 128 bits from the system's generator, as 32 lower-case hexadecimal digits. Any thread may call it.
std::string RandomHex();

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_RANDOM_HEX_H_
