// SPDX-License-Identifier: Apache-2.0
#include "checkers/host_access.h"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <optional>

#include "base/checked_program.h"
#include "checkers/in_flight.h"
#include "checkers/ledger.h"

namespace softnpu::checkers {
namespace {

// The program's own handling of SIGSEGV.
struct sigaction before;
// Whether a fault was left to the program, and nothing has been installed since.
std::atomic<bool> was_left{false};

using SetHandler = decltype(&sigaction);
// The system's sigaction(), also where a preloaded library replaces it.
SetHandler set_handler = &sigaction;
// Whether that library keeps the handler here in front.
bool is_kept = false;

#if defined(__x86_64__)
constexpr bool kIsKnown = true;
bool writes_memory(const void* context) {
  constexpr greg_t kWrites = 2;
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & kWrites) != 0;
}
const void* instruction_of(const void* context) {
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<const void*>(machine->uc_mcontext.gregs[REG_RIP]);
}
void* caller_of(const void* context) {
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return *reinterpret_cast<void**>(machine->uc_mcontext.gregs[REG_RSP]);
}
#elif defined(__aarch64__)
constexpr bool kIsKnown = false;
bool writes_memory(const void*) { return true; }
const void* instruction_of(const void* context) {
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<const void*>(machine->uc_mcontext.pc);
}
void* caller_of(const void* context) {
  constexpr size_t kLinkRegister = 30;
  const auto* const machine = static_cast<const ucontext_t*>(context);
  return reinterpret_cast<void*>(machine->uc_mcontext.regs[kLinkRegister]);
}
#else
constexpr bool kIsKnown = false;
bool writes_memory(const void*) { return true; }
const void* instruction_of(const void*) { return nullptr; }
void* caller_of(const void*) { return nullptr; }
#endif

const char* what_it_does(const void* context) {
  if (!kIsKnown) return "reads or writes";
  return writes_memory(context) ? "writes" : "reads";
}

// A place in, or beside, memory of the device.
struct Place {
  std::string text;
  std::optional<Allocation> allocation;
  bool is_before = false;  // where the C library keeps what it knows of its own allocations
};

std::string_view ended(const Allocation& allocation) {
  if (!allocation.freed) return "";
  return allocation.family == runtime::Family::mapped ? " that was unmapped" : " that was freed";
}

std::optional<Place> place_of(const void* address) {
  auto allocation = ledger().find(address);
  if (!allocation && runtime::find_reservation(address))
    return Place{runtime::describe_unmapped(address), std::nullopt};
  if (!allocation) allocation = ledger().find_beside(address);
  if (allocation) {
    if (allocation->family == runtime::Family::host) return std::nullopt;
    const bool is_before = reinterpret_cast<uintptr_t>(address) < allocation->base;
    return Place{text(place_in(*allocation, address), ended(*allocation)), allocation, is_before};
  }
  if (!runtime::was_freed(address)) return std::nullopt;
  return Place{"in an allocation that was freed long ago, or beside all allocations", std::nullopt};
}

Finding finding_of(std::string headline, const Place& place) {
  return {Tool::memcheck,
          "host-access",
          std::move(headline),
          {},
          place.is_before ? "Free device memory with aclrtFree, not with free() or realloc(), "
                            "which look for their own data before it."
                          : "Copy between host and device with aclrtMemcpy."};
}

std::string written(const void* address) {
  std::string pointer;
  append_argument(pointer, address);
  return pointer;
}

Part here(Stack stack) {
  return {"here", std::make_shared<const Site>(Site{{}, {}, std::move(stack)})};
}

// Not async-signal-safe in general, because the thread may hold a lock of the C library. Here the
// fault was in the program's own access, and the process ends anyway.
void report_access(const void* address, const Place& place, const void* context) {
  Finding finding = finding_of(text("the program itself ", what_it_does(context),
                                    " device memory, at ", written(address), ", ", place.text),
                               place);
  finding.parts.push_back(here(Stack::of_signal(instruction_of(context))));
  if (place.allocation) add_history("the memory", *place.allocation, finding);
  report_last(finding);
}

// Nothing handles the fault, which ends the process.
void report_crash(const siginfo_t& about, const void* context) {
  if (before.sa_handler != SIG_DFL) return;
  const void* const instruction = instruction_of(context);
  // The stack cannot be followed from an instruction that does not exist.
  const bool is_call = about.si_addr == instruction;
  const std::string what = is_call ? "calls a function" : text(what_it_does(context), " memory");
  // The system does not say which address it was if no memory can be there.
  const std::string address =
      about.si_code == SI_KERNEL ? "an address that cannot exist" : written(about.si_addr);
  report_last(
      {Tool::memcheck,
       "crash",
       text("the program itself ", what, " at ", address, ", which it may not access"),
       {here(is_call ? Stack::of_caller(caller_of(context)) : Stack::of_signal(instruction))},
       "Check where this pointer comes from, and the statuses of the calls before."});
}

// Flushes stdout, unless another thread is printing. Other buffered output is lost, as after any
// fault.
void flush_stdout() {
  if (ftrylockfile(stdout) == 0) std::fflush(stdout);
}

void on_fault(int signal, siginfo_t* about, void* context);

struct sigaction handler_of_faults() {
  struct sigaction handler = {};
  handler.sa_sigaction = on_fault;
  handler.sa_flags = SA_SIGINFO | SA_NODEFER;
  return handler;
}

void on_fault(int signal, siginfo_t* about, void* context) {
  if (about->si_code <= 0) {  // a process sent it: a matter of the program's own handling
    set_handler(signal, &before, nullptr);
    raise(signal);
    const struct sigaction handler = handler_of_faults();
    set_handler(signal, &handler, nullptr);
    return;
  }
  auto* const address = static_cast<std::byte*>(about->si_addr);
  if (in_flight().fault(address, writes_memory(context), what_it_does(context))) return;
  const auto allocation = ledger().find(address);
  // Another thread has made it accessible again since the fault.
  if (allocation && allocation->family == runtime::Family::host && !allocation->freed) return;
  if (const auto place = place_of(address)) {
    report_access(address, *place, context);
    flush_stdout();
    _exit(kHostAccessStatus);
  }
  // The access faults again, with the program's own handling. If that has called this handler, the
  // system's handling ends the process.
  report_crash(*about, context);
  struct sigaction none = {};
  none.sa_handler = SIG_DFL;
  set_handler(signal, was_left.exchange(true) ? &none : &before, nullptr);
}

// A system call or a function of the C library got an address that it cannot access.
void report_refusal(const char* function, const void* address, size_t size) {
  const auto place = place_of(address);
  if (!place) return;
  Finding finding =
      finding_of(text(function, "() fails, because its buffer of ", size, " bytes at ",
                      written(address), " is device memory, ", place->text),
                 *place);
  finding.parts.push_back(
      {"by this call", std::make_shared<const Site>(Site{{}, {}, Stack::here()})});
  if (place->allocation) add_history("the memory", *place->allocation, finding);
  report(finding);
}

// The program's own handler waits behind this one.
int keep_handler(const struct sigaction* handler, struct sigaction* old) {
  if (old != nullptr) *old = before;
  if (handler != nullptr) before = *handler;
  return 0;
}

void note_free(const void* memory, size_t size) {
  in_flight().freed(static_cast<const std::byte*>(memory), size);
}

const CheckedProgram& checked_program() {
  static const CheckedProgram program{&keep_handler, &report_refusal,
                                      &in_flight().pageable_buffers(), &note_free};
  return program;
}

}  // namespace

void watch_host_access() {
  runtime::protect_device_memory();
  watch_faults();
  void* const preloaded = dlsym(RTLD_DEFAULT, kWatchProgram);
  if (preloaded == nullptr) return;
  set_handler = reinterpret_cast<WatchProgram>(preloaded)(&checked_program());
  is_kept = true;
  in_flight().start_to_watch_frees();
}

void watch_faults() {
  if (is_kept) return;
  const struct sigaction handler = handler_of_faults();
  struct sigaction found;
  if (set_handler(SIGSEGV, nullptr, &found) == 0 && found.sa_sigaction == on_fault) return;
  set_handler(SIGSEGV, &handler, &before);
  was_left = false;
}

}  // namespace softnpu::checkers
