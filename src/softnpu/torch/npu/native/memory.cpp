// SPDX-License-Identifier: Apache-2.0
// The allocators that PyTorch asks, for tensors of the device and for those of the CPU.
#include "memory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstring>

#include "work.h"

namespace softnpu::npu {
namespace {

class NpuAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const DeviceIndex index = current_device();
    void* const block = allocate_block(bytes, index);
    return {block, block, &release_block, c10::Device(kNpu, index)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release_block; }
  void copy_data(void* to, const void* from, size_t count) const override {
    if (count == 0) return;
    const DeviceIndex index = current_device();
    if (is_tracked()) run_work_before(index, Waits::stream);
    std::memcpy(runtime::kernel_address(to), runtime::kernel_address(from), count);
    if (is_tracked()) note_written(index, "storage.resize_", to, count);
  }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override { memory().release_kept(); }
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    memory().note_use(data.get(), stream);
  }
  DeviceStats getDeviceStats(DeviceIndex index) override { return memory().stats(index); }
  void resetAccumulatedStats(DeviceIndex index) override {
    memory().for_each_stat(index, [](auto& stat) { stat.reset_accumulated(); });
  }
  void resetPeakStats(DeviceIndex index) override {
    memory().for_each_stat(index, [](auto& stat) { stat.reset_peak(); });
  }
  std::pair<size_t, size_t> getMemoryInfo(DeviceIndex index) override {
    enter(index);
    std::pair<size_t, size_t> info;
    check(aclrtGetMemInfo(ACL_HBM_MEM, &info.first, &info.second), "aclrtGetMemInfo");
    return info;
  }
};

NpuAllocator& the_allocator() {
  static NpuAllocator& only = *new NpuAllocator;
  return only;
}

thread_local DeviceIndex results_on = -1;

// Stands before PyTorch's own allocator, and asks it unless the thread computes for a device.
class ResultAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (results_on < 0) return c10::GetDefaultCPUAllocator()->allocate(bytes);
    void* const block = allocate_block(bytes, results_on);
    void* const seen = block == nullptr ? nullptr : runtime::kernel_address(block);
    return {seen, seen, &release_block, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release_any; }
  void copy_data(void* to, const void* from, size_t count) const override {
    default_copy_data(to, from, count);
  }

 private:
  static void release_any(void* address) {
    memory().has(address) ? release_block(address) : c10::free_cpu(address);
  }
};

// Never destroyed, for the same reason.
ResultAllocator& results = *new ResultAllocator;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &the_allocator())

[[maybe_unused]] const bool stands_before = [] {
  c10::SetAllocator(c10::DeviceType::CPU, &results, 1);
  return true;
}();

}  // namespace

c10::DeviceAllocator& allocator() { return the_allocator(); }
c10::Allocator& result_allocator() { return results; }

void* allocate_block(size_t bytes, DeviceIndex index) {
  return bytes == 0 ? nullptr : memory().take(bytes, checked_device(index));
}

void release_block(void* block) {
  if (block != nullptr) memory().give_back(block);
}

DeviceIndex device_of(const void* address) { return memory().device_of(address); }

ResultsOnDevice::ResultsOnDevice(DeviceIndex index) : before_(results_on) { results_on = index; }
ResultsOnDevice::~ResultsOnDevice() { results_on = before_; }

bool is_block(const c10::DataPtr& memory) { return memory.get_deleter() == &release_block; }

c10::DataPtr to_device(c10::DataPtr&& data, DeviceIndex index) {
  void* const block = memory().block_at(data.release_context());
  return {block, block, &release_block, c10::Device(kNpu, index)};
}

}  // namespace softnpu::npu
