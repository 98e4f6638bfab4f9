// SPDX-License-Identifier: Apache-2.0
// Runs kernels on the threads of an OpenMP runtime that is already loaded, mostly PyTorch's. Its
// threads spin for milliseconds after each job and would compete with threads of our own. Nothing
// here links to OpenMP.
#pragma once

namespace softnpu::loops {

struct OpenMp {
  // The entry point that compilers call; all common runtimes have it.
  void (*parallel)(void (*function)(void*), void* data, unsigned threads, unsigned flags);
  int (*thread_number)();
  int (*most_threads)();
  int (*end_team)(int how);  // ends the calling thread's team; null in old runtimes
};

// Null if no runtime is loaded (this is rechecked from time to time), on threads other than the
// main one, each of which would get a team of its own, and after a fork() that lost a team.
const OpenMp* borrowed_openmp();

// A team's threads do not survive fork(), and the child would wait for them, in PyTorch's own
// operators, too. So the team of the forking thread is ended before; the next job starts another.
void end_openmp_team();
void forget_lost_team();  // in the child

}  // namespace softnpu::loops
