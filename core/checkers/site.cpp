// SPDX-License-Identifier: Apache-2.0
#include "checkers/site.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

namespace softnpu::checkers {
namespace {

constexpr int kDeepestStack = 24;
constexpr size_t kDeepestNesting = 8;

// Of one thread. Never destroyed: programs call from their own exit handlers, when a thread's
// objects are gone.
struct Calls {
  struct One {
    const Call* call = nullptr;
    SharedSite site;
  };
  std::array<One, kDeepestNesting> open;
  size_t depth = 0;
};

Calls& calls() {
  thread_local Calls* mine = new Calls;
  return *mine;
}

std::atomic<StackSource> source{nullptr};

constexpr std::string_view kOwnFiles[] = {"libsoftnpu.so",  "libascendcl.so", "libacl_rt.so",
                                          "libnnopbase.so", "libopapi",       "libasan.so",
                                          "libtsan.so"};
// What starts a program is no part of it.
constexpr std::string_view kStarters[] = {"libc.so", "ld-linux"};

bool is_among(std::span<const std::string_view> names, std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(names, [&](std::string_view name) { return file.starts_with(name); });
}

std::vector<Frame> native_frames() {
  void* addresses[kDeepestStack + 16];
  const int count = backtrace(addresses, std::size(addresses));
  std::vector<Frame> frames;
  for (int i = 0; i < count && frames.size() < kDeepestStack; ++i) {
    Dl_info about;
    if (dladdr(addresses[i], &about) == 0 || about.dli_fname == nullptr) continue;
    if (is_among(kOwnFiles, about.dli_fname) || is_among(kStarters, about.dli_fname)) continue;
    const auto base = reinterpret_cast<uintptr_t>(about.dli_fbase);
    // Of the call, not of what it returns to.
    const auto offset = reinterpret_cast<uintptr_t>(addresses[i]) - base - 1;
    frames.push_back(
        {about.dli_sname != nullptr ? about.dli_sname : "", about.dli_fname, 0, offset});
  }
  return frames;
}

}  // namespace

void set_stack_source(StackSource fresh) { source.store(fresh, std::memory_order_release); }

std::vector<Frame> current_frames() {
  std::vector<Frame> frames;
  const StackSource other = source.load(std::memory_order_acquire);
  if (other != nullptr && other(frames)) return frames;
  return native_frames();
}

void enter_call(const Call& call) {
  Calls& c = calls();
  if (c.depth < kDeepestNesting) c.open[c.depth] = {&call, nullptr};
  ++c.depth;
}

void leave_call() {
  Calls& c = calls();
  if (c.depth > 0) --c.depth;
}

SharedSite current_site() {
  Calls& c = calls();
  if (c.depth == 0 || c.depth > kDeepestNesting)
    return std::make_shared<const Site>(Site{"", current_frames()});
  Calls::One& now = c.open[c.depth - 1];
  if (!now.site) now.site = std::make_shared<const Site>(Site{now.call->text(), current_frames()});
  return now.site;
}

}  // namespace softnpu::checkers
