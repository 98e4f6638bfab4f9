// SPDX-License-Identifier: Apache-2.0
// What becomes of a failure of launched work that no synchronisation fetched: the call that ends
// the stream's life reports it, once; aclFinalize writes it to stderr.
#include <cstring>

#include "acl/acl.h"
#include "failing_work.h"
#include "parallel.h"

namespace {

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
