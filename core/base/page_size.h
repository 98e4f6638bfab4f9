// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace softnpu {

inline size_t page_size() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// The nearest beginnings of pages, below and above.
inline uintptr_t page_below(uintptr_t address) { return address / page_size() * page_size(); }
inline uintptr_t page_above(uintptr_t address) { return page_below(address + page_size() - 1); }

}  // namespace softnpu
