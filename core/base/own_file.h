// SPDX-License-Identifier: Apache-2.0
// Files that the library opens for itself in a process whose descriptors belong to the program.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace softnpu {

// Opens a file without waiting for a pipe's reader and without acquiring a controlling terminal.
// Never uses the numbers of stdin, stdout and stderr. Returns -1 on failure.
inline int open_own(const char* path, int flags) noexcept {
  const int file = ::open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (file < 0 || file > STDERR_FILENO) return file;
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(file);
  return moved;
}

// A descriptor that is used and closed only while it still refers to the same file: programs close
// descriptors that they do not know, and may then get the same number for their own file.
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
  mode_t kind() const noexcept { return file_.st_mode; }
  // -1 if it was not opened, or no longer refers to our file.
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
