// SPDX-License-Identifier: Apache-2.0
#include "loops/processors.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace softnpu::loops {
namespace {

// The processor that a thread waits for, or that runs it; -1 where it wants none.
int wanted_processor(pid_t thread) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", thread);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  std::array<char, 1024> text;
  const ssize_t size = read(file, text.data(), text.size() - 1);
  close(file);
  if (size <= 0) return -1;
  text[static_cast<size_t>(size)] = '\0';
  // The name, which is the second field, may have anything in it. The third is the state, the
  // 39th the processor.
  const char* at = std::strrchr(text.data(), ')');
  if (at == nullptr || std::strncmp(at, ") R ", 4) != 0) return -1;
  for (int field = 2; field < 39 && at != nullptr; ++field) at = std::strchr(at + 1, ' ');
  int processor = -1;
  return at != nullptr && std::sscanf(at, "%d", &processor) == 1 ? processor : -1;
}

}  // namespace

void step_aside_for(pid_t thread, int processors) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  const int here = sched_getcpu();
  if (here < 0 || CPU_COUNT(&usable) < processors || wanted_processor(thread) != here) return;
  cpu_set_t others = usable;
  CPU_CLR(static_cast<size_t>(here), &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof usable, &usable);
}

}  // namespace softnpu::loops
