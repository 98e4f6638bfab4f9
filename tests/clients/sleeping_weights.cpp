// SPDX-License-Identifier: Apache-2.0
// A serving engine with an allocator over virtual memory, as such engines are written: between
// bursts of requests its weights sleep. Their contents wait in host memory, the device's memory is
// given back, and the addresses stay, since descriptors and plans hold them.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"

#define CHECK(call)                                                 \
  do {                                                              \
    const int status_ = (call);                                     \
    if (status_ != 0) {                                             \
      const char* why_ = aclGetRecentErrMsg();                      \
      std::printf("%s: %d %s\n", #call, status_, why_ ? why_ : ""); \
      std::exit(1);                                                 \
    }                                                               \
  } while (0)

// One reserved range that grows by pieces of physical memory. Tensors lie one after the other, so
// that one may span two pieces.
class Segment {
 public:
  explicit Segment(int32_t device, size_t most) {
    std::memset(&prop_, 0, sizeof prop_);
    prop_.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop_.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop_.memAttr = ACL_HBM_MEM_HUGE;
    prop_.location.id = static_cast<uint32_t>(device);
    prop_.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    CHECK(aclrtMemGetAllocationGranularity(&prop_, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &piece_));
    most_ = (most + piece_ - 1) / piece_;
    CHECK(aclrtReserveMemAddress(&base_, most_ * piece_, 0, nullptr, 0));
  }
  ~Segment() {
    if (!is_asleep_) unmap_all();
    CHECK(aclrtReleaseMemAddress(base_));
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  void* allocate(size_t bytes) {
    void* const address = static_cast<char*>(base_) + used_;
    used_ += (bytes + 511) / 512 * 512;
    while (pieces_.size() * piece_ < used_) add_piece();
    return address;
  }

  // What is in use is copied to the host, and the memory given back.
  void sleep() {
    void* host = nullptr;
    CHECK(aclrtMallocHost(&host, used_));
    CHECK(aclrtMemcpy(host, used_, base_, used_, ACL_MEMCPY_DEVICE_TO_HOST));
    kept_ = host;
    count_ = pieces_.size();
    unmap_all();
    is_asleep_ = true;
  }
  void wake() {
    while (pieces_.size() < count_) add_piece();
    CHECK(aclrtMemcpy(base_, used_, kept_, used_, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtFreeHost(kept_));
    is_asleep_ = false;
  }
  size_t piece() const { return piece_; }

 private:
  void add_piece() {
    if (pieces_.size() == most_) std::exit(2);
    aclrtDrvMemHandle physical = nullptr;
    CHECK(aclrtMallocPhysical(&physical, piece_, &prop_, 0));
    CHECK(aclrtMapMem(place(pieces_.size()), piece_, 0, physical, 0));
    pieces_.push_back(physical);
  }
  void unmap_all() {
    while (!pieces_.empty()) {
      CHECK(aclrtUnmapMem(place(pieces_.size() - 1)));
      CHECK(aclrtFreePhysical(pieces_.back()));
      pieces_.pop_back();
    }
  }
  void* place(size_t piece) const { return static_cast<char*>(base_) + piece * piece_; }

  aclrtPhysicalMemProp prop_;
  size_t piece_ = 0, most_ = 0, used_ = 0, count_ = 0;
  void* base_ = nullptr;
  void* kept_ = nullptr;
  bool is_asleep_ = false;
  std::vector<aclrtDrvMemHandle> pieces_;
};

constexpr int64_t kElements = 200064;  // 0.8 MB in whole units: some weights span two pieces
constexpr size_t kBytes = kElements * sizeof(float);
constexpr int kLayers = 8, kBursts = 4, kRequests = 2;

aclTensor* tensor_at(void* address) {
  return aclCreateTensor(&kElements, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kElements, 1,
                         address);
}

float weight(int layer, int64_t i) { return std::sin(float(layer + 1) * float(i % 1000)); }

struct Layer {
  void* weights;
  aclTensor* tensor;
  aclOpExecutor* plan;
  uint64_t workspace;
};

// The distance of the input from each layer's weights.
class Engine {
 public:
  Engine() : segment_(0, kLayers * 2 * kBytes) {
    CHECK(aclrtCreateStream(&stream_));
    for (void** each : {&input_, &output_})
      CHECK(aclrtMalloc(each, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    in_ = tensor_at(input_);
    out_ = tensor_at(output_);
    for (int i = 0; i < kLayers; ++i) layers_.push_back(load(i));
  }
  ~Engine() {
    for (const Layer& each : layers_) CHECK(aclDestroyTensor(each.tensor));
    CHECK(aclDestroyTensor(in_));
    CHECK(aclDestroyTensor(out_));
    for (void* each : {input_, output_}) CHECK(aclrtFree(each));
    CHECK(aclrtDestroyStream(stream_));
  }

  int serve(float level) {
    const std::vector<float> input(kElements, level);
    std::vector<float> output(kElements);
    CHECK(aclrtMemcpy(input_, kBytes, input.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    int wrong = 0;
    for (int layer = 0; layer < kLayers; ++layer) {
      run(layers_[static_cast<size_t>(layer)]);
      CHECK(aclrtMemcpy(output.data(), kBytes, output_, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
      for (int64_t i = 0; i < kElements; ++i) {
        const double d = std::fabs(double(level) - double(weight(layer, i)));
        const double expected = d < 1 ? d * d / 2 : d - 0.5;
        wrong += std::fabs(double(output[static_cast<size_t>(i)]) - expected) > 1e-6;
      }
    }
    return wrong;
  }
  void sleep() { segment_.sleep(); }
  void wake() { segment_.wake(); }

 private:
  Layer load(int number) {
    std::vector<float> values(kElements);
    for (int64_t i = 0; i < kElements; ++i) values[static_cast<size_t>(i)] = weight(number, i);
    void* const weights = segment_.allocate(kBytes);
    CHECK(aclrtMemcpy(weights, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    return {weights, tensor_at(weights), nullptr, 0};
  }
  void run(Layer& layer) {
    CHECK(aclnnSmoothL1LossGetWorkspaceSize(in_, layer.tensor, 0, 1.0f, out_, &layer.workspace,
                                            &layer.plan));
    void* workspace = nullptr;
    if (layer.workspace > 0)
      CHECK(aclrtMalloc(&workspace, layer.workspace, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclnnSmoothL1Loss(workspace, layer.workspace, layer.plan, stream_));
    CHECK(aclrtSynchronizeStream(stream_));
    if (workspace != nullptr) CHECK(aclrtFree(workspace));
  }

  Segment segment_;
  aclrtStream stream_ = nullptr;
  void *input_ = nullptr, *output_ = nullptr;
  aclTensor *in_ = nullptr, *out_ = nullptr;
  std::vector<Layer> layers_;
};

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  int wrong = 0;
  {
    Engine engine;
    for (int burst = 0; burst < kBursts; ++burst) {
      for (int request = 0; request < kRequests; ++request)
        wrong += engine.serve(0.25f * float(burst - request));
      engine.sleep();
      engine.wake();
      std::printf("burst %d, %d wrong values\n", burst, wrong);
    }
  }
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return wrong != 0;
}
