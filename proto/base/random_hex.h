// Random names that are unique in practice.
#ifndef PACKTRAIN_PROTO_BASE_RANDOM_HEX_H_
#define PACKTRAIN_PROTO_BASE_RANDOM_HEX_H_

#include <string>

namespace packtrain::base {

// 128 bits from the system's generator, as 32 lower-case hexadecimal digits. Any thread may call it.
std::string RandomHex();

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_RANDOM_HEX_H_
