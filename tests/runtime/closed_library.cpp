// SPDX-License-Identifier: Apache-2.0
// Opens an operator library, closes it again, and goes on with what it made. The program's exit
// status says how that went: 0 is well. LIBRARY is its path: where a sanitizer calls dlopen() for
// the program, the program's own search path does not count.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>
#include <cstring>

#include "acl/acl.h"
#include "aclnnop/aclnn_selu_backward.h"

namespace {

struct Selu {
  void* library = dlopen(LIBRARY, RTLD_NOW);
  decltype(&aclnnSeluBackwardGetWorkspaceSize) plan = nullptr;
  decltype(&aclnnSeluBackward) launch = nullptr;

  Selu() {
    if (library == nullptr) return;
    find("aclnnSeluBackwardGetWorkspaceSize", plan);
    find("aclnnSeluBackward", launch);
  }
  bool is_complete() const { return plan != nullptr && launch != nullptr; }

 private:
  // ISO C++ has no cast from an object's address to a function's.
  template <class Function>
  void find(const char* name, Function& function) {
    void* const symbol = dlsym(library, name);
    static_assert(sizeof symbol == sizeof function);
    std::memcpy(&function, &symbol, sizeof symbol);
  }
};

}  // namespace

int main() {
  if (aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  constexpr int64_t kCount = 16;
  void* block = nullptr;
  if (aclrtMalloc(&block, kCount * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS)
    return 2;
  aclTensor* const tensor =
      aclCreateTensor(&kCount, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kCount, 1, block);
  uint64_t size = 0;

  // An executor that nobody launched.
  Selu first;
  aclOpExecutor* unused = nullptr;
  if (!first.is_complete()) return 3;
  if (first.plan(tensor, tensor, tensor, &size, &unused) != ACL_SUCCESS) return 4;
  if (dlclose(first.library) != 0) return 5;
  if (aclDestroyAclOpExecutor(unused) != ACL_SUCCESS) return 6;

  // Work that stands in a queue behind a callback.
  Selu second;
  aclOpExecutor* queued = nullptr;
  if (!second.is_complete()) return 7;
  if (aclrtSubscribeReport(pthread_self(), nullptr) != ACL_SUCCESS) return 8;
  if (aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, nullptr) != ACL_SUCCESS)
    return 9;
  if (second.plan(tensor, tensor, tensor, &size, &queued) != ACL_SUCCESS) return 10;
  if (second.launch(nullptr, 0, queued, nullptr) != ACL_SUCCESS) return 11;
  if (dlclose(second.library) != 0) return 12;
  if (aclrtProcessReport(10000) != ACL_SUCCESS) return 13;
  if (aclrtSynchronizeStream(nullptr) != ACL_SUCCESS) return 14;
  return 0;
}
