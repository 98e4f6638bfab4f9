// SPDX-License-Identifier: Apache-2.0
//
// Preloaded by `softnpu run --explain-missing`. Appends a line to a file for each library that the
// program opens, and for each name of the acl family that it fails to find.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/own_file.h"
#include "base/undisturbed.h"

namespace {

using Lookup = void* (*)(void*, const char*);
using Open = void* (*)(const char*, int);

char report[PATH_MAX];  // empty if there is no report, or before the program begins

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
  note_open("/proc/self/exe", report);  // also reports programs that a script starts
}

}  // namespace

// Both are tail calls (core/explain is always compiled with -foptimize-sibling-calls), because the
// system uses the return address to determine the caller, whose search path and scope apply.
extern "C" {
[[gnu::visibility("default")]] void* dlsym(void* handle, const char* name) noexcept {
  note_lookup(handle, name, __builtin_return_address(0));
  return system_dlsym()(handle, name);
}

[[gnu::visibility("default")]] void* dlopen(const char* name, int flags) noexcept {
  note_open(name, __builtin_return_address(0));
  return next_dlopen()(name, flags);
}
}
