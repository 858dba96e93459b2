// Standard input, output and error of a program whose parent has closed them.
#ifndef PACKTRAIN_PROTO_BASE_STANDARD_DESCRIPTORS_H_
#define PACKTRAIN_PROTO_BASE_STANDARD_DESCRIPTORS_H_

namespace packtrain::base {

// Takes each of the descriptors 0, 1 and 2 that is closed, so that no file of a store and no socket gets it and
// is written to in its place. Reading from it and writing to it fail as before. False where the system does not
// open /dev/null, which standard error says where it is open. Called by main, before anything is opened.
bool HoldStandardDescriptors();

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_STANDARD_DESCRIPTORS_H_
