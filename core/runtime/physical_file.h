// SPDX-License-Identifier: Apache-2.0
// The physical memory behind reserved addresses: one file in memory, of which pages are mapped. One
// for all, since the number of files that a process may open is small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace softnpu::runtime {

// Not thread-safe.
class PhysicalFile {
 public:
  // The offset of memory that reads as zeros; nothing where the system gives no more.
  std::optional<uint64_t> take(size_t size);
  // Its pages return to the system, whoever else has the file open.
  void give_back(uint64_t offset, size_t size) noexcept;
  bool map(std::byte* address, uint64_t offset, size_t size) noexcept;

  // In a forked child: what was taken until now is the parent's.
  void renew() noexcept;
  // Which file it is, in a row of parents and children.
  uint64_t generation() const { return generation_; }

 private:
  int file_ = -1;
  uint64_t end_ = 0;  // never lowered: offsets cost nothing
  uint64_t generation_ = 0;
};

// Replaces what is mapped there by memory that is nobody's. Work that still runs there does not end
// the process.
void map_nothing(std::byte* address, size_t size) noexcept;
// The same, without any memory.
void map_inaccessible(std::byte* address, size_t size) noexcept;

}  // namespace softnpu::runtime
