// SPDX-License-Identifier: Apache-2.0
#include "loops/openmp.h"

#include <dlfcn.h>

#include <atomic>

#include "base/main_thread.h"
#include "base/stat_fields.h"
#include "base/tuning.h"

namespace softnpu::loops {
namespace {

// Whether this process is a fork without an exec. The parent's team, which does not exist here, may
// have been used.
bool was_forked() {
  constexpr unsigned kForkedWithoutExec = 0x40;  // the kernel's PF_FORKNOEXEC
  const auto flags = static_cast<unsigned>(StatFields("/proc/self/stat").number(9).value_or(0));
  return (flags & kForkedWithoutExec) != 0;
}

std::atomic<const OpenMp*> found{nullptr};
std::atomic<bool> lost_team{false};
thread_local constinit bool ended_team = false;  // before this thread's current fork()

template <class Function>
bool find(void* library, const char* name, Function*& out) {
  out = reinterpret_cast<Function*>(dlsym(library, name));
  return out != nullptr;
}

const OpenMp* look_for_openmp() {
  for (const char* name : {"libgomp.so.1", "libiomp5.so", "libomp.so.5", "libomp.so"}) {
    void* const library =
        dlopen(name, RTLD_LAZY | RTLD_NOLOAD);  // stays open, so that it is not unloaded
    if (library == nullptr) continue;
    static OpenMp openmp;
    if (find(library, "GOMP_parallel", openmp.parallel) &&
        find(library, "omp_get_thread_num", openmp.thread_number) &&
        find(library, "omp_get_max_threads", openmp.most_threads)) {
      find(library, "omp_pause_resource_all", openmp.end_team);
      if (!was_forked()) return &openmp;
      lost_team = true;  // the library was loaded after the fork(), so no handler set it
      return nullptr;
    }
    dlclose(library);
  }
  return nullptr;
}

bool called_from_main_thread() {
  static thread_local const bool is_main = is_main_thread();  // two system calls
  return is_main;
}

}  // namespace

const OpenMp* borrowed_openmp() {
  // Only used by the main thread, so no lock is needed.
  static unsigned asked = 0, next = 1;
  if (lost_team.load(std::memory_order_relaxed) || !called_from_main_thread()) return nullptr;
  if (const OpenMp* const known = found.load(std::memory_order_relaxed)) return known;
  // A look costs as much as a small job, so each of the first jobs looks, and later few.
  if (++asked < next) return nullptr;
  next = asked + (asked < kJobsPerLook ? 1 : kJobsPerLook);
  found.store(look_for_openmp(), std::memory_order_release);
  return found.load(std::memory_order_relaxed);
}

void end_openmp_team() {
  constexpr int kSoftly = 1;  // omp_pause_soft
  const OpenMp* const openmp = found.load(std::memory_order_acquire);
  ended_team = openmp != nullptr && openmp->end_team != nullptr && openmp->end_team(kSoftly) == 0;
}

void forget_lost_team() {
  if (!ended_team) lost_team = true;
}

}  // namespace softnpu::loops
