// SPDX-License-Identifier: Apache-2.0
// Operators on threads with small stacks, and on softnpu's own threads where the limit on stacks is
// low. The program's exit status says how it went: 0 is well.
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_selu_backward.h"

namespace {

bool refuses_memory = false;
int refused = 0;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, aclGetRecentErrMsg());
  std::_Exit(1);
}

// The stacks of threads that are started without a word about theirs.
void set_default_stack(size_t bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  require(pthread_attr_setstacksize(&attributes, bytes) == 0, "pthread_attr_setstacksize");
  require(pthread_setattr_default_np(&attributes) == 0, "pthread_setattr_default_np");
}

aclTensor* matrix(aclDataType type, int64_t rows, int64_t columns, bool transposed, void*& data) {
  const int64_t sizes[] = {rows, columns}, count = rows * columns;
  const int64_t strides[] = {transposed ? 1 : columns, transposed ? rows : 1};
  const size_t bytes = static_cast<size_t>(count) * sizeof(int32_t);
  require(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS, "aclrtMalloc");
  for (size_t i = 0; i < bytes; ++i) static_cast<uint8_t*>(data)[i] = i % 61;
  return aclCreateTensor(sizes, 2, type, strides, 0, ACL_FORMAT_ND, &count, 1, data);
}

// What selu_backward makes of a matrix that lies the other way than the rest, or does not.
struct Selu {
  void *grad_data, *result_data, *out_data;
  aclTensor *grad, *result, *out;
  size_t bytes;

  Selu(aclDataType type, int64_t rows, int64_t columns, bool transposed)
      : grad(matrix(type, rows, columns, transposed, grad_data)),
        result(matrix(type, rows, columns, false, result_data)),
        out(matrix(type, rows, columns, false, out_data)),
        bytes(static_cast<size_t>(rows * columns) * sizeof(int32_t)) {}

  std::vector<uint8_t> run() const {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    require(aclrtSetDevice(0) == ACL_SUCCESS, "aclrtSetDevice");
    std::memset(out_data, 0, bytes);
    require(aclnnSeluBackwardGetWorkspaceSize(grad, result, out, &size, &executor) == ACL_SUCCESS,
            "aclnnSeluBackwardGetWorkspaceSize");
    require(aclnnSeluBackward(nullptr, 0, executor, nullptr) == ACL_SUCCESS, "aclnnSeluBackward");
    require(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS, "aclrtSynchronizeStream");
    const auto* const first = static_cast<const uint8_t*>(out_data);
    return {first, first + bytes};
  }
};

}  // namespace

// In place of the C library's.
extern "C" void* aligned_alloc(size_t alignment, size_t size) noexcept {
  void* memory = nullptr;
  if (refuses_memory && ++refused > 0) return nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

int main() {
  setenv("SOFTNPU_THREADS", "4", 1);
  require(aclrtSetDevice(0) == ACL_SUCCESS, "aclrtSetDevice");

  // Softnpu's own threads are started here, with the default that is too small for any kernel.
  set_default_stack(size_t{16} << 10);
  Selu(ACL_FLOAT, 1024, 1024, false).run();

  // Matrices of one tile, which the calling thread works on.
  set_default_stack(size_t{64} << 10);
  for (const aclDataType type : {ACL_FLOAT, ACL_FLOAT16, ACL_INT32}) {
    const Selu selu(type, 32, 256, true);
    const std::vector<uint8_t> expected = selu.run();
    std::thread([&] { require(selu.run() == expected, "results"); }).join();
    refuses_memory = true;
    std::thread([&] { require(selu.run() == expected, "results without memory"); }).join();
    refuses_memory = false;
  }
  require(refused > 0, "memory is asked for");
}
