// SPDX-License-Identifier: Apache-2.0
// A device and what there is on it: streams, events, memory that is kept for the next tensor of its
// size, page-locked host memory, and work that is captured once. Failures are exceptions.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace rt {

struct Error : std::runtime_error {
  Error(const char* call, int code) : std::runtime_error(described(call, code)), status(code) {}
  int status;

 private:
  static std::string described(const char* call, int status) {
    const char* const message = aclGetRecentErrMsg();
    return std::string(call) + ": " + std::to_string(status) + ": " + (message ? message : "");
  }
};

inline void check(int status, const char* call) {
  if (status != ACL_SUCCESS) throw Error(call, status);
}
#define RT_CHECK(call) ::rt::check((call), #call)

struct Unique {
  Unique() = default;
  Unique(const Unique&) = delete;
  Unique& operator=(const Unique&) = delete;
};

class Device : Unique {
 public:
  explicit Device(int32_t id) : id_(id) {
    RT_CHECK(aclInit(nullptr));
    RT_CHECK(aclrtSetDevice(id));
  }
  ~Device() {
    aclrtResetDevice(id_);
    aclFinalize();
  }

 private:
  int32_t id_;
};

class Stream : Unique {
 public:
  Stream() { RT_CHECK(aclrtCreateStreamWithConfig(&stream_, 0, ACL_STREAM_FAST_LAUNCH)); }
  ~Stream() { aclrtDestroyStream(stream_); }

  aclrtStream get() const { return stream_; }
  void synchronize() { RT_CHECK(aclrtSynchronizeStream(stream_)); }
  bool is_capturing() const {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI graph = nullptr;
    RT_CHECK(aclmdlRICaptureGetInfo(stream_, &status, &graph));
    return status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  }

 private:
  aclrtStream stream_ = nullptr;
};

class Event : Unique {
 public:
  Event() { RT_CHECK(aclrtCreateEventWithFlag(&event_, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE)); }
  ~Event() { aclrtDestroyEvent(event_); }

  void record(const Stream& stream) { RT_CHECK(aclrtRecordEvent(event_, stream.get())); }
  void hold_back(const Stream& stream) { RT_CHECK(aclrtStreamWaitEvent(stream.get(), event_)); }
  void synchronize() { RT_CHECK(aclrtSynchronizeEvent(event_)); }
  float milliseconds_since(const Event& start) const {
    float elapsed = 0;
    RT_CHECK(aclrtEventElapsedTime(&elapsed, start.event_, event_));
    return elapsed;
  }

 private:
  aclrtEvent event_ = nullptr;
};

class Allocator : Unique {
 public:
  ~Allocator() {
    for (const auto& block : used_) aclrtFree(block.first);
    for (const auto& size : idle_)
      for (void* const block : size.second) aclrtFree(block);
  }

  void* allocate(size_t bytes) {
    if (frozen_) throw std::logic_error("allocate everything before the capture");
    size_t size = 512;
    while (size < bytes) size *= 2;
    std::vector<void*>& idle = idle_[size];
    void* block = nullptr;
    if (idle.empty()) {
      RT_CHECK(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
    } else {
      block = idle.back();
      idle.pop_back();
    }
    used_[block] = size;
    return block;
  }
  void give_back(void* address) {
    const auto found = used_.find(address);
    if (found == used_.end()) throw std::logic_error("this block is not in use");
    idle_[found->second].push_back(address);
    used_.erase(found);
  }
  // A capture keeps addresses: from now on nothing is handed out.
  void freeze() { frozen_ = true; }

 private:
  std::map<void*, size_t> used_;
  std::map<size_t, std::vector<void*>> idle_;
  bool frozen_ = false;
};

class HostBuffer : Unique {
 public:
  explicit HostBuffer(size_t count) : bytes_(count * sizeof(float)) {
    RT_CHECK(aclrtMallocHost(&data_, bytes_));
  }
  ~HostBuffer() { aclrtFreeHost(data_); }

  float* data() const { return static_cast<float*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

class Graph : Unique {
 public:
  ~Graph() {
    if (graph_ != nullptr) aclmdlRIDestroy(graph_);
  }

  template <class Body>
  void capture(const Stream& stream, Body&& body) {
    RT_CHECK(aclmdlRICaptureBegin(stream.get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    body();
    RT_CHECK(aclmdlRICaptureEnd(stream.get(), &graph_));
  }
  void replay(const Stream& stream) const { RT_CHECK(aclmdlRIExecuteAsync(graph_, stream.get())); }

 private:
  aclmdlRI graph_ = nullptr;
};

}  // namespace rt
