// SPDX-License-Identifier: Apache-2.0
// Serves some requests: the first eagerly, to warm up, the others by replaying what was captured.
// Uploads run in a stream of their own, one request ahead. Each answer is compared with the model
// computed on the host.
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "device.h"
#include "model.h"

namespace {

constexpr int64_t kSide = 4;
constexpr int kRequests = 8;

float request(int number, size_t i) {
  return std::sin(0.37f * static_cast<float>(i) + static_cast<float>(number)) * 3;
}

// One element of the model; upsampling only repeats it.
double expected(double x) {
  const double lambda = 1.0507009873554805, alpha = 1.6732632423543772;
  const double left = x > 0 ? x : rt::Model::kAlpha * std::expm1(x);
  const double right = lambda * (x > 0 ? x : alpha * std::expm1(x));
  const double distance = std::fabs(left - right), beta = rt::Model::kBeta;
  return distance < beta ? 0.5 * distance * distance / beta : distance - 0.5 * beta;
}

class Server {
 public:
  Server() : model_(pool_, kSide), given_(model_.inputs()), answer_(model_.outputs()) {
    RT_CHECK(aclrtMalloc(&staged_, given_.bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    upload(0);
    pass();  // workspaces are allocated here
    main_.synchronize();
    verify(0);
    pool_.freeze();
    graph_.capture(main_, [this] {
      if (!main_.is_capturing()) throw std::logic_error("the stream is not being captured");
      pass();
    });
    if (main_.is_capturing() || side_.is_capturing()) throw std::logic_error("it did not end");
  }
  ~Server() {
    main_.synchronize();
    aclrtFree(staged_);
  }

  void serve(int number) {
    begin_.record(main_);
    upload(number);
    graph_.replay(main_);
    end_.record(main_);
    end_.synchronize();
    if (end_.milliseconds_since(begin_) < 0) throw std::logic_error("time went back");
    verify(number);
  }

  // The captured addresses must stay: what was freed is reported, and nothing runs.
  int status_after_free() {
    RT_CHECK(aclrtFree(staged_));
    staged_ = nullptr;
    try {
      graph_.replay(main_);
    } catch (const rt::Error& error) {
      return error.status;
    }
    return ACL_SUCCESS;
  }

 private:
  void upload(int number) {
    for (size_t i = 0; i < model_.inputs(); ++i) given_.data()[i] = request(number, i);
    RT_CHECK(aclrtMemcpyAsync(staged_, given_.bytes(), given_.data(), given_.bytes(),
                              ACL_MEMCPY_HOST_TO_DEVICE, copies_.get()));
    uploaded_.record(copies_);
    uploaded_.hold_back(main_);
  }

  // From the staged input to the answer in host memory.
  void pass() {
    const rt::Tensor& input = model_.input();
    RT_CHECK(aclrtMemcpyAsync(input.data(), input.bytes(), staged_, given_.bytes(),
                              ACL_MEMCPY_DEVICE_TO_DEVICE, main_.get()));
    RT_CHECK(aclrtMemsetAsync(model_.loss().data(), model_.loss().bytes(), 0xFF,
                              model_.loss().bytes(), main_.get()));
    model_.forward(main_, side_);
    RT_CHECK(aclrtMemcpyAsync(answer_.data(), answer_.bytes(), model_.loss().data(),
                              answer_.bytes(), ACL_MEMCPY_DEVICE_TO_HOST, main_.get()));
  }

  void verify(int number) const {
    for (size_t i = 0; i < model_.outputs(); ++i) {
      const size_t w = i / 2 % kSide, h = i / (4 * kSide) % kSide,
                   d = i / (8 * kSide * kSide) % kSide;
      const size_t channel = i / (8 * kSide * kSide * kSide);
      const size_t from = ((channel * kSide + d) * kSide + h) * kSide + w;
      const double wanted = expected(request(number, from));
      if (!(std::fabs(answer_.data()[i] - wanted) <= 1e-5 * (1 + wanted)))
        throw std::runtime_error("request " + std::to_string(number) + ": element " +
                                 std::to_string(i) + " is wrong");
    }
  }

  rt::Stream main_, side_, copies_;
  rt::Event uploaded_, begin_, end_;
  rt::Allocator pool_;
  rt::Model model_;
  rt::HostBuffer given_, answer_;
  void* staged_ = nullptr;
  rt::Graph graph_;
};

}  // namespace

int main(int count, char** arguments) {
  try {
    const rt::Device device(0);
    Server server;
    for (int number = 1; number <= kRequests; ++number) server.serve(number);
    if (count > 1 && std::string(arguments[1]) == "free")
      std::printf("after a free: %d\n", server.status_after_free());
    std::printf("%d requests served\n", kRequests);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "inference: %s\n", error.what());
    return 1;
  }
}
