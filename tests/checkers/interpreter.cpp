// SPDX-License-Identifier: Apache-2.0
// Runs a script of device operations, a line each; tests/checkers/random_scripts.py writes and
// explains them. Sections, which begin with "==", run at the same time, each on its own thread.
#include "interpreter.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "interpreter_calls.h"
#include "interpreter_work.h"

int Section::step(const std::string& verb) {
  int (Section::* const rooms[])(const std::string&) = {&Section::manage,    &Section::order,
                                                        &Section::copy,      &Section::compute,
                                                        &Section::call_back, &Section::replay};
  for (const auto room : rooms) {
    const int status = (this->*room)(verb);
    if (status != -1) return status;
  }
  return -1;
}

static int fork_child() {
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
