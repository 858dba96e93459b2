#include "trainer/run/git_revision.h"

namespace packtrain::trainer {

std::string GitRevision() { return PACKTRAIN_GIT_REVISION; }

}  // namespace packtrain::trainer
