// SPDX-License-Identifier: Apache-2.0
// Address space that belongs to the device for the life of the process.
//
// Ranges are handed out and taken back, but never returned to the system, only their pages are. So
// an address that was ever the device's can be told from one that never was, which is what lets a
// copy through a freed pointer be reported instead of crashing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace softnpu::runtime {

// Not thread-safe, except where noted.
class Arena {
 public:
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kSmallAlignment = 64;

  enum class Kind : uint8_t {
    memory,     // for take()
    addresses,  // for take_addresses(): inaccessible, for the caller to map pages there
    shared,     // for take_addresses(): memory that can be mapped elsewhere, too; ranges may touch
  };
  explicit Arena(Kind kind) : kind_(kind) {}

  // Null when the system gives no more.
  std::byte* take(size_t size);
  std::byte* take_addresses(size_t size, size_t alignment);
  // With the same size. The pages must have been released first. Takes no memory.
  void free(std::byte* base, size_t size) noexcept;
  void free_addresses(std::byte* base, size_t size) noexcept;
  // Returns the pages of a large range to the system. Touches nothing of the arena: callers need
  // not keep others out, only free() must come later.
  static void release_pages(std::byte* base, size_t size);
  // Inaccessible addresses, which take no memory until they are used.
  static bool make_writable(std::byte* begin, size_t size) noexcept;

  bool owns(const void* address) const;

  // In a forked child, which must not share memory with its parent: forgets everything.
  void unmap_all() noexcept;

  // From now on, ranges are inaccessible where they are handed out; each has an alias that holds
  // its contents.
  void protect() { protected_ = true; }
  bool is_protected() const { return protected_; }
  // The alias of an address that has one, else the address. Thread-safe.
  static std::byte* alias_of(const void* address);

 private:
  struct Region {
    uintptr_t begin;
    uintptr_t end;
    uintptr_t usable_end;  // pages from here on were never made accessible
  };

  struct Range {
    size_t size;
    bool is_taken;
  };

  size_t padded(size_t size) const;
  void* reserve(size_t size, size_t left) const;
  void* reserve_twice(size_t size, size_t left) const;
  bool grow(size_t size);
  bool add_region(size_t size, size_t left);
  std::byte* carve(size_t size, size_t alignment);
  bool make_usable(uintptr_t end);
  bool starts_region(uintptr_t address) const;
  // Changes nothing where there is no memory. The others take none.
  void add(uintptr_t begin, size_t size);
  void change(uintptr_t begin, Range to) noexcept;
  void remove(uintptr_t begin) noexcept;
  // Makes it a free one. Ranges of two regions are never joined, even where the regions touch.
  void free_range(uintptr_t begin, size_t size) noexcept;
  void join_next(uintptr_t begin) noexcept;

  Kind kind_;
  bool protected_ = false;
  std::vector<Region> regions_;
  std::map<uintptr_t, Range> ranges_;  // by address
  // By size, to find the tightest fit. Those that are taken have a place here, too, with size 0.
  std::set<std::pair<size_t, uintptr_t>> by_size_;
};

}  // namespace softnpu::runtime
