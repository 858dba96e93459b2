// Keeps a process alive when RocksDB cannot write its own log of messages.
#ifndef PACKTRAIN_SERVER_ROCKS_MESSAGE_LOG_H_
#define PACKTRAIN_SERVER_ROCKS_MESSAGE_LOG_H_

#include <memory>

namespace rocksdb {
class Env;
}

namespace packtrain::rocks {

// An Env over `base` (null: the system's) on which messages that cannot be written, as the disk is full, are
// lost without a word. RocksDB 7.8 aborts at the message after one that it could not write. `base` must outlive
// it; any number of threads may use it.
std::unique_ptr<rocksdb::Env> LoseMessages(rocksdb::Env* base);

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_SERVER_ROCKS_MESSAGE_LOG_H_
