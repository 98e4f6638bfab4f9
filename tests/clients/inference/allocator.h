// SPDX-License-Identifier: Apache-2.0
// Device memory that is kept for the next tensor of its size, and page-locked host memory.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace rt {

class Allocator {
 public:
  Allocator() = default;
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  void* allocate(size_t bytes);
  void give_back(void* address);
  // A capture keeps addresses: until the pool is thawed it hands nothing out.
  void freeze(bool frozen) { frozen_ = frozen; }
  size_t reserved() const { return reserved_; }

 private:
  static size_t rounded(size_t bytes);

  std::map<void*, size_t> used_;
  std::map<size_t, std::vector<void*>> idle_;
  size_t reserved_ = 0;
  bool frozen_ = false;
};

class HostBuffer {
 public:
  explicit HostBuffer(size_t count);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  float* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  float* data_ = nullptr;
  size_t bytes_;
};

}  // namespace rt
