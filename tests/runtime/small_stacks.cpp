// SPDX-License-Identifier: Apache-2.0
// Operators on threads with small stacks, and on softnpu's own threads where the limit on stacks is
// low. The program's exit status says how it went: 0 is well.
#include <pthread.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "aclnnop/aclnn_selu_backward.h"
#include "parallel.h"

namespace {

bool refuses_memory = false;
int refused = 0;

// The stacks of threads that are started without a word about theirs.
void set_default_stack(size_t bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  EXPECT(pthread_attr_setstacksize(&attributes, bytes) == 0);
  EXPECT(pthread_setattr_default_np(&attributes) == 0);
}

aclTensor* matrix(aclDataType type, int64_t rows, int64_t columns, bool transposed, void*& data) {
  const int64_t sizes[] = {rows, columns}, count = rows * columns;
  const int64_t strides[] = {transposed ? 1 : columns, transposed ? rows : 1};
  const size_t bytes = static_cast<size_t>(count) * sizeof(int32_t);
  EXPECT_OK(aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
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
    EXPECT_OK(aclrtSetDevice(0));
    std::memset(out_data, 0, bytes);
    EXPECT_OK(aclnnSeluBackwardGetWorkspaceSize(grad, result, out, &size, &executor));
    EXPECT_OK(aclnnSeluBackward(nullptr, 0, executor, nullptr));
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
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
  EXPECT_OK(aclrtSetDevice(0));

  // Softnpu's own threads are started here, with the default that is too small for any kernel.
  set_default_stack(size_t{16} << 10);
  Selu(ACL_FLOAT, 1024, 1024, false).run();

  // Matrices of one tile, which the calling thread works on.
  set_default_stack(size_t{64} << 10);
  for (const aclDataType type : {ACL_FLOAT, ACL_FLOAT16, ACL_INT32}) {
    const Selu selu(type, 32, 256, true);
    const std::vector<uint8_t> expected = selu.run();
    std::thread([&] { EXPECT(selu.run() == expected); }).join();
    refuses_memory = true;
    std::thread([&] { EXPECT(selu.run() == expected); }).join();
    refuses_memory = false;
  }
  EXPECT(refused > 0);
  return failed.load() == 0 ? 0 : 1;
}
