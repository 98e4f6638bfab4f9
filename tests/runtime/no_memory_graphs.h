// SPDX-License-Identifier: Apache-2.0
// Captures and graphs without memory, and what is captured, too.
#pragma once

#include "failing_allocations.h"

namespace no_memory {

class CapturedStreams {
 public:
  explicit CapturedStreams(std::initializer_list<int> codes) : codes_(codes) {
    EXPECT_OK(aclrtMalloc(&block_, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    for (aclrtStream* each : {&stream_, &other_}) EXPECT_OK(aclrtCreateStream(each));
    for (aclrtEvent* each : {&event_, &outside_}) EXPECT_OK(aclrtCreateEvent(each));
    EXPECT_OK(aclrtRecordEvent(outside_, other_));
    EXPECT_OK(aclrtSynchronizeStream(other_));
  }
  ~CapturedStreams() {
    for (aclrtStream each : {stream_, other_}) EXPECT_OK(aclrtDestroyStreamForce(each));
    for (aclrtEvent each : {event_, outside_}) EXPECT_OK(aclrtDestroyEvent(each));
    EXPECT_OK(aclrtFree(block_));
  }

  void capture() {
    at("aclmdlRICaptureBegin", nothing, [&] { return begin(); }, [&] { drop(); });
    aclmdlRICaptureStatus status;
    aclmdlRI graph = nullptr;
    EXPECT_OK(begin());
    at(
        "aclmdlRICaptureGetInfo", nothing,
        [&] { return aclmdlRICaptureGetInfo(stream_, &status, &graph); }, nothing);
    drop();
  }

  // A success leaves work in the capture, so that each call gets a new one.
  void work() {
    const auto fresh = [&] { drop(), EXPECT_OK(begin()); };
    const auto forked = [&] { fresh(), EXPECT_OK(aclrtRecordEvent(event_, stream_)); };
    at(
        "aclrtMemsetAsync", fresh, [&] { return aclrtMemsetAsync(block_, 64, 1, 64, stream_); },
        nothing);
    at(
        "aclrtLaunchHostFunc", fresh,
        [&] { return aclrtLaunchHostFunc(stream_, [](void*) {}, nullptr); }, nothing);
    at("aclrtRecordEvent", fresh, [&] { return aclrtRecordEvent(event_, stream_); }, nothing);
    at("aclrtResetEvent", fresh, [&] { return aclrtResetEvent(event_, stream_); }, nothing);
    at(
        "aclrtStreamWaitEvent", fresh, [&] { return aclrtStreamWaitEvent(stream_, outside_); },
        nothing);
    at(
        "aclrtStreamWaitEvent", forked, [&] { return aclrtStreamWaitEvent(other_, event_); },
        nothing);
    const auto create = [&] {
      if (stream_ == nullptr) EXPECT_OK(aclrtCreateStream(&stream_));
    };
    at(
        "aclrtDestroyStreamForce", [&] { create(), forked(); },
        [&] { return aclrtDestroyStreamForce(stream_); }, [&] { stream_ = nullptr; });
    create();
  }

  void graph() {
    aclmdlRI graph = nullptr;
    const auto fresh = [&] {
      drop(), EXPECT_OK(begin());
      EXPECT_OK(aclrtMemsetAsync(block_, 64, 1, 64, stream_));
      EXPECT_OK(aclrtRecordEvent(event_, stream_));
      EXPECT_OK(aclrtStreamWaitEvent(stream_, outside_));
    };
    const auto destroy = [&] { EXPECT_OK(aclmdlRIDestroy(graph)); };
    at("aclmdlRICaptureEnd", fresh, [&] { return aclmdlRICaptureEnd(stream_, &graph); }, destroy);
    drop(), fresh();
    EXPECT_OK(aclmdlRICaptureEnd(stream_, &graph));
    at(
        "aclmdlRIExecuteAsync", nothing, [&] { return aclmdlRIExecuteAsync(graph, stream_); },
        [&] { EXPECT_OK(aclrtSynchronizeStream(stream_)); });
    destroy();
    const auto take = [&] {
      if (graph != nullptr) return;
      fresh();
      EXPECT_OK(aclmdlRICaptureEnd(stream_, &graph));
    };
    graph = nullptr;
    at("aclmdlRIDestroy", take, [&] { return aclmdlRIDestroy(graph); }, [&] { graph = nullptr; });
  }

 private:
  template <class Prepare, class Call, class Undo>
  void at(const char* function, const Prepare& prepare, const Call& call, const Undo& undo) {
    at_every_site(function, codes_, prepare, call, undo);
  }
  int begin() { return aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED); }
  void drop() {
    aclmdlRI graph = nullptr;
    if (aclmdlRICaptureEnd(stream_, &graph) == 0) EXPECT_OK(aclmdlRIDestroy(graph));
  }

  const std::initializer_list<int> codes_;
  void* block_ = nullptr;
  aclrtStream stream_ = nullptr, other_ = nullptr;
  aclrtEvent event_ = nullptr, outside_ = nullptr;
};

inline void graphs() {
  CapturedStreams streams(device_codes);
  streams.capture();
  streams.work();
  streams.graph();
}

}  // namespace no_memory
