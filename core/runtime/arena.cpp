// SPDX-License-Identifier: Apache-2.0
#include "runtime/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "base/address_sanitizer.h"
#include "base/page_size.h"
#include "base/tuning.h"

namespace softnpu::runtime {
namespace {

// The gap behind each range, so that ranges never touch and an overrun hits no data.
constexpr size_t kGap = 64;

constexpr uintptr_t round_up(uintptr_t value, size_t alignment) {
  return (value + alignment - 1) & ~(uintptr_t{alignment} - 1);
}

// Inaccessible ranges, each directly followed by its alias of the same size.
struct Twice {
  uintptr_t begin;
  size_t size;
};
constexpr size_t kMostAliases = 256;
Twice aliases[kMostAliases];
std::atomic<size_t> alias_count{0};

}  // namespace

size_t Arena::padded(size_t size) const {
  if (kind_ == Kind::pages) return round_up(size + kGap, page_size());
  return round_up(size + (kind_ == Kind::shared ? 0 : kGap), kSmallAlignment);
}

// Reserves address space, and checks that `left` more bytes remain for the program.
void* Arena::reserve(size_t size, size_t left) const {
  const int kind = kind_ == Kind::shared ? MAP_SHARED : MAP_PRIVATE;
  void* begin = mmap(nullptr, size + left, PROT_NONE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  if (left > 0) munmap(static_cast<std::byte*>(begin) + size, left);
  return begin;
}

void* Arena::reserve_twice(size_t size, size_t left) const {
  const size_t count = alias_count.load(std::memory_order_relaxed);
  // A page before the first range: the C library's free() reads there.
  void* const all = count < kMostAliases ? reserve(kHugePage + 2 * size, 2 * left) : nullptr;
  if (all == nullptr) return nullptr;
  std::byte* const begin = static_cast<std::byte*>(all) + kHugePage;
  aliases[count] = {reinterpret_cast<uintptr_t>(begin), size};
  alias_count.store(count + 1, std::memory_order_release);
  return begin;
}

std::byte* Arena::take(size_t size) {
  const size_t small = kind_ == Kind::pages ? page_size() : kSmallAlignment;
  const size_t alignment = size >= kLargeBytes ? kHugePage : small;
  std::byte* base = carve(padded(size), alignment);
  if (base == nullptr && grow(padded(size))) base = carve(padded(size), alignment);
  if (base == nullptr) return nullptr;
  if (!make_usable(reinterpret_cast<uintptr_t>(base) + padded(size))) {
    free_range(reinterpret_cast<uintptr_t>(base), padded(size));
    return nullptr;
  }
  ASAN_UNPOISON_MEMORY_REGION(base, size);
  return base;
}

std::byte* Arena::take_addresses(size_t size, size_t alignment) {
  std::byte* base = carve(padded(size), alignment);
  if (base == nullptr && grow(padded(size) + alignment)) base = carve(padded(size), alignment);
  // Pages of shared memory return to the system only through a writable mapping.
  if (base == nullptr || kind_ != Kind::shared ||
      make_usable(reinterpret_cast<uintptr_t>(base) + padded(size)))
    return base;
  free_addresses(base, size);
  return nullptr;
}

void Arena::free(std::byte* base, size_t size) noexcept {
  ASAN_POISON_MEMORY_REGION(base, size);
  free_range(reinterpret_cast<uintptr_t>(base), padded(size));
}

void Arena::free_addresses(std::byte* base, size_t size) noexcept {
  free_range(reinterpret_cast<uintptr_t>(base), padded(size));
}

void Arena::release_pages(std::byte* base, size_t size) {
  if (size < kKeptBytes) return;
  // Whole pages only; large ranges start at a page.
  std::byte* const alias = alias_of(base);
  madvise(alias, size & ~size_t{4095}, MADV_DONTNEED);
}

bool Arena::owns(const void* address) const {
  const auto a = reinterpret_cast<uintptr_t>(address);
  return std::any_of(regions_.begin(), regions_.end(),
                     [a](const Region& r) { return a >= r.begin && a < r.end; });
}

void Arena::unmap_all() noexcept {
  for (const Region& region : regions_)
    munmap(reinterpret_cast<void*>(region.begin), region.end - region.begin);
  regions_.clear();
  ranges_.clear();
  by_size_.clear();
}

bool Arena::grow(size_t size) {
  const size_t least = round_up(size, kHugePage) + 2 * kHugePage;
  // If address space is limited, the program needs some, too. So a region larger than the next
  // allocation is reserved only if the same amount remains free.
  for (const size_t most : {kRegionBytes, least}) {
    const size_t want = std::max(most, least);
    if (add_region(want, want > least ? want : 0)) return true;
  }
  return false;
}

bool Arena::add_region(size_t size, size_t left) {
  // Allocates the index entries first, so that nothing is mapped without memory for them.
  regions_.reserve(regions_.size() + 1);
  std::map<uintptr_t, Range> range{{0, {size, false}}};
  std::set<std::pair<size_t, uintptr_t>> place{{size, 0}};
  void* const got = protected_ ? reserve_twice(size, left) : reserve(size, left);
  if (got == nullptr) return false;
  const auto begin = reinterpret_cast<uintptr_t>(got);
  auto range_node = range.extract(range.begin());
  range_node.key() = begin;
  ranges_.insert(std::move(range_node));
  auto place_node = place.extract(place.begin());
  place_node.value().second = begin;
  by_size_.insert(std::move(place_node));
  regions_.push_back({begin, begin + size, begin});
  // Failure is harmless. Reserved addresses get no advice: mappings of programs have their own, and
  // if it differed from that of unused addresses, the system could not merge them.
  if (kind_ != Kind::addresses) madvise(alias_of(got), size, MADV_HUGEPAGE);
  return true;
}

std::byte* Arena::alias_of(const void* address) {
  const auto a = reinterpret_cast<uintptr_t>(address);
  auto* const same = static_cast<std::byte*>(const_cast<void*>(address));
  const size_t count = alias_count.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i)
    if (a - aliases[i].begin < aliases[i].size) return same + aliases[i].size;
  return same;
}

std::byte* Arena::carve(size_t size, size_t alignment) {
  for (auto fit = by_size_.lower_bound({size, 0}); fit != by_size_.end(); ++fit) {
    const auto [length, begin] = *fit;
    const uintptr_t start = round_up(begin, alignment), end = start + size;
    const uintptr_t fit_end = begin + length;
    if (end > fit_end) continue;
    if (end < fit_end) add(end, fit_end - end);
    if (start > begin) {
      try {
        add(start, size);
      } catch (const std::bad_alloc&) {
        if (end < fit_end) remove(end);
        throw;
      }
      change(begin, {start - begin, false});
    }
    change(start, {size, true});
    return reinterpret_cast<std::byte*>(start);
  }
  return nullptr;
}

bool Arena::make_usable(uintptr_t end) {
  const auto region = std::find_if(regions_.begin(), regions_.end(), [end](const Region& r) {
    return end > r.begin && end <= r.end;
  });
  const uintptr_t from = region->usable_end;
  if (end <= from) return true;
  const uintptr_t to = std::min(round_up(end, kHugePage), region->end);
  std::byte* const alias = alias_of(reinterpret_cast<void*>(from));
  if (mprotect(alias, to - from, PROT_READ | PROT_WRITE) != 0) return false;
  ASAN_POISON_MEMORY_REGION(reinterpret_cast<void*>(from), to - from);
  region->usable_end = to;
  return true;
}

bool Arena::make_writable(std::byte* begin, size_t size) noexcept {
  munlock(begin, size);  // mlockall() would make all of it resident
  return mprotect(begin, size, PROT_READ | PROT_WRITE) == 0;
}

bool Arena::starts_region(uintptr_t address) const {
  return std::any_of(regions_.begin(), regions_.end(),
                     [address](const Region& r) { return r.begin == address; });
}

void Arena::add(uintptr_t begin, size_t size) {
  const auto range = ranges_.emplace(begin, Range{size, false}).first;
  try {
    by_size_.emplace(size, begin);
  } catch (const std::bad_alloc&) {
    ranges_.erase(range);
    throw;
  }
}

void Arena::change(uintptr_t begin, Range to) noexcept {
  const auto place_of = [begin](const Range& range) {
    return std::pair{range.is_taken ? 0 : range.size, begin};
  };
  Range& range = ranges_.find(begin)->second;
  auto node = by_size_.extract(place_of(range));
  node.value() = place_of(to);
  by_size_.insert(std::move(node));
  range = to;
}

void Arena::remove(uintptr_t begin) noexcept {
  const auto found = ranges_.find(begin);
  by_size_.erase({found->second.is_taken ? 0 : found->second.size, begin});
  ranges_.erase(found);
}

void Arena::free_range(uintptr_t begin, size_t size) noexcept {
  change(begin, {size, false});
  join_next(begin);
  const auto found = ranges_.find(begin);
  if (found != ranges_.begin()) join_next(std::prev(found)->first);
}

void Arena::join_next(uintptr_t begin) noexcept {
  const auto first = ranges_.find(begin), next = std::next(first);
  if (next == ranges_.end() || first->second.is_taken || next->second.is_taken) return;
  if (begin + first->second.size != next->first || starts_region(next->first)) return;
  const size_t both = first->second.size + next->second.size;
  remove(next->first);
  change(begin, {both, false});
}

}  // namespace softnpu::runtime
