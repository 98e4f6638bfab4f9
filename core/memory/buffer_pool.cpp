// SPDX-License-Identifier: Apache-2.0
#include "memory/buffer_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "base/address_sanitizer.h"
#include "base/environment.h"
#include "base/fork.h"
#include "base/lasting.h"
#include "memory/pages.h"
#include "runtime/machine.h"

namespace softnpu::memory {
namespace {

constexpr size_t kMostByDefault = size_t{1} << 30;

std::atomic<size_t> default_limit() {
  constexpr size_t kMiB = size_t{1} << 20;
  const auto wish = number_setting<size_t>("SOFTNPU_POOL_MB", 0, SIZE_MAX / kMiB);
  if (wish) return *wish * kMiB;
  return std::min(kMostByDefault, runtime::memory_limit() / 8 / kMiB * kMiB);
}

std::atomic<size_t>& limit() { return made_once<default_limit>(); }

size_t capacity_for(size_t bytes) {
  const size_t step = std::bit_floor(bytes) / kPoolSizes;
  return (bytes + step - 1) / step * step;
}

enum class State : uint8_t { live, returning, idle };
constexpr uint64_t kNever = UINT64_MAX;

struct Block {
  std::byte* data;
  size_t capacity;
  size_t bytes;  // requested
  State state;
  bool fresh;
  uint64_t idle_since;  // counts returns; kNever while it is not idle
};

class BufferPool {
 public:
  BufferPool() {
    // Registered after the lock's own handlers, so that the lock is free. A child releases idle
    // buffers: their pages are shared with the parent and would be copied when written.
    pthread_atfork(nullptr, nullptr, [] { release_idle_buffers(); });
  }

  std::byte* acquire(size_t bytes) noexcept {
    if (bytes < kLargeBytes || bytes > SIZE_MAX / 2) return nullptr;
    if (std::byte* data = reuse(bytes)) return data;
    const size_t capacity = capacity_for(bytes);
    std::byte* data = map_pages(capacity);
    if (data == nullptr && release_down_to(0) > 0) data = map_pages(capacity);
    if (data == nullptr) return nullptr;
    try {
      const std::lock_guard lock(mutex_);
      blocks_.push_back({data, capacity, bytes, State::live, true, kNever});
      usage_.live += capacity;
    } catch (const std::bad_alloc&) {
      unmap_pages(data, capacity);
      return nullptr;
    }
    ASAN_POISON_MEMORY_REGION(data + bytes, capacity - bytes);
    return data;
  }

  bool release(const void* address) noexcept {
    Block returned;
    bool keep;
    {
      const std::lock_guard lock(mutex_);
      const auto block = find(address, State::live);
      if (block == blocks_.end()) return false;
      returned = *block;
      keep = returned.capacity <= pool_limit();
      block->state = State::returning;
      if (!keep) forget(block);
    }
    // Slow work is done without the lock.
    if (!keep) {
      unmap(returned);
      return true;
    }
    offer_pages(returned.data, returned.capacity);
    ASAN_POISON_MEMORY_REGION(returned.data, returned.capacity);
    {
      const std::lock_guard lock(mutex_);
      const auto block = find(address, State::returning);
      block->state = State::idle;
      block->idle_since = ++returns_;
      usage_.live -= returned.capacity;
      usage_.idle += returned.capacity;
    }
    release_down_to(pool_limit());
    return true;
  }

  std::optional<BufferUse> use_of(const void* address) noexcept {
    const std::lock_guard lock(mutex_);
    const auto block = find(address, State::live);
    if (block == blocks_.end()) return std::nullopt;
    return BufferUse{block->bytes, block->fresh};
  }

  // Releases idle buffers, the oldest first. Returns how many bytes were released.
  size_t release_down_to(size_t most_idle) noexcept {
    size_t released = 0;
    for (;;) {
      Block oldest;
      {
        const std::lock_guard lock(mutex_);
        if (usage_.idle <= most_idle) return released;
        const auto found = std::min_element(
            blocks_.begin(), blocks_.end(),
            [](const Block& a, const Block& b) { return a.idle_since < b.idle_since; });
        oldest = *found;
        forget(found);
      }
      unmap(oldest);
      released += oldest.capacity;
    }
  }

  PoolUsage usage() noexcept {
    const std::lock_guard lock(mutex_);
    return usage_;
  }

 private:
  static void unmap(const Block& block) {
    ASAN_UNPOISON_MEMORY_REGION(block.data, block.capacity);
    unmap_pages(block.data, block.capacity);
  }

  // The smallest buffer that wastes no more than one size; among equal ones the last returned,
  // which is most likely still in a cache.
  std::byte* reuse(size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    Block* best = nullptr;
    for (Block& b : blocks_) {
      if (b.state != State::idle || b.capacity < bytes || b.capacity - bytes > bytes / kPoolSizes)
        continue;
      if (best == nullptr || b.capacity < best->capacity ||
          (b.capacity == best->capacity && b.idle_since > best->idle_since))
        best = &b;
    }
    if (best == nullptr) return nullptr;
    best->state = State::live;
    best->idle_since = kNever;
    best->fresh = false;
    best->bytes = bytes;
    usage_.idle -= best->capacity;
    usage_.live += best->capacity;
    ASAN_UNPOISON_MEMORY_REGION(best->data, bytes);
    return best->data;
  }

  // The rest requires the lock.
  using Place = std::vector<Block>::iterator;

  Place find(const void* address, State state) noexcept {
    return std::find_if(blocks_.begin(), blocks_.end(),
                        [&](const Block& b) { return b.data == address && b.state == state; });
  }

  void forget(Place block) noexcept {
    (block->state == State::idle ? usage_.idle : usage_.live) -= block->capacity;
    blocks_.erase(block);
  }

  ProcessMutex<> mutex_;
  std::vector<Block> blocks_;  // few, because each has megabytes
  uint64_t returns_ = 0;
  PoolUsage usage_{};
};

BufferPool& pool() { return lasting<BufferPool>; }

}  // namespace

size_t pool_limit() { return limit().load(std::memory_order_relaxed); }

void set_pool_limit(size_t bytes) {
  limit() = bytes;
  pool().release_down_to(bytes);
}

std::byte* acquire_buffer(size_t bytes) noexcept { return pool().acquire(bytes); }
bool release_buffer(void* data) noexcept { return pool().release(data); }
std::optional<BufferUse> find_buffer(const void* data) noexcept { return pool().use_of(data); }
size_t release_idle_buffers() noexcept { return pool().release_down_to(0); }
PoolUsage pool_usage() noexcept { return pool().usage(); }

}  // namespace softnpu::memory
