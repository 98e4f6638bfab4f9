// SPDX-License-Identifier: Apache-2.0
//
// Preloaded by `softnpu check`. The checkers learn from it which functions of the C library failed
// because they got device memory, and what the program frees. It keeps their handler of SIGSEGV in
// front of the program's.
#include "base/checked_program.h"

#include <dlfcn.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using softnpu::CheckedProgram;

std::atomic<const CheckedProgram*> checked{nullptr};  // null until the checkers start

// The next definition of a function.
template <class Function>
class Next {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}
  Function* get() {
    void* found = known_.load(std::memory_order_relaxed);
    if (found == nullptr) known_ = found = dlsym(RTLD_NEXT, name_);
    return reinterpret_cast<Function*>(found);
  }

 private:
  const char* name_;
  std::atomic<void*> known_{nullptr};
};

// Calls a function and reports it if it fails because of its buffer. errno is as after the
// function.
template <class Call>
auto watched(const char* name, const void* buffer, size_t size, Call&& call) {
  const CheckedProgram* const checks = checked.load(std::memory_order_acquire);
  if (checks == nullptr) return call();
  const int before = errno;
  errno = 0;
  const auto result = call();
  if (errno == 0) {
    errno = before;
  } else if (errno == EFAULT) {
    checks->refused(name, buffer, size);
    errno = EFAULT;
  }
  return result;
}

// Whether an asynchronous copy uses memory that the program may free.
bool matters() {
  const CheckedProgram* const checks = checked.load(std::memory_order_acquire);
  return checks != nullptr && checks->buffers->load(std::memory_order_relaxed) > 0;
}

template <class Size>
void note_free(const void* memory, Size&& size) {
  if (matters()) checked.load(std::memory_order_acquire)->freed(memory, size());
}

Next<int(int, const struct sigaction*, struct sigaction*)> next_sigaction{"sigaction"};
Next<sighandler_t(int, sighandler_t)> next_signal{"signal"};

int system_sigaction(int number, const struct sigaction* handler, struct sigaction* old) noexcept {
  return next_sigaction.get()(number, handler, old);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

decltype(&sigaction) softnpu_watch_program(const CheckedProgram* checks) {
  checked.store(checks, std::memory_order_release);
  return &system_sigaction;
}

int sigaction(int number, const struct sigaction* handler, struct sigaction* old) noexcept {
  const CheckedProgram* const checks = checked.load(std::memory_order_acquire);
  if (number == SIGSEGV && checks != nullptr) return checks->set_fault_handler(handler, old);
  return next_sigaction.get()(number, handler, old);
}

sighandler_t signal(int number, sighandler_t handler) noexcept {
  const CheckedProgram* const checks = checked.load(std::memory_order_acquire);
  if (number != SIGSEGV || checks == nullptr) return next_signal.get()(number, handler);
  struct sigaction fresh = {}, old = {};
  fresh.sa_handler = handler;
  fresh.sa_flags = SA_RESTART;
  checks->set_fault_handler(&fresh, &old);
  return old.sa_handler;
}

// Functions of one buffer, whose parameters follow those before it.
#define WATCH(result, name, buffer, size, parameters, arguments)               \
  result name parameters {                                                     \
    static constinit Next<result parameters> next{#name};                      \
    return watched(#name, buffer, size, [&] { return next.get() arguments; }); \
  }

WATCH(ssize_t, read, buffer, n, (int file, void* buffer, size_t n), (file, buffer, n))
WATCH(ssize_t, write, buffer, n, (int file, const void* buffer, size_t n), (file, buffer, n))
WATCH(ssize_t, pread, buffer, n, (int file, void* buffer, size_t n, off_t at),
      (file, buffer, n, at))
WATCH(ssize_t, pwrite, buffer, n, (int file, const void* buffer, size_t n, off_t at),
      (file, buffer, n, at))
WATCH(ssize_t, pread64, buffer, n, (int file, void* buffer, size_t n, off64_t at),
      (file, buffer, n, at))
WATCH(ssize_t, pwrite64, buffer, n, (int file, const void* buffer, size_t n, off64_t at),
      (file, buffer, n, at))
WATCH(ssize_t, recv, buffer, n, (int socket, void* buffer, size_t n, int flags),
      (socket, buffer, n, flags))
WATCH(ssize_t, send, buffer, n, (int socket, const void* buffer, size_t n, int flags),
      (socket, buffer, n, flags))
WATCH(size_t, fread, buffer, size* n, (void* buffer, size_t size, size_t n, FILE* file),
      (buffer, size, n, file))
WATCH(size_t, fwrite, buffer, size* n, (const void* buffer, size_t size, size_t n, FILE* file),
      (buffer, size, n, file))

// Looking up the next free() may free memory itself, which is then lost.
void free(void* memory) noexcept {
  static constinit Next<void(void*)> next{"free"};
  static thread_local constinit bool is_looking_up = false;
  if (is_looking_up) return;
  is_looking_up = true;
  auto* const really_free = next.get();
  is_looking_up = false;
  if (memory != nullptr) note_free(memory, [&] { return malloc_usable_size(memory); });
  really_free(memory);
}

void* realloc(void* memory, size_t size) noexcept {
  static constinit Next<void*(void*, size_t)> next{"realloc"};
  const size_t before = memory != nullptr && matters() ? malloc_usable_size(memory) : 0;
  const auto place = reinterpret_cast<uintptr_t>(memory);
  void* const moved = next.get()(memory, size);
  const bool is_over = moved != nullptr ? reinterpret_cast<uintptr_t>(moved) != place : size == 0;
  if (before > 0 && is_over)
    note_free(reinterpret_cast<const void*>(place), [=] { return before; });
  return moved;
}

int munmap(void* memory, size_t size) noexcept {
  static constinit Next<int(void*, size_t)> next{"munmap"};
  note_free(memory, [=] { return size; });
  return next.get()(memory, size);
}

// The same functions in programs that are compiled with _FORTIFY_SOURCE.
ssize_t __read_chk(int file, void* buffer, size_t n, size_t) { return read(file, buffer, n); }
}
#pragma GCC visibility pop
