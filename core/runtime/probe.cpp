// SPDX-License-Identifier: Apache-2.0
#include "runtime/probe.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace softnpu::runtime {
namespace {

// Lets the system copy a byte of this process, which fails with EFAULT instead of crashing.
bool is_readable(uintptr_t address) {
  char byte;
  const iovec here{&byte, 1}, there{reinterpret_cast<void*>(address), 1};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
}

// Lets the system OR the word of the byte with 0, which fails with EFAULT instead of crashing. The
// operation is atomic, so that concurrent writes by queued work are kept. No thread waits on the
// futex that is woken.
bool is_writable(uintptr_t address) {
  uint32_t unused = 0;
  const uintptr_t word = address & ~uintptr_t{3};
  constexpr int kOrZero = FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0);
  return syscall(SYS_futex, &unused, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, word, kOrZero) >= 0 ||
         errno != EFAULT;
}

bool is_byte_accessible(uintptr_t address, Touch touch) {
  return touch == Touch::read ? is_readable(address) : is_writable(address);
}

}  // namespace

bool is_accessible(const void* address, size_t count, Touch touch) {
  const auto first = reinterpret_cast<uintptr_t>(address);
  return count == 0 || (is_byte_accessible(first, touch) &&
                        (count == 1 || is_byte_accessible(first + count - 1, touch)));
}

}  // namespace softnpu::runtime
