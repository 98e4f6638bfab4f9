// SPDX-License-Identifier: Apache-2.0
// The file behind device memory that processes share. It has no name: others open it through the
// descriptor of its process, so that nothing is left when that ends.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/status.h"

namespace softnpu::runtime {

// What all processes can read about shared memory. Each has a page at the start of the file.
struct SharedSlot {
  std::atomic<bool> is_open;
  std::atomic<bool> is_for_all;  // processes, not only for those below
  int32_t device;
  uint64_t address, size;  // in the exporting process
  std::array<std::atomic<int32_t>, 256> processes;
};

// Where a slot is, as a key says it.
struct SharedPlace {
  int32_t process, file;
  uint64_t inode, slot;

  std::string key() const;
  static bool parse(const char* key, SharedPlace& out);
};

// Unmapped, and closed, at the end of the scope.
struct OpenedSlot {
  OpenedSlot() = default;
  OpenedSlot(const OpenedSlot&) = delete;
  ~OpenedSlot();

  int file = -1;
  SharedSlot* slot = nullptr;
};
// Fails if the process has ended, or must not be seen by this one.
Status open_slot(const SharedPlace& place, OpenedSlot& out);

// Not thread-safe.
class SharedFile {
 public:
  // Moves whole pages into the file. Their addresses and contents stay; each is at the offset that
  // equals its address.
  Status share(uintptr_t begin, uintptr_t end);
  Status add_slot(SharedPlace& place, SharedSlot*& out);
  // In a forked child: its pages are its own again.
  void renew() noexcept;

 private:
  Status open();
  Status move(uintptr_t begin, uintptr_t end);

  int file_ = -1;
  uint64_t inode_ = 0;
  uint64_t slots_ = 0;
  std::map<uintptr_t, uintptr_t> shared_;  // ends by first address
};

}  // namespace softnpu::runtime
