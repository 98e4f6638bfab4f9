// SPDX-License-Identifier: Apache-2.0
// Work whose launch succeeds, and which fails.
#pragma once

#include <cstdint>

#include "acl/acl.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "parallel.h"

// Launches a gather with an index out of range.
inline void fail_in(aclrtStream stream, int64_t index = 99) {
  // Never freed: the work may run at any time from now on.
  const auto &grad = *new Buffer(64), &indices = *new Buffer(64), &out = *new Buffer(64);
  const int64_t bad[] = {index};
  EXPECT_OK(aclrtMemcpy(indices.address, 64, bad, sizeof bad, ACL_MEMCPY_HOST_TO_DEVICE));
  const int64_t shape[] = {1, 1, 1, 1, 1}, ones[] = {1, 1, 1};
  const auto tensor = [&](const Buffer& buffer, aclDataType type) {
    return aclCreateTensor(shape, 5, type, nullptr, 0, ACL_FORMAT_NCDHW, shape, 5, buffer.address);
  };
  aclTensor *const g = tensor(grad, ACL_FLOAT), *const i = tensor(indices, ACL_INT64),
                   *const o = tensor(out, ACL_FLOAT);
  aclIntArray* const three = aclCreateIntArray(ones, 3);
  aclIntArray* const stride = aclCreateIntArray(ones, 3);
  const int64_t zeros[] = {0, 0, 0};
  aclIntArray* const padding = aclCreateIntArray(zeros, 3);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_OK(aclnnMaxUnpool3dBackwardGetWorkspaceSize(g, g, i, three, stride, padding, o, &size,
                                                     &executor));
  EXPECT_OK(aclnnMaxUnpool3dBackward(nullptr, size, executor, stream));
  let_one_piece_run(stream);
  for (aclTensor* each : {g, i, o}) EXPECT_OK(aclDestroyTensor(each));
  for (aclIntArray* each : {three, stride, padding}) EXPECT_OK(aclDestroyIntArray(each));
}
