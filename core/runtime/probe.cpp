// SPDX-License-Identifier: Apache-2.0
#include "runtime/probe.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace softnpu::runtime {
namespace {

// The system copies a byte of this process, and fails where a load or a store would crash. What is
// written is what was there.
bool is_byte_accessible(uintptr_t address, Touch touch) {
  char byte;
  const iovec here{&byte, 1}, there{reinterpret_cast<void*>(address), 1};
  const pid_t self = getpid();
  if (process_vm_readv(self, &here, 1, &there, 1, 0) != 1) return errno != EFAULT;
  return touch == Touch::read || process_vm_writev(self, &here, 1, &there, 1, 0) == 1 ||
         errno != EFAULT;
}

}  // namespace

bool is_accessible(const void* address, size_t count, Touch touch) {
  const auto first = reinterpret_cast<uintptr_t>(address);
  return count == 0 || (is_byte_accessible(first, touch) &&
                        (count == 1 || is_byte_accessible(first + count - 1, touch)));
}

}  // namespace softnpu::runtime
