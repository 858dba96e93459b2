// A file descriptor that is closed when its owner goes.
#ifndef PACKTRAIN_SERVER_NODE_FILE_DESCRIPTOR_H_
#define PACKTRAIN_SERVER_NODE_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace packtrain::node {

// Movable; negative where there is none.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Gives it up: the caller closes it.
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) close(Release());
  }

 private:
  int fd_ = -1;
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_FILE_DESCRIPTOR_H_
