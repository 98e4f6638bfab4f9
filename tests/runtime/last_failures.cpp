// SPDX-License-Identifier: Apache-2.0
// What becomes of a failure of launched work that no synchronisation fetched: the call that ends
// the stream's life reports it, once; aclFinalize writes it to stderr.
#include <cstdint>
#include <cstring>

#include "acl/acl.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "parallel.h"

namespace {

// Launches a gather with an index out of range.
void fail_in(aclrtStream stream) {
  const Buffer grad(64), indices(64), out(64);
  const int64_t bad[] = {99};
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
  for (aclTensor* each : {g, i, o}) EXPECT_OK(aclDestroyTensor(each));
  for (aclIntArray* each : {three, stride, padding}) EXPECT_OK(aclDestroyIntArray(each));
}

void expect_message() {
  const char* const message = aclGetRecentErrMsg();
  EXPECT(message != nullptr && std::strstr(message, "aclnnMaxUnpool3dBackward") != nullptr &&
         std::strstr(message, "99") != nullptr);
}

}  // namespace

int main() {
  constexpr aclError kFailed = 361001;
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  for (const auto destroy : {aclrtDestroyStream, aclrtDestroyStreamForce}) {
    EXPECT_OK(aclrtCreateStream(&stream));
    fail_in(stream);
    EXPECT(destroy(stream) == kFailed);
    expect_message();
    EXPECT(destroy(stream) == ACL_ERROR_RT_INVALID_HANDLE);  // it is gone
    EXPECT_OK(aclrtSynchronizeDevice());
  }
  aclrtContext context = nullptr;
  EXPECT_OK(aclrtCreateContext(&context, 0));
  fail_in(nullptr);
  EXPECT(aclrtDestroyContext(context) == kFailed);
  expect_message();
  for (const auto reset : {aclrtResetDevice, aclrtResetDeviceForce}) {
    EXPECT_OK(aclrtSetDevice(0));
    if (reset == aclrtResetDevice) EXPECT_OK(aclrtResetDevice(0));  // undoes one of two
    fail_in(nullptr);
    EXPECT(reset(0) == kFailed);
    expect_message();
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtSynchronizeDevice());
  }
  fail_in(nullptr);
  EXPECT_OK(aclFinalize());  // on stderr
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclFinalize());  // and not again
  return failed.load() == 0 ? 0 : 1;
}
