// SPDX-License-Identifier: Apache-2.0
// Makes three calls of each kind that SOFTNPU_FAIL knows, and prints their statuses and messages.
// With an argument it makes many, and prints by how many bytes the process grew.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "aclnnop/aclnn_selu.h"
#include "parallel.h"

namespace {

constexpr size_t kBytes = 64;
const int64_t kShape[] = {16};
bool quiet = false;

void tell(const char* function, int status) {
  const char* const message = aclGetRecentErrMsg();
  if (!quiet) std::printf("%s|%d|%s\n", function, status, message == nullptr ? "" : message);
}
#define TELL(function, ...) tell(#function, function(__VA_ARGS__))

// What an out-parameter held before tells whether a failed call changed it.
void* const kBefore = &quiet;

void memory(void* block) {
  void* out = kBefore;
  const int status = aclrtMalloc(&out, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  tell("aclrtMalloc", status);
  EXPECT((out == nullptr) == (status != 0));
  if (out != nullptr) EXPECT(aclrtFree(out) == 0);
  out = kBefore;
  const int host_status = aclrtMallocHost(&out, kBytes);
  tell("aclrtMallocHost", host_status);
  EXPECT((out == nullptr) == (host_status != 0));
  if (out != nullptr) EXPECT(aclrtFreeHost(out) == 0);
  char bytes[kBytes] = {1};
  TELL(aclrtMemcpy, bytes, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
  TELL(aclrtMemcpyAsync, block, kBytes, bytes, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
  TELL(aclrtMemset, block, kBytes, 0, kBytes);
  TELL(aclrtMemsetAsync, block, kBytes, 0, kBytes, nullptr);
}

// Makes and destroys something, or leaves the out-parameter alone.
void make(const char* function, aclError (*create)(void**), aclError (*destroy)(void*)) {
  void* out = kBefore;
  const int status = create(&out);
  tell(function, status);
  EXPECT((out == kBefore) == (status != 0));
  if (status == 0) EXPECT(destroy(out) == 0);
}

void objects(void* block) {
  make("aclrtCreateStream", aclrtCreateStream, aclrtDestroyStream);
  make("aclrtCreateEvent", aclrtCreateEvent, aclrtDestroyEvent);
  aclrtContext before = nullptr;
  EXPECT(aclrtGetCurrentContext(&before) == 0);
  make(
      "aclrtCreateContext", [](void** out) { return aclrtCreateContext(out, 0); },
      aclrtDestroyContext);
  EXPECT(aclrtSetCurrentContext(before) == 0);
  aclTensor* const tensor =
      aclCreateTensor(kShape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, kShape, 1, block);
  tell("aclCreateTensor", tensor == nullptr ? -1 : 0);
  if (tensor != nullptr) EXPECT(aclDestroyTensor(tensor) == 0);
}

void synchronizations(aclrtEvent event) {
  TELL(aclrtSynchronizeStream, nullptr);
  tell("aclrtSynchronizeDevice", aclrtSynchronizeDevice());
  TELL(aclrtSynchronizeEvent, event);
}

// A launch that failed on purpose can be repeated.
void operators(aclTensor* tensor) {
  uint64_t size = 7;
  aclOpExecutor* executor = static_cast<aclOpExecutor*>(kBefore);
  const int planned = aclnnInplaceSeluGetWorkspaceSize(tensor, &size, &executor);
  tell("aclnnInplaceSeluGetWorkspaceSize", planned);
  EXPECT((executor == kBefore) == (planned != 0));
  if (planned != 0 && !quiet) {
    EXPECT(size == 7);
    EXPECT(aclnnInplaceSeluGetWorkspaceSize(tensor, &size, &executor) == 0);
  }
  const int launched = aclnnInplaceSelu(nullptr, 0, executor, nullptr);
  tell("aclnnInplaceSelu", launched);
  if (launched != 0 && !quiet) TELL(aclnnInplaceSelu, nullptr, 0, executor, nullptr);
}

long resident_bytes() {
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  EXPECT(file != nullptr && std::fscanf(file, "%*d %ld", &pages) == 1);
  std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

void make_many_calls() {
  quiet = true;
  const auto round = [] {
    memory(nullptr);
    objects(nullptr);
    synchronizations(nullptr);
    operators(nullptr);
  };
  for (int i = 0; i < 1000; ++i) round();
  const long before = resident_bytes();
  for (int i = 0; i < 50000; ++i) round();
  std::printf("%ld\n", resident_bytes() - before);
}

void make_each_call() {
  static float block[kBytes / sizeof(float)];
  void* device = nullptr;
  aclrtEvent event = nullptr;
  (void)aclrtCreateEvent(&event);
  (void)aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclTensor* const tensor =
      aclCreateTensor(kShape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, kShape, 1, device);
  EXPECT(device != nullptr && event != nullptr && tensor != nullptr);
  for (int i = 0; i < 3; ++i) {
    memory(device);
    objects(block);
    synchronizations(event);
    operators(tensor);
  }
}

}  // namespace

int main(int count, char**) {
  setenv("SOFTNPU_BANNER", "0", 1);
  const int status = aclInit(nullptr);
  if (status != 0) {
    tell("aclInit", status);
    return 2;
  }
  EXPECT(aclrtSetDevice(0) == 0);
  if (count > 1)
    make_many_calls();
  else
    make_each_call();
  return failed.load() == 0 ? 0 : 1;
}
