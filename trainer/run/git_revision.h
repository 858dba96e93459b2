// Which state of the sources a program was built from.
#ifndef PACKTRAIN_TRAINER_RUN_GIT_REVISION_H_
#define PACKTRAIN_TRAINER_RUN_GIT_REVISION_H_

#include <string>

namespace packtrain::trainer {

// Twelve digits of the commit, "-dirty" after it where files differed from it, as CMake last found them.
// Empty: not built in a Git checkout.
std::string GitRevision();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_GIT_REVISION_H_
