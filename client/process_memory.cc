#include "client/process_memory.h"

#include <malloc.h>

namespace packtrain::client {

void KeepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  // Setting the one ends glibc's own way of adjusting the other; this is as far as that would go.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

}  // namespace packtrain::client
