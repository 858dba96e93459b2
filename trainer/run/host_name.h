// What this host calls itself.
#ifndef PACKTRAIN_TRAINER_RUN_HOST_NAME_H_
#define PACKTRAIN_TRAINER_RUN_HOST_NAME_H_

#include <string>

namespace packtrain::trainer {

// "unknown" where the system does not say.
std::string HostName();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_HOST_NAME_H_
