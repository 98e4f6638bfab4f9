// SPDX-License-Identifier: Apache-2.0
// The threads of an OpenMP runtime that something else in the process brought along, PyTorch above
// all. They busy-wait for some milliseconds after each of their jobs, and a second team would
// have to share the cores with that. So while such a runtime is there, kernels run on its team.
// Nothing here links to OpenMP.
#pragma once

namespace softnpu::loops {

struct OpenMp {
  // The entry point that compilers emit calls of, which all common runtimes have.
  void (*parallel)(void (*function)(void*), void* data, unsigned threads, unsigned flags);
  int (*thread_number)();
  int (*most_threads)();
  int (*end_team)(int how);  // the calling thread's; null where the runtime is too old
};

// Null where no runtime is loaded (looked for again from time to time), or where its threads are
// not for the caller: on other threads than the main one, each of which would get a team of its
// own, and after a fork() that had to leave a team behind.
const OpenMp* borrowed_openmp();

// A team's threads do not survive fork(), and the child would wait for them, in PyTorch's own
// operators, too. So where kernels run on such a team, the forking thread's ends before; the next
// job starts another.
void end_openmp_team();
void forget_lost_team();  // in the child

}  // namespace softnpu::loops
