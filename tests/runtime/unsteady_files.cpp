// SPDX-License-Identifier: Apache-2.0
// Files as a network may make them: writing is interrupted, is to be tried again, writes a little,
// and after as many calls as the argument says fails once.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "parallel.h"

namespace {

long calls = 0, failing = 0;

ssize_t fail_with(int error) {
  errno = error;
  return -1;
}

}  // namespace

// Instead of the C library's.
extern "C" ssize_t write(int file, const void* data, size_t size) {
  if (file > STDERR_FILENO) {
    if (++calls == failing) return fail_with(EIO);
    if (calls % 4 == 0) return fail_with(EINTR);
    if (calls % 4 == 1) return fail_with(EAGAIN);
    size = std::min<size_t>(size, 20);
  }
  return syscall(SYS_write, file, data, size);
}

int main(int, char** arguments) {
  failing = std::atol(arguments[1]);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  for (int i = 0; i < 20; ++i) EXPECT(aclrtFree(&calls) == ACL_ERROR_RT_PARAM_INVALID);
  EXPECT(calls > failing);
  return failed.load() == 0 ? 0 : 1;
}
