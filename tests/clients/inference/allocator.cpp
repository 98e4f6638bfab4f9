// SPDX-License-Identifier: Apache-2.0
#include "allocator.h"

#include "device.h"

namespace rt {

Allocator::~Allocator() {
  for (const auto& block : used_) aclrtFree(block.first);
  for (const auto& size : idle_)
    for (void* const block : size.second) aclrtFree(block);
}

size_t Allocator::rounded(size_t bytes) {
  size_t size = 512;
  while (size < bytes) size *= 2;
  return size;
}

void* Allocator::allocate(size_t bytes) {
  if (frozen_) throw std::logic_error("allocate everything before the capture");
  const size_t size = rounded(bytes);
  std::vector<void*>& idle = idle_[size];
  void* block = nullptr;
  if (idle.empty()) {
    RT_CHECK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
    reserved_ += size;
  } else {
    block = idle.back();
    idle.pop_back();
  }
  used_[block] = size;
  return block;
}

void Allocator::give_back(void* address) {
  const auto found = used_.find(address);
  if (found == used_.end()) throw std::logic_error("this block is not in use");
  idle_[found->second].push_back(address);
  used_.erase(found);
}

HostBuffer::HostBuffer(size_t count) : bytes_(count * sizeof(float)) {
  void* address = nullptr;
  RT_CHECK(aclrtMallocHost(&address, bytes_));
  data_ = static_cast<float*>(address);
}

HostBuffer::~HostBuffer() { aclrtFreeHost(data_); }

}  // namespace rt
