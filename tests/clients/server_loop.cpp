// SPDX-License-Identifier: Apache-2.0
//
// A server as people write them: eight workers, each with a stream and a thread for its callbacks,
// take 1,000 requests from a queue. Some requests are late and make their worker's wait time out.
#include <acl/acl.h>
#include <aclnnop/aclnn_elu.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kWorkers = 8, kRequests = 1000, kLateOnes = 50;
constexpr size_t kMost = 4096, kQueued = 64;
std::atomic<int> served{0}, timeouts{0}, callbacks{0}, wrong{0};

#define CHECK(call)                                                                \
  do {                                                                             \
    const int status = (call);                                                     \
    if (status != ACL_SUCCESS) {                                                   \
      const char* const message = aclGetRecentErrMsg();                            \
      std::fprintf(stderr, "%s: %d: %s\n", #call, status, message ? message : ""); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

struct Request {
  int number;
  std::vector<float> values;
  bool late() const { return number % (kRequests / kLateOnes) == 7; }
};

class Queue {
 public:
  void put(Request request) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return requests_.size() < kQueued; });
    requests_.push_back(std::move(request));
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  bool take(Request& request) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !requests_.empty(); });
    if (requests_.empty()) return false;
    request = std::move(requests_.front());
    requests_.pop_front();
    changed_.notify_all();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;
  bool closed_ = false;
};

// What others wait for until it is open.
class Gate {
 public:
  explicit Gate(const bool open) : open_(open) {}
  void open() { set(true); }
  void close() { set(false); }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  void set(const bool open) {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_;
};

void on_result(void* gate) {
  static_cast<Gate*>(gate)->wait();
  ++callbacks;
}

// Runs the callbacks of one stream.
class Reporter {
 public:
  Reporter(aclrtContext context, aclrtStream stream) : stream_(stream) {
    thread_ = std::thread([this, context] {
      CHECK(aclrtSetCurrentContext(context));
      subscribed_.wait();
      while (!stop_) aclrtProcessReport(20);  // times out when there is nothing to do
    });
    id_ = static_cast<uint64_t>(thread_.native_handle());
    CHECK(aclrtSubscribeReport(id_, stream_));
    subscribed_.open();
  }
  ~Reporter() {
    stop_ = true;
    thread_.join();
    CHECK(aclrtUnSubscribeReport(id_, stream_));
  }

 private:
  aclrtStream stream_;
  std::atomic<bool> stop_{false};
  Gate subscribed_{false};
  std::thread thread_;
  uint64_t id_ = 0;
};

class Worker {
 public:
  Worker() {
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtGetCurrentContext(&context_));
    CHECK(aclrtCreateStream(&stream_));
    for (void** const device : {&input_, &output_})
      CHECK(aclrtMalloc(device, kMost * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST));
    for (void** const host : {&sent_, &received_})
      CHECK(aclrtMallocHost(host, kMost * sizeof(float)));
  }
  ~Worker() {
    for (void* const device : {input_, output_}) CHECK(aclrtFree(device));
    for (void* const host : {sent_, received_}) CHECK(aclrtFreeHost(host));
    CHECK(aclrtDestroyStream(stream_));
    CHECK(aclrtResetDevice(0));
  }

  void work(Queue& queue) {
    const Reporter reporter(context_, stream_);
    Request request;
    while (queue.take(request)) serve(request);
  }

 private:
  void serve(const Request& request) {
    const size_t bytes = request.values.size() * sizeof(float);
    std::copy(request.values.begin(), request.values.end(), static_cast<float*>(sent_));
    CHECK(aclrtMemcpyAsync(input_, bytes, sent_, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    void* const workspace = launch(static_cast<int64_t>(request.values.size()));
    if (request.late()) gate_.close();
    CHECK(aclrtLaunchCallback(on_result, &gate_, ACL_CALLBACK_BLOCK, stream_));
    CHECK(aclrtMemcpyAsync(received_, bytes, output_, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    if (request.late()) {
      const int status = aclrtSynchronizeStreamWithTimeout(stream_, 5);
      if (status == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) ++timeouts;
      gate_.open();
    }
    CHECK(aclrtSynchronizeStreamWithTimeout(stream_, 60000));
    if (workspace != nullptr) CHECK(aclrtFree(workspace));
    for (size_t i = 0; i < request.values.size(); ++i) {
      const float x = request.values[i], expected = x > 0 ? x : std::expm1(x);
      if (!(std::fabs(static_cast<float*>(received_)[i] - expected) <= 1e-6f)) ++wrong;
    }
    ++served;
  }

  void* launch(const int64_t count) {
    const int64_t stride = 1;
    aclTensor* tensors[2];
    void* const addresses[] = {input_, output_};
    for (int i = 0; i < 2; ++i)
      tensors[i] =
          aclCreateTensor(&count, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &count, 1, addresses[i]);
    double one = 1;
    aclScalar* const factor = aclCreateScalar(&one, ACL_DOUBLE);
    uint64_t size = 0;
    void* workspace = nullptr;
    aclOpExecutor* executor = nullptr;
    CHECK(
        aclnnEluGetWorkspaceSize(tensors[0], factor, factor, factor, tensors[1], &size, &executor));
    if (size > 0) CHECK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclnnElu(workspace, size, executor, stream_));
    for (aclTensor* const tensor : tensors) CHECK(aclDestroyTensor(tensor));
    CHECK(aclDestroyScalar(factor));
    return workspace;
  }

  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
  void *input_ = nullptr, *output_ = nullptr, *sent_ = nullptr, *received_ = nullptr;
  Gate gate_{true};  // late requests' callbacks wait for it
};

Request request(const int number) {
  Request made{number, std::vector<float>(1 + number * 37 % kMost)};
  for (size_t i = 0; i < made.values.size(); ++i)
    made.values[i] = static_cast<float>((number + i) % 200) / 25.0f - 4.0f;
  return made;
}

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  Queue queue;
  std::vector<std::thread> threads;
  for (int i = 0; i < kWorkers; ++i)
    threads.emplace_back([&] {
      Worker worker;
      worker.work(queue);
    });
  for (int i = 0; i < kRequests; ++i) queue.put(request(i));
  queue.close();
  for (std::thread& thread : threads) thread.join();
  CHECK(aclFinalize());
  std::printf("%d requests, %d callbacks, %d timeouts, %d wrong values\n", served.load(),
              callbacks.load(), timeouts.load(), wrong.load());
  return 0;
}
