// SPDX-License-Identifier: Apache-2.0
// For output that the observed program must not notice. Header-only, because core/explain links no
// library.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <initializer_list>

namespace softnpu {

// While one lives, the thread runs no signal handler, which might not return (longjmp()), is not
// cancelled, and may write to a terminal from the background. SIGPIPE and SIGXFSZ, which a write to
// a closed pipe or beyond a limit would raise, are discarded. errno is restored.
class Undisturbed {
 public:
  Undisturbed() : errno_(errno) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation_);
    sigset_t held;
    sigfillset(&held);
    // If the signal of a thread's own fault were blocked, the fault would end the process at once.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&held, fault);
    sigprocmask(SIG_BLOCK, &held, &mask_);  // like pthread_sigmask(), which needs another library
    sigpending(&pending_);
  }
  ~Undisturbed() {
    sigset_t caused;
    sigemptyset(&caused);
    for (const int signal : {SIGPIPE, SIGXFSZ})
      if (sigismember(&pending_, signal) == 0) sigaddset(&caused, signal);
    const timespec none{};
    while (sigtimedwait(&caused, nullptr, &none) > 0) {
    }
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
    pthread_setcancelstate(cancellation_, nullptr);
    errno = errno_;
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  int errno_;
  int cancellation_ = PTHREAD_CANCEL_ENABLE;
  sigset_t mask_;
  sigset_t pending_;
};

}  // namespace softnpu
