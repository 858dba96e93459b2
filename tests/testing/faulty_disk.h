// A disk under RocksDB whose n-th operation fails.
#ifndef PACKTRAIN_TESTS_TESTING_FAULTY_DISK_H_
#define PACKTRAIN_TESTS_TESTING_FAULTY_DISK_H_

#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

namespace rocksdb {
class Env;
}

namespace packtrain::testing {

// What a failing operation says.
enum class Fault { kIoError, kNoSpace };

// How long it goes on.
enum class Duration { kOnce, kUntilHealed };

// What a store is tried with, as a test's parameter.
struct FaultCase {
  const char* name;
  Fault fault;
  Duration duration;
};
inline void PrintTo(const FaultCase& tried, std::ostream* out) { *out << tried.name; }
std::array<FaultCase, 3> FaultCases();

// Files are those of the real file system. What is synced is not: no test here cuts the power, and a sync takes
// longer than all else. Operations are opens, reads, writes, syncs, closes, renames, links, deletions and
// listings, those of RocksDB's own log of messages left out: FailMessages is for these. Any number of threads
// may use it.
class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  // For the options of a store, which must not outlive this object.
  rocksdb::Env* env();

  // The operation that comes after `n` others fails.
  void Fail(std::uint64_t n, Fault fault, Duration duration);
  // From now on the disk is full: each operation that needs space fails, reads succeed.
  void FailWrites();
  // From now on every write to RocksDB's own log of messages fails, as on a full disk.
  void FailMessages();
  // Nothing but messages fails any more.
  void Heal();

  // The operation that failed first since Fail, such as "sync 000007.log"; empty: none did.
  std::string Failed() const;

  struct State;

 private:
  const std::shared_ptr<State> state_;
  const std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_TESTING_FAULTY_DISK_H_
