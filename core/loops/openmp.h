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
};

// Null where no runtime is loaded (looked for again from time to time), or where its threads are
// not for the caller: on other threads than the main one, each of which would get a team of its
// own, and after fork(), which they do not survive.
const OpenMp* borrowed_openmp();

void forget_openmp();  // in the child of a fork

}  // namespace softnpu::loops
