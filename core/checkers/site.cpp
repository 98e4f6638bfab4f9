// SPDX-License-Identifier: Apache-2.0
#include "checkers/site.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <string_view>

#include "checkers/return_addresses.h"

namespace softnpu::checkers {
namespace {

constexpr size_t kDeepestNesting = 8;

// The open calls of one thread. Never destroyed: programs call from their own exit handlers, when
// thread-local objects are already destroyed.
struct Calls {
  struct One {
    const Call* call = nullptr;
    SharedSite site;
  };
  std::array<One, kDeepestNesting> open;
  size_t depth = 0;
};

// Null until the thread's first call, or if there is no memory for it.
thread_local constinit Calls* calls = nullptr;

// Null outside of calls.
Calls::One* current_call() {
  if (calls == nullptr || calls->depth == 0 || calls->depth > kDeepestNesting) return nullptr;
  return &calls->open[calls->depth - 1];
}

std::atomic<StackSource> source{nullptr};

constexpr std::string_view kOwnFiles[] = {"libsoftnpu.so",  "libascendcl.so", "libacl_rt.so",
                                          "libnnopbase.so", "libopapi",       "libasan.so",
                                          "libtsan.so",     "_core.cpython",  "libchecked.so"};
// Libraries that start a program and are not part of it.
constexpr std::string_view kStarters[] = {"libc.so", "ld-linux", "libstdc++.so"};

bool is_among(std::span<const std::string_view> names, std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(names, [&](std::string_view name) { return file.starts_with(name); });
}

// The program's name may be relative to a working directory that it has left.
std::string program_file(const char* name) {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == sizeof path) return name;
  return {path, static_cast<size_t>(length)};
}

}  // namespace

void set_stack_source(StackSource fresh) { source.store(fresh, std::memory_order_release); }

Stack Stack::here() {
  Stack stack;
  const StackSource other = source.load(std::memory_order_acquire);
  if (other != nullptr && other(stack.known_)) return stack;
  const Calls::One* const now = current_call();
  stack.addresses_ = return_addresses(now != nullptr ? now->call->caller() : nullptr);
  return stack;
}

Stack Stack::of_signal(const void* instruction) {
  Stack stack = here();
  // frames() takes all addresses for return addresses, which are behind the call.
  if (!stack.addresses_) return stack;
  auto addresses = *stack.addresses_;
  for (void*& address : addresses)
    if (address == instruction) address = static_cast<std::byte*>(address) + 1;
  stack.addresses_ = std::make_shared<const std::vector<void*>>(std::move(addresses));
  return stack;
}

Stack Stack::of_caller(void* return_address) {
  Stack stack;
  stack.addresses_ = std::make_shared<const std::vector<void*>>(1, return_address);
  return stack;
}

std::vector<Frame> Stack::frames() const {
  std::vector<Frame> frames;
  for (const Frame* const frame : known_) frames.push_back(*frame);
  if (!addresses_) return frames;
  for (void* const address : *addresses_) {
    Dl_info about;
    link_map* loaded = nullptr;
    if (dladdr1(address, &about, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) == 0) continue;
    if (about.dli_fname == nullptr || loaded == nullptr) continue;
    if (is_among(kOwnFiles, about.dli_fname) || is_among(kStarters, about.dli_fname)) continue;
    // The address in the file, of the call instruction instead of the return address.
    const auto offset = reinterpret_cast<uintptr_t>(address) - loaded->l_addr - 1;
    const char* const name = about.dli_sname;
    if (name != nullptr && name == std::string_view("_start")) continue;
    const bool is_program = *loaded->l_name == '\0';
    frames.push_back({name != nullptr ? name : "",
                      is_program ? program_file(about.dli_fname) : about.dli_fname, 0, offset});
  }
  return frames;
}

std::string Stack::key() const {
  const auto bytes = [](const auto& pointers) {
    return std::string_view(reinterpret_cast<const char*>(pointers.data()),
                            pointers.size() * sizeof(void*));
  };
  return std::string(addresses_ ? bytes(*addresses_) : bytes(known_));
}

void enter_call(const Call& call) {
  if (calls == nullptr) calls = new (std::nothrow) Calls;
  if (calls == nullptr) return;
  if (calls->depth < kDeepestNesting) calls->open[calls->depth] = {&call, nullptr};
  ++calls->depth;
}

void leave_call() {
  if (calls != nullptr && calls->depth > 0) --calls->depth;
}

bool is_in_library(const void* instruction) {
  Dl_info about;
  return dladdr(instruction, &about) != 0 && is_among(kOwnFiles, about.dli_fname);
}

SharedSite current_site() {
  Calls::One* const now = current_call();
  if (now == nullptr) return std::make_shared<const Site>(Site{{}, {}, Stack::here()});
  if (!now->site)
    now->site = std::make_shared<const Site>(
        Site{now->call->function(), now->call->arguments(), Stack::here()});
  return now->site;
}

}  // namespace softnpu::checkers
