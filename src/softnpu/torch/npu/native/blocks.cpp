// SPDX-License-Identifier: Apache-2.0
// Blocks of device memory: who has them, which are kept for the next tensors, and how many there
// are.
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>

#include "memory.h"
#include "streams.h"
#include "work.h"

namespace softnpu::npu {
namespace {

using c10::CachingAllocator::StatType;
using c10::CachingDeviceAllocator::DeviceStats;

constexpr size_t kSmallest = 512;             // blocks are multiples of it
constexpr size_t kSmall = size_t{1} << 20;    // up to here a block is "small"
constexpr size_t kSegment = size_t{2} << 20;  // larger ones are multiples of it
// Freed blocks are kept for the next results, as the pages of new memory cost more than most
// operators; more than this of them would be missed elsewhere.
constexpr size_t kMostKept = size_t{1} << 30;

size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

struct Block {
  size_t asked;
  size_t bytes;     // the same in multiples of kSmallest
  size_t reserved;  // as allocated
  DeviceIndex device;
  c10::StreamId stream;                          // whose work may use the next block at this place
  c10::SmallVector<c10::Stream, 0> others = {};  // that have used it since: record_stream()
};

bool keeps_blocks() {
  static const bool keeps = std::getenv("PYTORCH_NO_NPU_MEMORY_CACHING") == nullptr;
  return keeps;
}

// The stream that a block is made for. Work that runs at once is done when a block is freed, so
// that any stream may have it next.
c10::StreamId stream_of_blocks(DeviceIndex index) {
  return is_tracked() ? current_stream(index).id() : 0;
}

class Memory {
 public:
  void* take(size_t asked, DeviceIndex index) {
    const size_t bytes = rounded(asked, kSmallest);
    const size_t reserved = bytes <= kSmall ? bytes : rounded(bytes, kSegment);
    const c10::StreamId stream = stream_of_blocks(index);
    std::unique_lock lock(mutex_);
    auto& kept = kept_[index];
    const auto found = kept.find({stream, reserved});
    void* base = nullptr;
    if (found != kept.end()) {
      base = found->second;
      kept.erase(found);
      kept_bytes_ -= reserved;
    } else {
      base = allocate(reserved, asked, index, lock);
    }
    live_[base] = {asked, bytes, reserved, index, stream};
    count(live_[base], true);
    if (void* const alias = runtime::kernel_address(base); alias != base) blocks_[alias] = base;
    lock.unlock();
    runtime::note_block(base);
    return base;
  }

  void note_use(void* base, const c10::Stream& stream) {
    std::lock_guard lock(mutex_);
    const auto found = live_.find(base);
    if (found != live_.end() && is_tracked() && stream.id() != found->second.stream)
      found->second.others.push_back(stream);
  }

  // The block that the library itself, and so the CPU's kernels, see at another address.
  void* block_at(void* address) {
    std::lock_guard lock(mutex_);
    return find_block(address);
  }

  void give_back(void* address) {
    std::unique_lock lock(mutex_);
    void* const base = find_block(address);
    const auto found = live_.find(base);
    if (found == live_.end()) return;  // the process ends, and all was freed
    const Block block = found->second;
    live_.erase(found);
    for (const c10::Stream& other : block.others) wait_for(other, block);
    count(block, false);
    if (keeps_blocks() && kept_bytes_ + block.reserved <= kMostKept) {
      kept_[block.device].emplace(Kind{block.stream, block.reserved}, base);
      kept_bytes_ += block.reserved;
      return;
    }
    forget(base, block.reserved, block.device);
    lock.unlock();
    free_after_work(base, block.device);
  }

  void release_kept() {
    if (is_tracked()) wait_for_all_devices();
    std::lock_guard lock(mutex_);
    for (size_t i = 0; i < kept_.size(); ++i) release_kept(static_cast<DeviceIndex>(i));
  }

  // For the end of the process: tensors that are still there are no leaks.
  void release_all() {
    release_kept();
    std::lock_guard lock(mutex_);
    for (const auto& [base, block] : live_) (void)aclrtFree(base);
    live_.clear();
  }

  DeviceIndex device_of(const void* address) {
    std::lock_guard lock(mutex_);
    for (const auto& [base, block] : live_) {
      const auto* const first = static_cast<const std::byte*>(base);
      if (address >= first && address < first + block.reserved) return block.device;
    }
    return -1;
  }

  bool has(void* address) {
    std::lock_guard lock(mutex_);
    return live_.count(find_block(address)) > 0;
  }

  DeviceStats stats(DeviceIndex index) {
    std::lock_guard lock(mutex_);
    return stats_[index];
  }

  template <class Action>
  void for_each_stat(DeviceIndex index, Action action) {
    std::lock_guard lock(mutex_);
    auto& s = stats_[index];
    for (auto* each : {&s.allocation, &s.segment, &s.active, &s.allocated_bytes, &s.reserved_bytes,
                       &s.active_bytes, &s.requested_bytes})
      for (auto& one : *each) action(one);
  }

 private:
  using Kind = std::pair<c10::StreamId, size_t>;  // the stream, and the bytes

  void* find_block(void* address) const {
    const auto found = blocks_.find(address);
    return found == blocks_.end() ? address : found->second;
  }

  // Holds the stream that may have a block next back until another is done with it.
  static void wait_for(const c10::Stream& other, const Block& block) {
    const c10::Stream next(c10::Stream::UNSAFE, c10::Device(kNpu, block.device), block.stream);
    aclrtEvent event = nullptr;
    if (aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC) != ACL_SUCCESS) return;
    (void)aclrtRecordEvent(event, handle_of(other));
    (void)aclrtStreamWaitEvent(handle_of(next), event);
    (void)aclrtDestroyEvent(event);
  }

  void* allocate(size_t reserved, size_t asked, DeviceIndex index,
                 std::unique_lock<std::mutex>& lock) {
    enter(index);
    void* base = nullptr;
    aclError status = aclrtMalloc(&base, reserved, ACL_MEM_MALLOC_HUGE_FIRST);
    if (status != ACL_SUCCESS && !kept_[index].empty()) {
      ++stats_[index].num_alloc_retries;
      lock.unlock();  // the work that is waited for may need it
      if (is_tracked()) wait_for_device(index);
      lock.lock();
      release_kept(index);
      status = aclrtMalloc(&base, reserved, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    if (status != ACL_SUCCESS) raise_out_of_memory(asked, index, status);
    ++stats_[index].num_device_alloc;
    for_types(reserved, [&](size_t type) {
      stats_[index].segment[type].increase(1);
      stats_[index].reserved_bytes[type].increase(reserved);
    });
    return base;
  }

  // As on a device, frees memory when its work is done.
  static void free_after_work(void* base, DeviceIndex index) {
    if (!is_tracked() || is_bad_fork()) return (void)aclrtFree(base);
    enter(index);
    (void)aclrtFreeWithDevSync(base);
  }

  void forget(void* base, size_t reserved, DeviceIndex index) {
    blocks_.erase(runtime::kernel_address(base));
    ++stats_[index].num_device_free;
    for_types(reserved, [&](size_t type) {
      stats_[index].segment[type].decrease(1);
      stats_[index].reserved_bytes[type].decrease(reserved);
    });
  }

  void release_kept(DeviceIndex index) {
    for (const auto& [kind, base] : kept_[index]) {
      forget(base, kind.second, index);
      (void)aclrtFree(base);
      kept_bytes_ -= kind.second;
    }
    kept_[index].clear();
  }

  [[noreturn]] void raise_out_of_memory(size_t asked, DeviceIndex index, aclError status) {
    ++stats_[index].num_ooms;
    size_t free = 0;
    size_t total = 0;
    (void)aclrtGetMemInfo(ACL_HBM_MEM, &free, &total);
    const auto size = [](size_t bytes) {
      std::array<char, 32> text{};
      const bool large = bytes >= size_t{1} << 30;
      std::snprintf(text.data(), text.size(), "%.2f %s",
                    static_cast<double>(bytes) / (large ? 1 << 30 : 1 << 20),
                    large ? "GiB" : "MiB");
      return std::string(text.data());
    };
    const auto& s = stats_[index];
    const auto now = [](const auto& stat) { return static_cast<size_t>(stat[0].current); };
    TORCH_CHECK_WITH(OutOfMemoryError, false, "NPU out of memory. Tried to allocate ", size(asked),
                     " (NPU ", static_cast<int>(index), "; ", size(total), " total capacity; ",
                     size(now(s.allocated_bytes)), " already allocated; ", size(free), " free; ",
                     size(now(s.reserved_bytes)), " reserved in total by PyTorch; aclrtMalloc ",
                     "returned ", status, ")");
  }

  template <class Action>
  static void for_types(size_t bytes, Action action) {
    action(static_cast<size_t>(StatType::AGGREGATE));
    action(static_cast<size_t>(bytes <= kSmall ? StatType::SMALL_POOL : StatType::LARGE_POOL));
  }

  void count(const Block& block, bool comes) {
    auto& s = stats_[block.device];
    for_types(block.bytes, [&](size_t type) {
      const auto change = [&](auto& stat, size_t by) {
        comes ? stat[type].increase(by) : stat[type].decrease(by);
      };
      change(s.allocation, 1);
      change(s.active, 1);
      change(s.allocated_bytes, block.bytes);
      change(s.active_bytes, block.bytes);
      change(s.requested_bytes, block.asked);
    });
  }

  std::mutex mutex_;
  std::unordered_map<void*, Block> live_;
  std::unordered_map<void*, void*> blocks_;  // by kernel_address(), where that is another
  std::array<std::multimap<Kind, void*>, kMostDevices> kept_;
  std::array<DeviceStats, kMostDevices> stats_;
  size_t kept_bytes_ = 0;
};

// Never destroyed: tensors may outlive everything.
Memory& memory() {
  static Memory& only = *[] {
    std::atexit([] {
      if (is_bad_fork()) return;
      end_streams();
      memory().release_all();
    });
    return new Memory;
  }();
  return only;
}

}  // namespace
}  // namespace softnpu::npu
