// SPDX-License-Identifier: Apache-2.0
// An index points past the plane that it belongs to.
#include "program.h"

#include "aclnnop/aclnn_max_unpool3d_backward.h"

int main() {
  begin();
#ifndef REPAIRED
  const int64_t index = 8;
#else
  const int64_t index = 7;
#endif
  const int64_t small[] = {1, 1, 1, 1}, large[] = {1, 2, 2, 2}, sizes[] = {2, 2, 2},
                one[] = {1, 1, 1};
  const auto make = [](const int64_t* shape, aclDataType type, void* memory) {
    return aclCreateTensor(shape, 4, type, nullptr, 0, ACL_FORMAT_NCDHW, shape, 4, memory);
  };
  void *gradients = floats(), *self = floats(), *indices = floats(), *out = floats(false);
  must(aclrtMemcpy(indices, kBytes, &index, sizeof index, ACL_MEMCPY_HOST_TO_DEVICE));
  aclTensor* tensors[] = {make(large, ACL_FLOAT, gradients), make(small, ACL_FLOAT, self),
                          make(small, ACL_INT64, indices), make(small, ACL_FLOAT, out)};
  aclIntArray* arrays[] = {aclCreateIntArray(sizes, 3), aclCreateIntArray(one, 3),
                           aclCreateIntArray(one, 3)};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  must(aclnnMaxUnpool3dBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], arrays[0],
                                                arrays[1], arrays[2], tensors[3], &size,
                                                &executor));
  void* workspace = nullptr;
  if (size > 0) must(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclnnMaxUnpool3dBackward(workspace, size, executor, nullptr));
  aclrtSynchronizeStream(nullptr);
  for (aclTensor* each : tensors) must(aclDestroyTensor(each));
  for (aclIntArray* each : arrays) must(aclDestroyIntArray(each));
  for (void* each : {gradients, self, indices, out}) must(aclrtFree(each));
  if (workspace != nullptr) must(aclrtFree(workspace));
  end();
}
