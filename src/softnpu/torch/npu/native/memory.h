// SPDX-License-Identifier: Apache-2.0
// The allocator of device memory, and PyTorch's statistics of it.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Stream.h>

#include "devices.h"

namespace softnpu::runtime {
// Of libsoftnpu.so: where the library itself, as the device, reads and writes device memory. Under
// the checkers the program's own reads and writes of it end in SIGSEGV.
std::byte* kernel_address(const void* address);
}  // namespace softnpu::runtime

namespace softnpu::npu {

c10::DeviceAllocator& allocator();

// A block of device memory, to be given back by release_block(). Null for 0 bytes.
void* allocate_block(size_t bytes, DeviceIndex index);
void release_block(void* block);

// The device whose memory `address` lies in; -1 if none.
DeviceIndex device_of(const void* address);

// From here on the calling thread's CPU tensors get device memory, as results of operators that
// the CPU computes for a device.
class ResultsOnDevice {
 public:
  explicit ResultsOnDevice(DeviceIndex index);
  ~ResultsOnDevice();
  ResultsOnDevice(const ResultsOnDevice&) = delete;
  ResultsOnDevice& operator=(const ResultsOnDevice&) = delete;

 private:
  DeviceIndex before_;
};

c10::Allocator& result_allocator();

// Moves what a CPU tensor holds to the device, without a copy. False if its memory is not a
// block.
bool is_block(const c10::DataPtr& memory);
c10::DataPtr to_device(c10::DataPtr&& memory, DeviceIndex index);

}  // namespace softnpu::npu
