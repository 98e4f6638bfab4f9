// SPDX-License-Identifier: Apache-2.0
// Runs a script of device operations, a line each; tests/checkers/random_scripts.py writes and
// explains them. Sections, which begin with "==", run at the same time, each on its own thread.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_elu.h"

namespace {

constexpr size_t kHostBytes = 4096;

void must(int status, const std::string& line) {
  if (status == 0) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", line.c_str(), status, message ? message : "");
  std::_Exit(1);
}

// A view as the script has it: memory, offset, sizes and strides, in floats.
struct View {
  int memory;
  int64_t offset, sizes[2], strides[2];
};

std::istream& operator>>(std::istream& in, View& v) {
  return in >> v.memory >> v.offset >> v.sizes[0] >> v.strides[0] >> v.sizes[1] >> v.strides[1];
}

struct Repeated {
  aclOpExecutor* executor;
  aclTensor *self, *out;
};

class Section {
 public:
  explicit Section(std::vector<std::string> lines) : lines_(std::move(lines)) {}

  void run() {
    for (const std::string& line : lines_) {
      in_ = std::istringstream(line);
      std::string verb;
      in_ >> verb;
      if (verb.empty()) continue;
      must(step(verb), line);
    }
  }
  const std::string& printed() const { return printed_; }

 private:
  template <class T = int>
  T next() {
    T value{};
    in_ >> value;
    return value;
  }
  aclrtStream stream() {
    const int slot = next();
    return slot < 0 ? nullptr : streams_.at(slot);
  }
  // "d3 16": 16 bytes into device memory 3; "h" is host memory, "p" page-locked host memory.
  std::byte* place() {
    const auto name = next<std::string>();
    const int slot = std::stoi(name.substr(1));
    const auto offset = next<int64_t>();
    std::byte* const base = name[0] == 'h' ? host(slot) : memory_.at(slot);
    return base + offset;
  }
  std::byte* host(int slot) {
    auto& buffer = host_[slot];
    if (!buffer) buffer = std::make_unique<std::byte[]>(kHostBytes);
    return buffer.get();
  }
  aclTensor* tensor(const View& v) {
    const int64_t all = size_.at(v.memory) / 4;
    return aclCreateTensor(v.sizes, 2, ACL_FLOAT, v.strides, v.offset, ACL_FORMAT_ND, &all, 1,
                           memory_.at(v.memory));
  }

  int step(const std::string& verb);
  int manage(const std::string& verb);
  int order(const std::string& verb);
  int copy(const std::string& verb);
  int compute(const std::string& verb);
  int call_back(const std::string& verb);

  std::vector<std::string> lines_;
  std::istringstream in_;
  std::string printed_;
  std::map<int, std::byte*> memory_;
  std::map<int, int64_t> size_;
  std::map<int, std::unique_ptr<std::byte[]>> host_;
  std::map<int, aclrtStream> streams_;
  std::map<int, aclrtEvent> events_;
  std::map<int, Repeated> repeated_;
  std::map<int, std::thread> subscribers_;
  std::map<int, std::unique_ptr<std::atomic<int>>> ran_;
  std::map<int, std::unique_ptr<std::atomic<bool>>> stop_;
  aclrtContext context_ = nullptr;
};

int Section::step(const std::string& verb) {
  int (Section::* const rooms[])(const std::string&) = {
      &Section::manage, &Section::order, &Section::copy, &Section::compute, &Section::call_back};
  for (const auto room : rooms) {
    const int status = (this->*room)(verb);
    if (status != -1) return status;
  }
  return -1;
}

int fork_child() {
  const pid_t child = fork();
  if (child == 0) {
    void* memory = nullptr;
    const bool works = aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST) == 0 &&
                       aclrtMemset(memory, 64, 7, 64) == 0 && aclrtFree(memory) == 0;
    std::exit(works ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}

int Section::manage(const std::string& verb) {
  if (verb == "init") return aclInit(nullptr);
  if (verb == "finalize") return aclFinalize();
  if (verb == "set") return aclrtSetDevice(0);
  if (verb == "reset") return aclrtResetDevice(0);
  if (verb == "reset-force") return aclrtResetDeviceForce(0);
  if (verb == "context") return aclrtCreateContext(&context_, 0);
  if (verb == "uncontext") return aclrtDestroyContext(context_);
  if (verb == "fork") return fork_child();
  if (verb == "stream") return aclrtCreateStream(&streams_[next()]);
  if (verb == "event") return aclrtCreateEvent(&events_[next()]);
  if (verb == "unstream") return aclrtDestroyStream(streams_.at(next()));
  if (verb == "unstream-force") return aclrtDestroyStreamForce(streams_.at(next()));
  if (verb == "unevent") return aclrtDestroyEvent(events_.at(next()));
  if (verb == "malloc" || verb == "mallochost") {
    const int slot = next();
    const auto bytes = next<int64_t>();
    size_[slot] = bytes;
    auto** const out = reinterpret_cast<void**>(&memory_[slot]);
    return verb == "malloc" ? aclrtMalloc(out, bytes, ACL_MEM_MALLOC_HUGE_FIRST)
                            : aclrtMallocHost(out, bytes);
  }
  if (verb == "free") return aclrtFree(memory_.at(next()));
  if (verb == "freesync") return aclrtFreeWithDevSync(memory_.at(next()));
  if (verb == "freehost") return aclrtFreeHost(memory_.at(next()));
  return -1;
}

int Section::order(const std::string& verb) {
  if (verb == "sync") return aclrtSynchronizeStream(stream());
  if (verb == "syncdev") return aclrtSynchronizeDevice();
  if (verb == "syncevent") return aclrtSynchronizeEvent(events_.at(next()));
  if (verb == "record" || verb == "resetevent") {
    aclrtEvent event = events_.at(next());
    return verb == "record" ? aclrtRecordEvent(event, stream()) : aclrtResetEvent(event, stream());
  }
  if (verb == "wait") {
    aclrtStream waits = stream();
    return aclrtStreamWaitEvent(waits, events_.at(next()));
  }
  if (verb == "poll") {
    aclrtEvent event = events_.at(next());
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    while (status != ACL_EVENT_RECORDED_STATUS_COMPLETE)
      if (const int failed = aclrtQueryEventStatus(event, &status)) return failed;
    return 0;
  }
  if (verb == "pollstream") {
    aclrtStream asked = stream();
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    while (status != ACL_STREAM_STATUS_COMPLETE)
      if (const int failed = aclrtStreamQuery(asked, &status)) return failed;
    return 0;
  }
  return -1;
}

int Section::copy(const std::string& verb) {
  if (verb == "copy" || verb == "copyasync") {
    std::byte *const to = place(), *const from = place();
    const auto count = next<size_t>();
    if (verb == "copyasync")
      return aclrtMemcpyAsync(to, count, from, count, ACL_MEMCPY_DEFAULT, stream());
    return aclrtMemcpy(to, count, from, count, ACL_MEMCPY_DEFAULT);
  }
  if (verb == "copy2d" || verb == "copy2dasync") {
    std::byte* const to = place();
    const auto to_pitch = next<size_t>();
    std::byte* const from = place();
    const auto from_pitch = next<size_t>(), width = next<size_t>(), height = next<size_t>();
    if (verb == "copy2dasync")
      return aclrtMemcpy2dAsync(to, to_pitch, from, from_pitch, width, height, ACL_MEMCPY_DEFAULT,
                                stream());
    return aclrtMemcpy2d(to, to_pitch, from, from_pitch, width, height, ACL_MEMCPY_DEFAULT);
  }
  if (verb == "fill" || verb == "fillasync") {
    std::byte* const to = place();
    const auto count = next<size_t>();
    return verb == "fillasync" ? aclrtMemsetAsync(to, count, 1, count, stream())
                               : aclrtMemset(to, count, 1, count);
  }
  if (verb == "print") {
    uint32_t sum = 0;
    std::byte* const from = host(next());
    for (size_t i = 0; i < kHostBytes; ++i) sum = sum * 31 + static_cast<uint32_t>(from[i]);
    printed_ += std::to_string(sum) + "\n";
    return 0;
  }
  return -1;
}

aclScalar* one() {
  float value = 1.0f;
  return aclCreateScalar(&value, ACL_FLOAT);
}

int Section::compute(const std::string& verb) {
  if (verb == "elu" || verb == "elu-in-place" || verb == "plan") {
    const int workspace = next(), slot = verb == "plan" ? next() : 0;
    const View from = next<View>();
    aclTensor* const self = tensor(from);
    aclTensor* const out = verb == "elu-in-place" ? nullptr : tensor(next<View>());
    aclScalar* const scale = one();
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    int status = out == nullptr
                     ? aclnnInplaceEluGetWorkspaceSize(self, scale, scale, scale, &size, &executor)
                     : aclnnEluGetWorkspaceSize(self, scale, scale, scale, out, &size, &executor);
    if (status == 0 && verb == "plan") {
      status = aclSetAclOpExecutorRepeatable(executor);
      repeated_[slot] = {executor, self, out};
      aclDestroyScalar(scale);
      return status;
    }
    if (status == 0)
      status = (out == nullptr ? aclnnInplaceElu : aclnnElu)(memory_.at(workspace), size, executor,
                                                             stream());
    aclDestroyTensor(self);
    if (out != nullptr) aclDestroyTensor(out);
    aclDestroyScalar(scale);
    return status;
  }
  if (verb == "address") {
    const Repeated& r = repeated_.at(next());
    const int which = next(), slot = next();
    return which == 0 ? aclSetInputTensorAddr(r.executor, 0, r.self, memory_.at(slot))
                      : aclSetOutputTensorAddr(r.executor, 0, r.out, memory_.at(slot));
  }
  if (verb == "launch") {
    const int workspace = next(), slot = next();
    return aclnnElu(memory_.at(workspace), size_.at(workspace), repeated_.at(slot).executor,
                    stream());
  }
  if (verb == "unplan") {
    const Repeated r = repeated_.at(next());
    must(aclDestroyTensor(r.self), verb);
    must(aclDestroyTensor(r.out), verb);
    return aclDestroyAclOpExecutor(r.executor);
  }
  return -1;
}

// What a function of the program's does in its turn: a blocking copy, unless it only sleeps.
struct Errand {
  std::byte *to, *from;
  size_t count;
  std::atomic<int>* ran;
  aclrtContext context;

  static void run(void* object) {
    const std::unique_ptr<Errand> self(static_cast<Errand*>(object));
    usleep(300);
    if (self->count > 0) {
      must(aclrtSetCurrentContext(self->context), "errand");
      must(aclrtMemcpy(self->to, self->count, self->from, self->count, ACL_MEMCPY_DEFAULT),
           "errand");
    }
    ++*self->ran;
  }
};

int Section::call_back(const std::string& verb) {
  if (verb == "subscribe") {
    const int slot = next();
    ran_[slot] = std::make_unique<std::atomic<int>>(0);
    stop_[slot] = std::make_unique<std::atomic<bool>>(false);
    std::thread& thread = subscribers_[slot] = std::thread([&stop = *stop_[slot]] {
      while (!stop) aclrtProcessReport(20);
    });
    return aclrtSubscribeReport(thread.native_handle(), streams_.at(slot));
  }
  if (verb == "unsubscribe") {
    const int slot = next();
    const int status =
        aclrtUnSubscribeReport(subscribers_.at(slot).native_handle(), streams_.at(slot));
    *stop_.at(slot) = true;
    subscribers_.at(slot).join();
    return status;
  }
  // Waits until all functions of a stream have run, as programs do, without the device.
  if (verb == "join") {
    const int slot = next(), count = next();
    while (*ran_[slot] < count) usleep(50);
    return 0;
  }
  if (verb == "hostfunc" || verb == "callback" || verb == "callback-blocks") {
    const int slot = next();
    auto& ran = ran_[slot];
    if (!ran) ran = std::make_unique<std::atomic<int>>(0);
    auto errand = std::make_unique<Errand>();
    errand->ran = ran.get();
    must(aclrtGetCurrentContext(&errand->context), verb);
    errand->count = next<size_t>();
    if (errand->count > 0) {
      errand->to = place();
      errand->from = place();
    }
    aclrtStream const where = slot < 0 ? nullptr : streams_.at(slot);
    if (verb == "hostfunc") return aclrtLaunchHostFunc(where, &Errand::run, errand.release());
    return aclrtLaunchCallback(&Errand::run, errand.release(),
                               verb == "callback" ? ACL_CALLBACK_NO_BLOCK : ACL_CALLBACK_BLOCK,
                               where);
  }
  return -1;
}

}  // namespace

int main(int, char** arguments) {
  std::ifstream file(arguments[1]);
  std::vector<std::vector<std::string>> texts;
  for (std::string line; std::getline(file, line);) {
    if (line == "==")
      texts.emplace_back();
    else
      texts.back().push_back(line);
  }
  // The first section is before the others and the last after them, on the main thread.
  std::vector<Section> sections(texts.begin(), texts.end());
  sections.front().run();
  std::vector<std::thread> threads;
  for (size_t i = 1; i + 1 < sections.size(); ++i)
    threads.emplace_back([&section = sections[i]] { section.run(); });
  for (std::thread& each : threads) each.join();
  if (sections.size() > 1) sections.back().run();
  for (const Section& each : sections) std::fputs(each.printed().c_str(), stdout);
}
