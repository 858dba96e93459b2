// How many files this process may have open, and how many of them connections may be.
#ifndef PACKTRAIN_SERVER_NODE_DESCRIPTOR_LIMIT_H_
#define PACKTRAIN_SERVER_NODE_DESCRIPTOR_LIMIT_H_

#include "absl/status/statusor.h"

namespace packtrain::node {

// Raises the soft limit of open files to the hard one, for the whole process.
void RaiseDescriptorLimit();

// The number that descriptors of connections stay below: a quarter of the limit is left to the stores' files.
// FAILED_PRECONDITION: so many files are open already that few connections would be taken.
absl::StatusOr<int> DescriptorsForConnections();

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_DESCRIPTOR_LIMIT_H_
