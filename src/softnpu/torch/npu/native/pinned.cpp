// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory: of tensor.pin_memory().
#include <map>
#include <mutex>

#include "memory.h"
#include "streams.h"
#include "work.h"

namespace softnpu::npu {
namespace {

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    enter(current_device());
    void* base = nullptr;
    const size_t size = std::max<size_t>(bytes, 1);
    check(aclrtMallocHost(&base, size), "aclrtMallocHost");
    std::lock_guard lock(mutex());
    blocks()[base] = size;
    runtime::note_block(base);
    return {base, base, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t count) const override {
    default_copy_data(to, from, count);
  }

  static bool holds(const void* address) {
    std::lock_guard lock(mutex());
    auto next = blocks().upper_bound(const_cast<void*>(address));
    if (next == blocks().begin()) return false;
    --next;
    return address < static_cast<std::byte*>(next->first) + next->second;
  }

  static void release_all() {
    if (is_bad_fork()) return;
    wait_for_all_devices();
    std::lock_guard lock(mutex());
    for (const auto& [base, size] : blocks()) (void)aclrtFreeHost(base);
    blocks().clear();
  }

 private:
  static void release(void* base) {
    std::lock_guard lock(mutex());
    if (blocks().erase(base) > 0) (void)aclrtFreeHost(base);
  }
  static std::mutex& mutex() {
    static std::mutex& only = *new std::mutex;
    return only;
  }
  static std::map<void*, size_t>& blocks() {
    static auto& only = *[] {
      std::atexit(&release_all);
      return new std::map<void*, size_t>;
    }();
    return only;
  }
};

PinnedAllocator& pinned_allocator() {
  static PinnedAllocator& only = *new PinnedAllocator;
  return only;
}

}  // namespace
}  // namespace softnpu::npu
