// How one version of a data set is written: NAME@VERSION.
#ifndef PACKTRAIN_PROTO_WIRE_FULL_NAME_H_
#define PACKTRAIN_PROTO_WIRE_FULL_NAME_H_

#include <string>
#include <string_view>

#include "packtrain/v1/dataset.pb.h"

namespace packtrain::wire {

inline std::string FullName(std::string_view name, std::string_view version) {
  return std::string(name).append("@").append(version);
}

inline std::string FullName(const v1::Dataset& dataset) { return FullName(dataset.name(), dataset.version()); }

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_FULL_NAME_H_
