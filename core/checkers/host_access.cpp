// SPDX-License-Identifier: Apache-2.0
#include "checkers/host_access.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <optional>

#include "base/checked_program.h"
#include "checkers/in_flight.h"
#include "checkers/ledger.h"
#include "checkers/machine.h"

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

// The thread that writes the last report; 0 if none does.
std::atomic<pid_t> reporter{0};

// The system's handling ends the process, when the fault comes again.
void leave_to_system(bool was_sent) {
  struct sigaction none = {};
  none.sa_handler = SIG_DFL;
  set_handler(SIGSEGV, &none, nullptr);
  if (was_sent) raise(SIGSEGV);
}

// The thread may hold a lock of the C library for which its report waits, as where it crashes in
// malloc() because the heap is destroyed. The process ends all the same.
void begin_last_report() {
  constexpr unsigned kSeconds = 5;
  pid_t none = 0;
  if (!reporter.compare_exchange_strong(none, gettid()))
    while (true) pause();  // another thread ends the process
  struct sigaction late = {};
  late.sa_handler = [](int) {
    leave_to_system(false);
    kill(getpid(), SIGSEGV);
  };
  sigaction(SIGALRM, &late, nullptr);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(kSeconds);
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

// A place outside of the library's calls.
Part outside(const char* role, Stack stack) {
  return {role, std::make_shared<const Site>(Site{{}, {}, std::move(stack)})};
}

// Not async-signal-safe in general, because the thread may hold a lock of the C library. Here the
// fault was in the program's own access, and the process ends anyway.
void report_access(const void* address, const Place& place, const void* context) {
  begin_last_report();
  Finding finding = finding_of(text("the program itself ", what_it_does(context),
                                    " device memory, at ", written(address), ", ", place.text),
                               place);
  finding.parts.push_back(outside("here", Stack::of_signal(instruction_of(context))));
  if (place.allocation) add_history("the memory", *place.allocation, finding);
  report_last(finding);
}

void report_crash(const siginfo_t& about, const void* context) {
  begin_last_report();
  const void* const instruction = instruction_of(context);
  // The stack cannot be followed from an instruction that does not exist.
  const bool is_call = about.si_addr == instruction;
  const std::string what = is_call ? "calls a function" : text(what_it_does(context), " memory");
  // The system does not say which address it was if no memory can be there.
  const std::string address =
      about.si_code == SI_KERNEL ? "an address that cannot exist" : written(about.si_addr);
  std::string_view who = "the program itself";
  Part part = outside(
      "here", is_call ? Stack::of_caller(caller_of(context)) : Stack::of_signal(instruction));
  if (is_in_library(instruction)) {
    const SharedSite call = current_site();
    if (!call->function.empty()) part = {"by this call", call}, who = call->function;
  }
  report_last({Tool::memcheck,
               "crash",
               text(who, " ", what, " at ", address, ", which the program may not access"),
               {std::move(part)},
               is_call ? "Check where this pointer comes from. If no place is named, something may "
                         "have written past a local array, onto the address to return to."
                       : "Check where this pointer comes from, and the statuses of the calls "
                         "before."});
}

// Flushes stdout, unless another thread is printing. Other buffered output is lost, as after any
// fault.
void flush_stdout() {
  if (ftrylockfile(stdout) == 0) std::fflush(stdout);
}

// As the system does.
void call_handler(int signal, siginfo_t* about, void* context) {
  const struct sigaction theirs = before;
  if ((theirs.sa_flags & SA_RESETHAND) != 0) before.sa_handler = SIG_DFL;
  sigset_t blocked = theirs.sa_mask, old;
  if ((theirs.sa_flags & SA_NODEFER) == 0) sigaddset(&blocked, signal);
  pthread_sigmask(SIG_BLOCK, &blocked, &old);
  if ((theirs.sa_flags & SA_SIGINFO) != 0)
    theirs.sa_sigaction(signal, about, context);
  else
    theirs.sa_handler(signal);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

// For what is no matter of the checkers.
void leave_to_program(int signal, siginfo_t* about, void* context) {
  const bool was_sent = about->si_code <= 0;
  const bool is_ignored = before.sa_handler == SIG_IGN;
  if (was_sent && is_ignored) return;
  if (is_ignored || before.sa_handler == SIG_DFL) {  // faults end the process even so
    if (!was_sent) report_crash(*about, context);
    leave_to_system(was_sent);
  } else if (is_kept) {
    call_handler(signal, about, context);
  } else if (was_left.exchange(true)) {  // the program's handler has called this one
    leave_to_system(was_sent);
  } else {
    set_handler(signal, &before, nullptr);  // which gets the signal, when it comes again
    if (was_sent) raise(signal);
  }
}

void on_fault(int signal, siginfo_t* about, void* context) {
  if (reporter.load() == gettid()) return leave_to_system(about->si_code <= 0);
  if (about->si_code <= 0) return leave_to_program(signal, about, context);  // a process sent it
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
  leave_to_program(signal, about, context);
}

// Installs the handler, with what the program asks for its own.
void install() {
  struct sigaction handler = {};
  handler.sa_sigaction = on_fault;
  handler.sa_flags = SA_SIGINFO | SA_NODEFER | (before.sa_flags & (SA_ONSTACK | SA_RESTART));
  set_handler(SIGSEGV, &handler, nullptr);
}

// A system call or a function of the C library got an address that it cannot access.
void report_refusal(const char* function, const void* address, size_t size) {
  const auto place = place_of(address);
  if (!place) return;
  Finding finding =
      finding_of(text(function, "() fails, because its buffer of ", size, " bytes at ",
                      written(address), " is device memory, ", place->text),
                 *place);
  finding.parts.push_back(outside("by this call", Stack::here()));
  if (place->allocation) add_history("the memory", *place->allocation, finding);
  report(finding);
}

// The program's own handler waits behind this one.
int keep_handler(const struct sigaction* handler, struct sigaction* old) {
  if (old != nullptr) *old = before;
  if (handler == nullptr) return 0;
  before = *handler;
  install();
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
  struct sigaction found;
  if (set_handler(SIGSEGV, nullptr, &found) == 0 && found.sa_sigaction == on_fault) return;
  before = found;
  install();
  was_left = false;
}

}  // namespace softnpu::checkers
