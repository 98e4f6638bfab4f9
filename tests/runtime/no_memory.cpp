// SPDX-License-Identifier: Apache-2.0
// Every call where all allocations from the first on fail, then from the second on, and so on until
// it succeeds: a call that fails says so with a documented code, changes nothing and can be
// repeated.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#include "acl/acl.h"
#include "aclnnop/aclnn_elu_backward.h"
#include "aclnnop/aclnn_max_unpool3d.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "aclnnop/aclnn_selu_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "aclnnop/aclnn_upsample_nearest_3d.h"
#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"
#include "parallel.h"

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

std::atomic<long> allocations_left{-1};  // below 0: no limit
std::atomic<long> runs{0};

bool fails() {
  if (allocations_left.load() < 0) return false;
  if (allocations_left.load() == 0) return true;
  allocations_left.fetch_sub(1);
  return false;
}

}  // namespace

extern "C" {
void* malloc(size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return fails() ? nullptr : __libc_realloc(block, size); }
void* memalign(size_t alignment, size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
}

namespace {

constexpr int kMost = 300;

// Calls until there is memory enough. `codes` are what it may say until then.
template <class Call>
void until_it_works(const char* what, std::initializer_list<int> codes, const Call& call) {
  for (long limit = 0; limit < kMost; ++limit) {
    allocations_left = limit;
    const int status = call();
    allocations_left = -1;
    runs.fetch_add(1);
    if (status == 0) return;
    if (std::find(codes.begin(), codes.end(), status) == codes.end()) {
      std::fprintf(stderr, "%s with %ld allocations: %d\n", what, limit, status);
      expect(false, what);
      return;
    }
  }
  expect(false, what);
}
#define WORKS(call, ...) \
  until_it_works(#call, {__VA_ARGS__}, [&] { return static_cast<int>(call); })
// 0 where a handle was made, else -1.
#define MADE(handle, call) until_it_works(#call, {-1}, [&] { return ((handle) = (call)) ? 0 : -1; })

constexpr int kBadAlloc = ACL_ERROR_BAD_ALLOC, kNoMemory = ACL_ERROR_RT_MEMORY_ALLOCATION,
              kNoResource = ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
constexpr int kInner = 561103;  // every operator's phase one and two

struct Operands {
  void* memory[4] = {};
  aclTensor* tensors[4] = {};

  explicit Operands(aclDataType third) {
    const int64_t shape[] = {1, 1, 2, 2, 2};
    for (int i = 0; i < 4; ++i) {
      WORKS(aclrtMalloc(&memory[i], 64, ACL_MEM_MALLOC_HUGE_FIRST), kBadAlloc, kNoMemory);
      WORKS(aclrtMemset(memory[i], 64, 0, 64), kBadAlloc, kNoMemory);
      MADE(tensors[i], aclCreateTensor(shape, 5, i == 2 ? third : ACL_FLOAT, nullptr, 0,
                                       ACL_FORMAT_NCDHW, shape, 5, memory[i]));
    }
  }
  ~Operands() {
    for (aclTensor* each : tensors) WORKS(aclDestroyTensor(each), kBadAlloc, kInner);
    for (void* each : memory) WORKS(aclrtFree(each), kBadAlloc, kNoMemory);
  }
};

using Launch = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);

template <class Plan>
void run(const Plan& plan, Launch launch, aclrtStream stream) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  WORKS(plan(&size, &executor), kInner);
  void* workspace = nullptr;
  if (size > 0) EXPECT_OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  WORKS(launch(workspace, size, executor, stream), kInner);
  EXPECT_OK(aclrtSynchronizeStream(stream));
  if (size > 0) EXPECT_OK(aclrtFree(workspace));
}

void run_operators(aclrtStream stream) {
  const Operands in(ACL_FLOAT), gather(ACL_INT64);
  aclTensor *const a = in.tensors[0], *const b = in.tensors[1], *const c = in.tensors[2],
                   *const out = in.tensors[3];
  float one = 1;
  aclScalar* scalar = nullptr;
  MADE(scalar, aclCreateScalar(&one, ACL_FLOAT));
  const int64_t twos[] = {2, 2, 2}, ones[] = {1, 1, 1}, whole[] = {1, 1, 2, 2, 2};
  aclIntArray *size = nullptr, *step = nullptr, *input = nullptr;
  MADE(size, aclCreateIntArray(twos, 3));
  MADE(step, aclCreateIntArray(ones, 3));
  MADE(input, aclCreateIntArray(whole, 5));
  aclTensor* mean = nullptr;
  MADE(mean, aclCreateTensor(ones, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, ones, 1, in.memory[3]));
  run(
      [&](auto... end) {
        return aclnnEluBackwardGetWorkspaceSize(a, scalar, scalar, scalar, false, b, out, end...);
      },
      aclnnEluBackward, stream);
  run([&](auto... end) { return aclnnSeluBackwardGetWorkspaceSize(a, b, out, end...); },
      aclnnSeluBackward, stream);
  run(
      [&](auto... end) {
        return aclnnSmoothL1LossBackwardGetWorkspaceSize(a, b, c, 0, 1.0f, out, end...);
      },
      aclnnSmoothL1LossBackward, stream);
  run([&](auto... end) { return aclnnSmoothL1LossGetWorkspaceSize(a, b, 1, 1.0f, mean, end...); },
      aclnnSmoothL1Loss, stream);
  run(
      [&](auto... end) {
        return aclnnUpsampleNearest3dGetWorkspaceSize(a, size, 0, 0, 0, out, end...);
      },
      aclnnUpsampleNearest3d, stream);
  run(
      [&](auto... end) {
        return aclnnUpsampleNearest3dBackwardGetWorkspaceSize(a, size, input, 0, 0, 0, out, end...);
      },
      aclnnUpsampleNearest3dBackward, stream);
  run(
      [&](auto... end) {
        return aclnnMaxUnpool3dGetWorkspaceSize(gather.tensors[0], gather.tensors[2], size, step,
                                                step, gather.tensors[3], end...);
      },
      aclnnMaxUnpool3d, stream);
  run(
      [&](auto... end) {
        return aclnnMaxUnpool3dBackwardGetWorkspaceSize(gather.tensors[0], gather.tensors[1],
                                                        gather.tensors[2], size, step, step,
                                                        gather.tensors[3], end...);
      },
      aclnnMaxUnpool3dBackward, stream);
  for (aclIntArray* each : {size, step, input}) WORKS(aclDestroyIntArray(each), kBadAlloc, kInner);
  WORKS(aclDestroyTensor(mean), kBadAlloc, kInner);
  WORKS(aclDestroyScalar(scalar), kBadAlloc, kInner);
}

void use_everything() {
  WORKS(aclrtSetDevice(0), kBadAlloc, kNoResource);
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent event = nullptr;
  WORKS(aclrtCreateStream(&stream), kBadAlloc, kNoResource);
  WORKS(aclrtCreateStream(&other), kBadAlloc, kNoResource);
  WORKS(aclrtCreateEvent(&event), kBadAlloc, kNoResource);
  run_operators(stream);
  void* memory = nullptr;
  WORKS(aclrtMallocHost(&memory, 64), kBadAlloc, kNoMemory);
  WORKS(aclrtMemsetAsync(memory, 64, 1, 64, stream), kBadAlloc);
  WORKS(aclrtMemcpyAsync(memory, 32, memory, 32, ACL_MEMCPY_DEFAULT, stream), kBadAlloc);
  WORKS(aclrtRecordEvent(event, stream), kBadAlloc);
  WORKS(aclrtStreamWaitEvent(other, event), kBadAlloc);
  WORKS(aclrtLaunchHostFunc(other, [](void*) {}, nullptr), kBadAlloc);
  WORKS(aclrtSynchronizeEvent(event), kBadAlloc);
  WORKS(aclrtSynchronizeStream(other), kBadAlloc);
  WORKS(aclrtSubscribeReport(pthread_self(), stream), kBadAlloc);
  WORKS(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_NO_BLOCK, stream), kBadAlloc);
  WORKS(aclrtProcessReport(1000), kBadAlloc);
  WORKS(aclrtUnSubscribeReport(pthread_self(), stream), kBadAlloc);
  WORKS(aclrtSynchronizeDevice(), kBadAlloc);
  WORKS(aclrtFreeHost(memory), kBadAlloc, kNoMemory);
  WORKS(aclrtDestroyEvent(event), kBadAlloc);
  WORKS(aclrtDestroyStream(other), kBadAlloc);
  WORKS(aclrtDestroyStreamForce(stream), kBadAlloc);
  aclrtContext context = nullptr;
  WORKS(aclrtCreateContext(&context, 0), kBadAlloc, kNoResource);
  WORKS(aclrtCreateStream(&stream), kBadAlloc, kNoResource);
  WORKS(aclrtDestroyContext(context), kBadAlloc);
  EXPECT_OK(aclrtDestroyStream(stream));
  WORKS(aclrtResetDevice(0), kBadAlloc);
}

}  // namespace

int main() {
  EXPECT_OK(aclInit(nullptr));
  std::thread(use_everything).join();  // that has called nothing yet
  use_everything();
  EXPECT_OK(aclFinalize());
  std::printf("%ld runs\n", runs.load());
  return failed.load() == 0 ? 0 : 1;
}
