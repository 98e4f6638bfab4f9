// SPDX-License-Identifier: Apache-2.0
// A layer as clients write it: out = softmax(x · w + b), launched, captured, and launched again on
// other memory by a repeatable executor. Prints the results.
#include <acl/acl.h>
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_matmul.h>
#include <aclnnop/aclnn_softmax.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                  \
  if (const int status = (call)) {                                   \
    std::printf("%s: %d %s\n", #call, status, aclGetRecentErrMsg()); \
    std::exit(1);                                                    \
  }

struct Array {
  void* device = nullptr;
  aclTensor* tensor = nullptr;
  size_t count = 0;

  Array(const std::vector<int64_t>& sizes, const std::vector<float>& values)
      : count(values.size()) {
    CHECK(aclrtMalloc(&device, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    fill(values);
    std::vector<int64_t> strides(sizes.size(), 1);
    for (size_t d = sizes.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * sizes[d];
    tensor = aclCreateTensor(sizes.data(), sizes.size(), ACL_FLOAT, strides.data(), 0,
                             ACL_FORMAT_ND, sizes.data(), sizes.size(), device);
  }
  ~Array() {
    aclDestroyTensor(tensor);
    aclrtFree(device);
  }
  size_t bytes() const { return count * sizeof(float); }
  void fill(const std::vector<float>& values) {
    CHECK(aclrtMemcpy(device, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  void print(const char* what) const {
    std::vector<float> host(count);
    CHECK(aclrtMemcpy(host.data(), bytes(), device, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
    std::printf("%s", what);
    for (float each : host) std::printf(" %.4f", each);
    std::printf("\n");
  }
};

// A workspace, which checkers ask for.
struct Workspace {
  void* memory = nullptr;
  explicit Workspace(uint64_t size) {
    if (size > 0) CHECK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ~Workspace() {
    if (memory != nullptr) aclrtFree(memory);
  }
};

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  aclrtStream stream;
  CHECK(aclrtCreateStream(&stream));
  {
    Array x({2, 3}, {1, 2, 3, 4, 5, 6}), w({3, 2}, {1, 0, 0, 1, 1, 1}), b({2}, {0.5, -0.5});
    Array product({2, 2}, {0, 0, 0, 0}), out({2, 2}, {0, 0, 0, 0}), other({2, 2}, {1, 1, 0, 2});
    const float one = 1;
    aclScalar* alpha = aclCreateScalar(const_cast<float*>(&one), ACL_FLOAT);
    uint64_t sizes[3];
    aclOpExecutor* executors[3];
    CHECK(aclnnMatmulGetWorkspaceSize(x.tensor, w.tensor, product.tensor, 0, &sizes[0],
                                      &executors[0]));
    CHECK(
        aclnnInplaceAddGetWorkspaceSize(product.tensor, b.tensor, alpha, &sizes[1], &executors[1]));
    CHECK(aclnnSoftmaxGetWorkspaceSize(product.tensor, -1, out.tensor, &sizes[2], &executors[2]));
    CHECK(aclSetAclOpExecutorRepeatable(executors[2]));
    Workspace first(sizes[0]), second(sizes[1]), third(sizes[2]);
    aclmdlRI graph;
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    CHECK(aclnnMatmul(first.memory, sizes[0], executors[0], stream));
    CHECK(aclnnInplaceAdd(second.memory, sizes[1], executors[1], stream));
    CHECK(aclnnSoftmax(third.memory, sizes[2], executors[2], stream));
    CHECK(aclmdlRICaptureEnd(stream, &graph));
    for (int run = 0; run < 2; ++run) {
      CHECK(aclmdlRIExecuteAsync(graph, stream));
      CHECK(aclrtSynchronizeStream(stream));
      product.print("product");
      out.print("softmax");
      x.fill({0, 0, 0, 1, 0, 0});
    }
    CHECK(aclmdlRIDestroy(graph));
    CHECK(aclSetTensorAddr(executors[2], 0, product.tensor, other.device));
    CHECK(aclnnSoftmax(third.memory, sizes[2], executors[2], stream));
    CHECK(aclrtSynchronizeStream(stream));
    out.print("other");
    CHECK(aclDestroyAclOpExecutor(executors[2]));
    aclDestroyScalar(alpha);
  }
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
}
