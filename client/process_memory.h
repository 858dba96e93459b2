// Memory of a process that receives batches.
#ifndef PACKTRAIN_CLIENT_PROCESS_MEMORY_H_
#define PACKTRAIN_CLIENT_PROCESS_MEMORY_H_

namespace packtrain::client {

// Makes malloc keep what is freed, up to 64 MiB a thread's arena, for the whole process and from now on. By
// default it gives the pages of each message back to the system and gets them again, cleared, for the next one;
// at the rate of a stream of batches that costs more than checking them. Called by main, before threads are
// made. Does nothing where the C library is not GNU's.
void KeepFreedMemory();

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_PROCESS_MEMORY_H_
