// SPDX-License-Identifier: Apache-2.0
// What the library does to write does not reach the program, and what the program does with
// descriptors and signals reaches nothing of the library's.
#include <sys/resource.h>

#include <cstdio>

#include "base/own_file.h"
#include "base/undisturbed.h"

namespace {

int failures = 0;
volatile std::sig_atomic_t handled = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition)

bool is_pending(int signal) {
  sigset_t all;
  sigpending(&all);
  return sigismember(&all, signal) == 1;
}

// Both signals, by which the system would end the program.
void provoke_signals(const char* file) {
  int pipe_ends[2];
  EXPECT(pipe(pipe_ends) == 0);
  close(pipe_ends[0]);
  const softnpu::Undisturbed meanwhile;
  EXPECT(write(pipe_ends[1], "", 1) < 0 && errno == EPIPE);
  close(pipe_ends[1]);
  const rlimit none{0, RLIM_INFINITY}, unlimited{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &none);
  const softnpu::OwnFile limited(softnpu::open_own(file, O_WRONLY));
  EXPECT(write(limited.descriptor(), "", 1) < 0 && errno == EFBIG);
  setrlimit(RLIMIT_FSIZE, &unlimited);
  EXPECT(is_pending(SIGPIPE) && is_pending(SIGXFSZ));
}

void signals_do_not_reach_the_program(const char* file) {
  std::signal(SIGALRM, [](int) { handled = handled + 1; });
  errno = EDOM;
  provoke_signals(file);
  EXPECT(errno == EDOM);
  EXPECT(!is_pending(SIGPIPE) && !is_pending(SIGXFSZ));
  {
    const softnpu::Undisturbed meanwhile;
    std::raise(SIGALRM);
    EXPECT(handled == 0);
  }
  EXPECT(handled == 1);
}

// One that the program has blocked and waits for.
void signals_of_the_program_stay() {
  sigset_t pipes;
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  sigprocmask(SIG_BLOCK, &pipes, nullptr);
  std::raise(SIGPIPE);
  {
    const softnpu::Undisturbed meanwhile;
  }
  EXPECT(is_pending(SIGPIPE));
}

void numbers_of_the_program_are_left_alone(const char* file) {
  int reused = -1;
  {
    const softnpu::OwnFile own(softnpu::open_own(file, O_WRONLY));
    reused = own.descriptor();
    EXPECT(reused > STDERR_FILENO);
    close(reused);
    EXPECT(own.descriptor() == -1);
    EXPECT(open("/dev/null", O_WRONLY) == reused);
    EXPECT(own.descriptor() == -1);
  }
  EXPECT(fcntl(reused, F_GETFD) >= 0);
  close(STDIN_FILENO);
  const softnpu::OwnFile own(softnpu::open_own(file, O_WRONLY));
  EXPECT(own.descriptor() > STDERR_FILENO);
}

}  // namespace

int main(int, char** arguments) {
  signals_do_not_reach_the_program(arguments[1]);
  signals_of_the_program_stay();
  numbers_of_the_program_are_left_alone(arguments[1]);
  return failures == 0 ? 0 : 1;
}
