// SPDX-License-Identifier: Apache-2.0
#include "checkers/idle.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/stat_fields.h"
#include "base/undisturbed.h"

namespace softnpu::checkers {
namespace {

constexpr int kMostLooks = 100;
constexpr useconds_t kBetweenLooks = 100;  // microseconds
// A thread may sleep for a moment, for a page or a lock.
constexpr int kLooksInARow = 3;

struct Close {
  void operator()(DIR* folder) const { closedir(folder); }
};

bool runs(int thread) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  return StatFields(path).state() == 'R';
}

bool others_sleep() {
  const std::unique_ptr<DIR, Close> folder(opendir("/proc/self/task"));
  if (folder == nullptr) return true;
  while (const dirent* const entry = readdir(folder.get())) {
    const int thread = std::atoi(entry->d_name);  // 0 for the folder itself and its parent
    if (thread != 0 && thread != gettid() && runs(thread)) return false;
  }
  return true;
}

}  // namespace

void wait_until_others_sleep() {
  const Undisturbed meanwhile;
  int in_a_row = 0;
  for (int i = 0; i < kMostLooks && in_a_row < kLooksInARow; ++i) {
    in_a_row = others_sleep() ? in_a_row + 1 : 0;
    usleep(kBetweenLooks);
  }
}

}  // namespace softnpu::checkers
