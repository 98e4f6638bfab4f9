// SPDX-License-Identifier: Apache-2.0
// What the programs share: a device that is set, and calls that must succeed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_elu.h"

inline void must(int status) {
  if (status == 0) return;
  const char* message = aclGetRecentErrMsg();
  std::printf("unexpected: %d %s\n", status, message == nullptr ? "" : message);
  std::exit(1);
}

inline void begin() {
  must(aclInit(nullptr));
  must(aclrtSetDevice(0));
}

inline void end() {
  must(aclrtResetDevice(0));
  must(aclFinalize());
}

constexpr int64_t kCount = 16;
constexpr size_t kBytes = kCount * sizeof(float);

// Device memory for kCount floats, written unless asked otherwise.
inline void* floats(bool written = true) {
  void* memory = nullptr;
  must(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  const std::vector<float> ones(kCount, 1.0f);
  if (written) must(aclrtMemcpy(memory, kBytes, ones.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return memory;
}

inline aclTensor* tensor(void* memory) {
  return aclCreateTensor(&kCount, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kCount, 1, memory);
}

// out = elu(self), in two phases.
struct Elu {
  aclTensor* self;
  aclTensor* out;
  aclScalar* one;
  void* workspace = nullptr;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;

  Elu(void* from, void* to) : self(tensor(from)), out(tensor(to)) {
    float value = 1.0f;
    one = aclCreateScalar(&value, ACL_FLOAT);
  }
  void plan() {
    must(aclnnEluGetWorkspaceSize(self, one, one, one, out, &size, &executor));
    if (size > 0) must(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  void launch(aclrtStream stream) { must(aclnnElu(workspace, size, executor, stream)); }
  void destroy() {
    must(aclDestroyTensor(self));
    must(aclDestroyTensor(out));
    must(aclDestroyScalar(one));
    if (workspace != nullptr) must(aclrtFree(workspace));
  }
};
