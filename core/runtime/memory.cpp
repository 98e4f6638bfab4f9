// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/fork.h"
#include "base/lasting.h"
#include "base/observer.h"
#include "runtime/arena.h"
#include "runtime/machine.h"

namespace softnpu::runtime {
namespace {

struct Allocation {
  size_t size;
  Family family;
  uint64_t made;  // when
};

struct Registry {
  Registry() { keep_free_over_fork(mutex); }

  std::shared_mutex mutex;
  Arena arena;
  Arena host_arena;  // in use only where device memory is protected

  Arena& arena_of(Family family) {
    return family == Family::host && arena.is_protected() ? host_arena : arena;
  }
  bool owns(const void* address) const { return arena.owns(address) || host_arena.owns(address); }
  std::map<uintptr_t, Allocation> live;  // by first address
  size_t bytes = 0;
  std::atomic<uint64_t> time{0};  // changes with the lock held
};

Registry& registry() { return lasting<Registry>; }

uintptr_t number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

// With the lock held: the live allocation that contains the address.
std::map<uintptr_t, Allocation>::const_iterator containing(const Registry& r, const void* address) {
  auto next = r.live.upper_bound(number(address));
  if (next == r.live.begin()) return r.live.end();
  --next;
  return number(address) - next->first < next->second.size ? next : r.live.end();
}

// Whether `count` bytes can lie in a program's memory. No 64-bit system gives one more than 2^56
// bytes, and the bits above may be a pointer's tag.
bool fits_memory(const void* address, size_t count) {
  constexpr uintptr_t kEnd = uintptr_t{1} << 56;
  return count <= kEnd - (number(address) & (kEnd - 1));
}

// The parameter that the documented functions of a family have for an allocation.
const char* parameter(Family family) { return family == Family::device ? "devPtr" : "hostPtr"; }

const char* describe(Family family) {
  return family == Family::device ? "device memory (aclrtMalloc)" : "host memory (aclrtMallocHost)";
}

}  // namespace

std::optional<Block> find_block(const void* address) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto found = containing(r, address);
  if (found == r.live.end() || found->second.family != Family::device) return std::nullopt;
  return Block{reinterpret_cast<std::byte*>(found->first), found->second.size};
}

bool was_freed(const void* address) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  return r.owns(address) && containing(r, address) == r.live.end();
}

std::byte* kernel_address(const void* address) { return Arena::alias_of(address); }

void protect_device_memory() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.arena.protect();
}

uint64_t memory_time() { return registry().time.load(std::memory_order_acquire); }

bool was_allocated_at(uint64_t time, const void* address) {
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto found = containing(r, address);
  return found != r.live.end() && found->second.family == Family::device &&
         found->second.made <= time;
}

namespace {

Status take(Family family, size_t size, std::byte*& base) {
  const size_t machine = memory_limit();
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  // The system would promise more than it has, and kill the process when it is used.
  if (size > machine || r.bytes > machine - size)
    return fail(kRtMemoryAllocation, "size is ", size, ", but only ",
                r.bytes < machine ? machine - r.bytes : 0, " of ", machine, " bytes are left");
  // Its place in the registry comes first: without memory for it, nothing may have changed.
  std::map<uintptr_t, Allocation> one{{0, {size, family, 0}}};
  base = r.arena_of(family).take(size);
  if (base == nullptr)
    return fail(kRtMemoryAllocation, "size is ", size, ", and the system has no such memory left");
  auto node = one.extract(one.begin());
  node.key() = number(base);
  node.mapped().made = ++r.time;
  r.live.insert(std::move(node));
  r.bytes += size;
  return {};
}

}  // namespace

Status allocate(Family family, size_t size, void** out) {
  if (out == nullptr) return fail(kRtParamInvalid, parameter(family), " is null");
  *out = nullptr;
  if (size == 0) return fail(kRtParamInvalid, "size is 0; it must be above 0");
  std::byte* base = nullptr;
  RETURN_IF_FAILED(take(family, size, base));
  *out = base;
  if (Observer* const watching = observer()) [[unlikely]]
    watching->allocated(family, base, size);
  return {};
}

Status release(Family family, const void* address) {
  if (address == nullptr) return fail(kRtParamInvalid, parameter(family), " is null");
  Registry& r = registry();
  std::byte* base;
  size_t size;
  {
    std::lock_guard lock(r.mutex);
    const auto found = containing(r, address);
    if (found == r.live.end())
      return r.owns(address) ? fail("double-free"_rule, kRtParamInvalid, parameter(family),
                                    " is in memory that was freed already")
                             : fail("foreign-free"_rule, kRtParamInvalid, parameter(family),
                                    " was never allocated by the runtime");
    if (found->first != number(address))
      return fail("interior-free"_rule, kRtParamInvalid, parameter(family), " is ",
                  number(address) - found->first,
                  " bytes into an allocation; free the address that the allocation returned");
    if (found->second.family != family)
      return fail("wrong-free"_rule, kRtParamInvalid, parameter(family), " is ",
                  describe(found->second.family), "; it must be ", describe(family));
    base = reinterpret_cast<std::byte*>(found->first);
    size = found->second.size;
    r.bytes -= size;
    r.live.erase(found);
    ++r.time;
  }
  if (Observer* const watching = observer()) [[unlikely]]
    watching->releasing(family, base, size);
  Arena::release_pages(base, size);  // takes its time, so others are let in
  std::lock_guard lock(r.mutex);
  r.arena_of(family).give_back(base, size);
  return {};
}

Status check_range(std::string_view argument, const void* address, size_t count, uint64_t time) {
  if (count == 0) return {};
  if (address == nullptr) return fail(kRtParamInvalid, argument, " is null");
  Registry& r = registry();
  std::shared_lock lock(r.mutex);
  const auto found = containing(r, address);
  if (found == r.live.end()) {
    if (r.owns(address))
      return fail("use-after-free"_rule, kRtParamInvalid, argument,
                  " is in memory of the runtime that was freed");
    if (!fits_memory(address, count))
      return fail(kRtParamInvalid, "the ", count, " bytes from ", argument,
                  " on reach past the end of memory");
    return {};
  }
  if (found->second.made > time)
    return fail("use-after-free"_rule, kRtParamInvalid, argument,
                " is in memory of the runtime that was freed, and allocated again since");
  const size_t offset = number(address) - found->first;
  const size_t room = found->second.size - offset;
  if (count <= room) return {};
  return fail("out-of-bounds"_rule, kRtParamInvalid, argument, " is ", offset,
              " bytes into an allocation of ", found->second.size, " bytes; the ", count,
              " bytes from there reach past its end");
}

Status check_access(std::string_view argument, const void* address, size_t count, Touch touch) {
  {
    Registry& r = registry();
    std::shared_lock lock(r.mutex);
    if (r.owns(address)) return {};
  }
  if (is_accessible(address, count, touch)) return {};
  return fail(kRtParamInvalid, "the ", count, " bytes from ", argument, " on cannot be ",
              touch == Touch::read ? "read" : "written", ": the process has no such memory there");
}

size_t allocated_bytes() {
  std::shared_lock lock(registry().mutex);
  return registry().bytes;
}

}  // namespace softnpu::runtime
