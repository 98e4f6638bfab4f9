// SPDX-License-Identifier: Apache-2.0
// Files that the library opens for itself, in a process whose descriptors are the program's.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace softnpu {

// Does not wait for the reader of a pipe, makes no terminal the process's own, and leaves the
// numbers alone that everybody writes to without asking. -1 where it cannot be opened.
inline int open_own(const char* path, int flags) noexcept {
  const int file = ::open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (file < 0 || file > STDERR_FILENO) return file;
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(file);
  return moved;
}

// A descriptor that is used and closed only while it is the same file: programs close all that they
// do not know, and get the number for a file of their own.
class OwnFile {
 public:
  explicit OwnFile(int descriptor) noexcept : descriptor_(descriptor) {
    if (descriptor_ >= 0 && fstat(descriptor_, &file_) != 0) descriptor_ = -1;
  }
  ~OwnFile() {
    if (const int still = descriptor(); still >= 0) close(still);
  }
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

  bool was_opened() const noexcept { return descriptor_ >= 0; }
  // Of the file, as st_mode has it.
  mode_t kind() const noexcept { return file_.st_mode; }
  // -1 where it is not ours, or was never open.
  int descriptor() const noexcept {
    struct stat now;
    const bool same = descriptor_ >= 0 && fstat(descriptor_, &now) == 0 &&
                      now.st_dev == file_.st_dev && now.st_ino == file_.st_ino;
    return same ? descriptor_ : -1;
  }

 private:
  int descriptor_;
  struct stat file_ = {};
};

}  // namespace softnpu
