// How processes tell whether they share a host.
#ifndef PACKTRAIN_PROTO_BASE_HOST_ID_H_
#define PACKTRAIN_PROTO_BASE_HOST_ID_H_

#include <string>

namespace packtrain::base {

// Equal for processes on one host, in containers too, until it starts again: the kernel's boot id. Empty where
// the system does not say.
std::string HostId();

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_HOST_ID_H_
