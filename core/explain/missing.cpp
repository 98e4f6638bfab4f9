// SPDX-License-Identifier: Apache-2.0
//
// Preloaded by `softnpu run`. A program that looks up an operator which softnpu lacks gets a
// function that returns 561003. With --explain-missing, a line is appended to a file for each
// library that the program opens, and for each name of the acl family that it fails to find.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/own_file.h"
#include "base/undisturbed.h"

namespace {

using Lookup = void* (*)(void*, const char*);
using Open = void* (*)(const char*, int);

char report[PATH_MAX];  // empty if there is no report, or before the program begins
bool answers;           // for absent operators; not before the program begins

// The versions of dlsym in glibc. dlsym cannot look itself up.
Lookup system_dlsym() {
  static std::atomic<void*> known;
  for (const char* const version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
    if (known == nullptr) known = dlvsym(RTLD_NEXT, "dlsym", version);
  return reinterpret_cast<Lookup>(known.load());
}

Open next_dlopen() {
  static std::atomic<void*> known;
  if (known == nullptr) known = system_dlsym()(RTLD_NEXT, "dlopen");
  return reinterpret_cast<Open>(known.load());
}

// Suppresses repetitions: programs may look up the same name in a loop.
bool is_new(const char* kind, const char* name, const void* caller) {
  static std::atomic<uint64_t> seen[1024];
  uint64_t hash = reinterpret_cast<uintptr_t>(caller) ^ static_cast<uint64_t>(*kind);
  for (; *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3u;
  return seen[(hash >> 32) % 1024].exchange(hash) != hash;
}

void write_line(const char* kind, const char* name, const void* caller) {
  Dl_info info;
  const bool known = dladdr(caller, &info) != 0 && info.dli_fname != nullptr;
  char line[3 * PATH_MAX];
  const int length =
      std::snprintf(line, sizeof line, "%s\t%s\t%s\n", kind, name, known ? info.dli_fname : "");
  if (length < 0 || static_cast<size_t>(length) >= sizeof line) return;
  const softnpu::Undisturbed meanwhile;
  const softnpu::OwnFile file(softnpu::open_own(report, O_WRONLY | O_APPEND | O_CREAT));
  // An error is ignored, because the program must not notice this write.
  (void)!write(file.descriptor(), line, static_cast<size_t>(length));
}

// Whether the caller's own library or its dependencies define the name without being global.
bool caller_has(const char* name, const void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  void* const own = next_dlopen()(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (own == nullptr) return false;
  const bool has = system_dlsym()(own, name) != nullptr;
  dlclose(own);
  return has;
}

// Functions that answer for absent operators. Each knows its number, and so the operator's name.
constexpr size_t kMostAbsent = 1024;
std::atomic<const char*> absent_names[kMostAbsent];
using Answer = int (*)(const char*);
std::atomic<Answer> answer;

template <size_t number>
int absent() {
  return answer.load()(absent_names[number]);
}
template <size_t... numbers>
constexpr auto absent_functions(std::index_sequence<numbers...>) {
  struct Table {
    int (*functions[sizeof...(numbers)])();
  };
  return Table{{&absent<numbers>...}};
}
constexpr auto kAbsent = absent_functions(std::make_index_sequence<kMostAbsent>());

// Null if there are too many.
void* absent_function(const char* name) {
  const char* own = nullptr;
  for (size_t i = 0; i < kMostAbsent; ++i) {
    const char* known = absent_names[i].load();
    if (known == nullptr) {
      if (own == nullptr) own = strdup(name);
      if (own == nullptr || absent_names[i].compare_exchange_strong(known, own))
        return own == nullptr ? nullptr : reinterpret_cast<void*>(kAbsent.functions[i]);
    }
    if (std::strcmp(known, name) == 0) return reinterpret_cast<void*>(kAbsent.functions[i]);
  }
  return nullptr;
}

// Whether a name is that of a later version, as in aclnnSortV2GetWorkspaceSize, of an operator that
// is there. Programs probe such names to choose between versions, and must not find them.
bool is_version_of_known(void* handle, const char* name) {
  constexpr const char* kPhaseOne = "GetWorkspaceSize";
  char base[256];
  const size_t length = std::strlen(name);
  if (length >= sizeof base) return false;
  const char* const tail = std::strstr(name, kPhaseOne);
  const size_t end = tail != nullptr ? static_cast<size_t>(tail - name) : length;
  if (end < 2 || name[end - 2] != 'V' || name[end - 1] < '2' || name[end - 1] > '9') return false;
  std::memcpy(base, name, end - 2);
  std::memcpy(base + end - 2, name + end, length - end + 1);
  return system_dlsym()(handle, base) != nullptr;
}

// A function for an operator that is looked up in softnpu's libraries, and is nowhere; else null.
[[gnu::noinline]] void* answered(void* handle, const char* name) {
  if (!answers || handle == RTLD_NEXT || name == nullptr || std::strncmp(name, "aclnn", 5) != 0 ||
      name[5] < 'A' || name[5] > 'Z' || system_dlsym()(handle, name) != nullptr)
    return nullptr;
  void* found = nullptr;
  void* const known = system_dlsym()(handle, "softnpu_absent_operator");
  if (known != nullptr && system_dlsym()(RTLD_DEFAULT, name) == nullptr &&
      !is_version_of_known(handle, name)) {
    answer = reinterpret_cast<Answer>(known);
    found = absent_function(name);
  }
  (void)dlerror();  // of the look-ups here
  return found;
}

[[gnu::noinline]] void note_lookup(void* handle, const char* name, const void* caller) {
  const int before = errno;
  const bool family =
      name != nullptr && (name[0] | 0x20) == 'a' && name[1] == 'c' && name[2] == 'l';
  // A caller that passes RTLD_NEXT has found a definition already.
  if (report[0] != 0 && family && handle != RTLD_NEXT && system_dlsym()(handle, name) == nullptr &&
      !(handle == RTLD_DEFAULT && caller_has(name, caller)) && is_new("symbol", name, caller))
    write_line("symbol", name, caller);
  errno = before;
}

[[gnu::noinline]] void note_open(const char* name, const void* caller) {
  if (report[0] == 0 || name == nullptr || *name == 0) return;
  const int before = errno;
  char absolute[PATH_MAX];
  bool has_folder = false;
  for (const char* at = name; *at != 0; ++at) has_folder |= *at == '/';
  if (has_folder && realpath(name, absolute) != nullptr) name = absolute;
  if (is_new("open", name, caller)) write_line("open", name, caller);
  errno = before;
}

[[gnu::constructor]] void start() {
  if (const char* const given = std::getenv("SOFTNPU_MISSING_REPORT"))
    std::snprintf(report, sizeof report, "%s", given);
  answers = std::getenv("SOFTNPU_ABSENT") != nullptr;
  note_open("/proc/self/exe", report);  // also reports programs that a script starts
}

}  // namespace

// The system's functions are tail calls (core/explain is always compiled with
// -foptimize-sibling-calls), because the system uses the return address to determine the caller,
// whose search path and scope apply.
extern "C" {
[[gnu::visibility("default")]] void* dlsym(void* handle, const char* name) noexcept {
  note_lookup(handle, name, __builtin_return_address(0));
  if (void* const function = answered(handle, name)) return function;
  return system_dlsym()(handle, name);
}

[[gnu::visibility("default")]] void* dlopen(const char* name, int flags) noexcept {
  note_open(name, __builtin_return_address(0));
  return next_dlopen()(name, flags);
}
}
