// SPDX-License-Identifier: Apache-2.0
//
// One call through the C API, as a program makes it: both phases, launch and synchronisation, on
// contiguous float32 tensors that are made beforehand. Called in the benchmark's own process.
#include <chrono>
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_elu_backward.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "aclnnop/aclnn_selu_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"

namespace {

enum Operator { kEluExp, kEluResult, kSelu, kSmoothL1, kUpsample, kUnpool };

using Shape = std::vector<int64_t>;
const Shape kSquare = {4, 4};
const Shape kGrad = {1, 1, 2, 2, 4};
const Shape kUpsampled = {1, 1, 1, 1, 2};
const Shape kUnpooled = {1, 1, 4, 4, 8};

// The stream of this process, on device 0; null when the device cannot be had.
aclrtStream stream() {
  static aclrtStream the_stream = [] {
    aclrtStream made = nullptr;
    aclInit(nullptr);  // a second initialisation is refused, and harmless
    const bool have = aclrtSetDevice(0) == ACL_SUCCESS && aclrtCreateStream(&made) == ACL_SUCCESS;
    return have ? made : nullptr;
  }();
  return the_stream;
}

struct Tensor {
  void* data = nullptr;
  aclTensor* handle = nullptr;
  size_t bytes = 0;

  int make(const Shape& shape, aclDataType type, const void* values) {
    bytes = type == ACL_INT64 ? 8 : 4;
    for (int64_t extent : shape) bytes *= static_cast<size_t>(extent);
    int status = aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    if (status != ACL_SUCCESS) return status;
    if (values != nullptr) {
      status = aclrtMemcpy(data, bytes, values, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
      if (status != ACL_SUCCESS) return status;
    }
    handle = aclCreateTensor(shape.data(), shape.size(), type, nullptr, 0,
                             shape.size() == 5 ? ACL_FORMAT_NCDHW : ACL_FORMAT_ND, shape.data(),
                             shape.size(), data);
    return handle != nullptr ? ACL_SUCCESS : ACL_ERROR_FAILURE;
  }
};

// Everything that a program would keep between calls. It stays until the process ends.
struct Job {
  Operator op = kEluExp;
  Tensor inputs[3];
  Tensor out;
  void* workspace = nullptr;
  uint64_t room = 0;
  aclScalar* one = nullptr;
  aclIntArray* first = nullptr;
  aclIntArray* second = nullptr;
  aclIntArray* third = nullptr;
};

aclIntArray* ints(const Shape& values) { return aclCreateIntArray(values.data(), values.size()); }

int make(Job& job, const void* const* values) {
  const bool volume = job.op >= kUpsample;
  const Shape& grad = job.op == kUnpool ? kUnpooled : volume ? kGrad : kSquare;
  const Shape& result = job.op == kUpsample ? kUpsampled : volume ? kGrad : kSquare;
  for (int i = 0; i < 3; i++) {
    if (values[i] == nullptr) continue;
    const aclDataType type = job.op == kUnpool && i == 2 ? ACL_INT64 : ACL_FLOAT;
    const int status = job.inputs[i].make(i == 0 ? grad : result, type, values[i]);
    if (status != ACL_SUCCESS) return status;
  }
  float one = 1.0f;
  job.one = aclCreateScalar(&one, ACL_FLOAT);
  job.first = ints(job.op == kUnpool ? Shape{4, 4, 8} : Shape{2, 2, 4});
  job.second = ints(job.op == kUnpool ? Shape{2, 2, 2} : kUpsampled);
  job.third = ints({0, 0, 0});
  return job.out.make(result, ACL_FLOAT, nullptr);
}

// Workspace of at least `size` bytes, which only the first call has to allocate.
void* workspace(Job& job, uint64_t size) {
  if (size > job.room) {
    aclrtFree(job.workspace);
    if (aclrtMalloc(&job.workspace, size, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS)
      job.room = size;
  }
  return job.workspace;
}

int call(Job& job) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const aclTensor* a = job.inputs[0].handle;
  const aclTensor* b = job.inputs[1].handle;
  const aclTensor* c = job.inputs[2].handle;
  aclTensor* out = job.out.handle;
  int status = ACL_ERROR_FAILURE;
  switch (job.op) {
    case kEluExp:
    case kEluResult:
      status = aclnnEluBackwardGetWorkspaceSize(a, job.one, job.one, job.one, job.op == kEluResult,
                                                b, out, &size, &executor);
      if (status == ACL_SUCCESS)
        status = aclnnEluBackward(workspace(job, size), size, executor, stream());
      break;
    case kSelu:
      status = aclnnSeluBackwardGetWorkspaceSize(a, b, out, &size, &executor);
      if (status == ACL_SUCCESS)
        status = aclnnSeluBackward(workspace(job, size), size, executor, stream());
      break;
    case kSmoothL1:
      status = aclnnSmoothL1LossBackwardGetWorkspaceSize(a, b, c, 0, 1.0f, out, &size, &executor);
      if (status == ACL_SUCCESS)
        status = aclnnSmoothL1LossBackward(workspace(job, size), size, executor, stream());
      break;
    case kUpsample:
      status = aclnnUpsampleNearest3dBackwardGetWorkspaceSize(a, job.first, job.second, 0, 0, 0,
                                                              out, &size, &executor);
      if (status == ACL_SUCCESS)
        status = aclnnUpsampleNearest3dBackward(workspace(job, size), size, executor, stream());
      break;
    case kUnpool:
      status = aclnnMaxUnpool3dBackwardGetWorkspaceSize(a, b, c, job.first, job.second, job.third,
                                                        out, &size, &executor);
      if (status == ACL_SUCCESS)
        status = aclnnMaxUnpool3dBackward(workspace(job, size), size, executor, stream());
      break;
  }
  return status == ACL_SUCCESS ? aclrtSynchronizeStream(stream()) : status;
}

}  // namespace

extern "C" {

// Makes the tensors of one operator from the values of up to three inputs; null when that fails.
void* bench_c_api_open(int op, const void* a, const void* b, const void* c) {
  if (stream() == nullptr) return nullptr;
  Job* job = new Job;
  job->op = static_cast<Operator>(op);
  const void* values[] = {a, b, c};
  return make(*job, values) == ACL_SUCCESS && call(*job) == ACL_SUCCESS ? job : nullptr;
}

// Seconds for `repeats` calls; below 0, the status of the one that failed.
double bench_c_api_call(void* handle, int64_t repeats) {
  Job& job = *static_cast<Job*>(handle);
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < repeats; i++) {
    const int status = call(job);
    if (status != ACL_SUCCESS) return -status;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Copies the result of the last call to `to`.
int bench_c_api_result(void* handle, void* to) {
  const Tensor& out = static_cast<Job*>(handle)->out;
  return aclrtMemcpy(to, out.bytes, out.data, out.bytes, ACL_MEMCPY_DEVICE_TO_HOST);
}

}  // extern "C"
