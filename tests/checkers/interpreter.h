// SPDX-License-Identifier: Apache-2.0
// The interpreter of scripts: what a thread of a script has, and which verbs are where.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_elu.h"

constexpr size_t kHostBytes = 4096;

inline void must(int status, const std::string& line) {
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

inline std::istream& operator>>(std::istream& in, View& v) {
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
  int replay(const std::string& verb);

  std::vector<std::string> lines_;
  std::istringstream in_;
  std::string printed_;
  std::map<int, std::byte*> memory_;
  std::map<int, int64_t> size_;
  std::map<int, std::unique_ptr<std::byte[]>> host_;
  std::map<int, aclrtStream> streams_;
  std::map<int, aclrtEvent> events_;
  std::map<int, Repeated> repeated_;
  std::map<int, aclmdlRI> graphs_;
  std::map<int, std::thread> subscribers_;
  std::map<int, std::unique_ptr<std::atomic<int>>> ran_;
  std::map<int, std::unique_ptr<std::atomic<bool>>> stop_;
  aclrtContext context_ = nullptr;
};
