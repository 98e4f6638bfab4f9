// SPDX-License-Identifier: Apache-2.0
// Address space that belongs to the device until the process ends.
//
// Ranges are reused, but only their pages return to the system. So an address that was ever the
// device's can be distinguished from all others, and a copy through a freed pointer is reported
// instead of crashing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace softnpu::runtime {

// Not thread-safe unless noted.
class Arena {
 public:
  static constexpr size_t kHugePage = size_t{2} << 20;
  // Programs, ggml among them, round sizes to 128 bytes or more and expect such addresses.
  static constexpr size_t kSmallAlignment = 512;

  enum class Kind : uint8_t {
    memory,     // for take()
    pages,      // the same; ranges share no page, so that each can be protected
    addresses,  // for take_addresses(): inaccessible; the caller maps pages there
    shared,     // for take_addresses(): memory that can also be mapped elsewhere; ranges may touch
  };
  explicit Arena(Kind kind) : kind_(kind) {}

  // Null if the system has none left.
  std::byte* take(size_t size);
  std::byte* take_addresses(size_t size, size_t alignment);
  // `size` is that of take(). The pages must have been released before. Does not allocate.
  void free(std::byte* base, size_t size) noexcept;
  void free_addresses(std::byte* base, size_t size) noexcept;
  // Returns the pages of a large range to the system. Needs no lock; must be called before free().
  static void release_pages(std::byte* base, size_t size);
  // Makes inaccessible addresses writable. They take no memory until they are used.
  static bool make_writable(std::byte* begin, size_t size) noexcept;

  bool owns(const void* address) const;

  // In a forked child, which must not share memory with its parent: unmaps and forgets everything.
  void unmap_all() noexcept;

  // From now on, ranges are inaccessible at their addresses. Each has an alias with its contents.
  void protect() { protected_ = true; }
  bool is_protected() const { return protected_; }
  // The alias of an address, or the address itself if it has none. Thread-safe.
  static std::byte* alias_of(const void* address);

 private:
  struct Region {
    uintptr_t begin;
    uintptr_t end;
    uintptr_t usable_end;  // pages behind it were never made accessible
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
  // add() changes nothing if memory runs out. The others do not allocate.
  void add(uintptr_t begin, size_t size);
  void change(uintptr_t begin, Range to) noexcept;
  void remove(uintptr_t begin) noexcept;
  // Frees a range and merges it with free neighbours in the same region.
  void free_range(uintptr_t begin, size_t size) noexcept;
  void join_next(uintptr_t begin) noexcept;

  Kind kind_;
  bool protected_ = false;
  std::vector<Region> regions_;
  std::map<uintptr_t, Range> ranges_;  // by address
  // By size, to find the tightest fit. Ranges in use have an entry with size 0.
  std::set<std::pair<size_t, uintptr_t>> by_size_;
};

}  // namespace softnpu::runtime
