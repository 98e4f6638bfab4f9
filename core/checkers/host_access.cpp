// SPDX-License-Identifier: Apache-2.0
#include "checkers/host_access.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>

#include "checkers/in_flight.h"
#include "checkers/ledger.h"

namespace softnpu::checkers {
namespace {

struct sigaction before;

#if defined(__x86_64__)
constexpr bool kIsKnown = true;
bool writes_memory(const void* context) {
  constexpr greg_t kWrites = 2;
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & kWrites) != 0;
}
#else
constexpr bool kIsKnown = false;
bool writes_memory(const void*) { return true; }
#endif

const char* what_it_does(const void* context) {
  if (!kIsKnown) return "reads or writes";
  return writes_memory(context) ? "writes" : "reads";
}

std::string place_of(const Allocation& allocation, const void* address) {
  const bool is_mapped = allocation.family == runtime::Family::mapped;
  return text(place_in(allocation, address), !allocation.freed ? ""
                                             : is_mapped       ? " that was unmapped"
                                                               : " that was freed");
}

// Not async-signal-safe in general, because the thread may hold a lock of the C library. Here the
// fault was in the program's own access, and the process ends anyway.
void report_access(const void* address, std::string_view place, const void* context) {
  std::string pointer;
  append_argument(pointer, address);
  Finding finding{Tool::memcheck,
                  "host-access",
                  text("the program itself ", what_it_does(context), " device memory, at ", pointer,
                       ", ", place),
                  {},
                  "Copy between host and device with aclrtMemcpy."};
  finding.parts.push_back({"here", std::make_shared<const Site>(Site{{}, {}, Stack::here()})});
  add_history("the memory", address, finding);
  report(finding);
}

// Flushes stdout, unless another thread is printing. Other buffered output is lost, as after any
// fault.
void flush_stdout() {
  if (ftrylockfile(stdout) == 0) std::fflush(stdout);
}

void on_fault(int signal, siginfo_t* about, void* context) {
  auto* const address = static_cast<std::byte*>(about->si_addr);
  if (in_flight().fault(address, writes_memory(context), what_it_does(context))) return;
  const auto allocation = ledger().find(about->si_addr);
  const bool is_device = allocation && allocation->family != runtime::Family::host;
  // Another thread has made it accessible again since the fault.
  if (allocation && !is_device && !allocation->freed) return;
  if (is_device || runtime::find_reservation(about->si_addr)) {
    const std::string place = is_device ? place_of(*allocation, about->si_addr)
                                        : runtime::describe_unmapped(about->si_addr);
    report_access(about->si_addr, place, context);
    flush_stdout();
    _exit(kHostAccessStatus);
  }
  sigaction(signal, &before, nullptr);  // the access faults again, with the program's own handling
}

}  // namespace

void watch_host_access() {
  runtime::protect_device_memory();
  watch_faults();
}

void watch_faults() {
  struct sigaction handler = {};
  handler.sa_sigaction = on_fault;
  handler.sa_flags = SA_SIGINFO | SA_NODEFER;
  struct sigaction found;
  if (sigaction(SIGSEGV, nullptr, &found) == 0 && found.sa_sigaction == on_fault) return;
  sigaction(SIGSEGV, &handler, &before);
}

}  // namespace softnpu::checkers
