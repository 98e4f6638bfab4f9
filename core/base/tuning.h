// SPDX-License-Identifier: Apache-2.0
// All tuned constants: numbers that could be others without changing any result. Above each: its
// unit, what it decides, and why.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace softnpu {

// Threads (core/loops/threads.h).

// elements: a job's pieces have no fewer, because sharing them costs more than computing them
constexpr int64_t kGrain = 8192;
// elements: fewer in dense rows go to one thread, because calling others takes as long
constexpr int64_t kAlone = 32768;
// threads: larger teams skip what pays only while calling others together is cheap
constexpr int kSmallTeam = 2;
// pieces: a long job's share for each thread, so that one held up does not hold up the rest
constexpr int64_t kPiecesPerThread = 4;
// part of a grain: the shortest piece of a larger team, which is to have work for all of it
constexpr int64_t kGrainParts = 4;
// looks for work: a thread looks so often before it sleeps or yields, because waking it is slow
constexpr int kSpins = 2000;
// time: in a longer job, threads that have not begun are worth moving to another processor
constexpr std::chrono::microseconds kLongJob{200};
// jobs: how often an OpenMP runtime is looked for, because a look takes as long as a small job
constexpr unsigned kJobsPerLook = 64;

// Caches and memory (core/loops/elementwise.cpp).

// bytes of all operands: fewer stay in a core's own caches, where the order of work does not matter
constexpr int64_t kNearBytes = int64_t{2} << 20;
// bytes of all operands: more come from memory, so that streaming stores and prefetching pay
constexpr int64_t kFarBytes = int64_t{16} << 20;
// indices: how far ahead elements of a gather are prefetched, for the same reason
constexpr int64_t kGatherAhead = 192;

// Loops over rows and tiles (core/loops/).

// elements: the tile of an operand, several of which stay in the L1 cache
constexpr int64_t kTileElements = 1024;
// bytes: what is rearranged at once, which stays in the L1 cache
constexpr int64_t kBlockBytes = 32768;
// rows: the tile of transposed operands, whole lines of columns that fall into few cache sets
constexpr int64_t kTransposedRows = 32;
// elements: shorter rows are gathered one by one, because each row has a cost of its own
constexpr int64_t kShortRow = 16;
// elements: shorter rows are copied together, because that costs less than a loop for each
constexpr int64_t kJoinedRow = 128;
// elements: the step of vector loops, whole cache lines of any type that stay in registers
constexpr int64_t kBlock = 64;
// elements: the step of loops that move or check single elements, which registers hold
constexpr int64_t kUnrolled = 8;
// streams of memory: more rows or planes are not walked together, as prefetchers follow no more
constexpr int64_t kMostStreams = 12;

// Upsampling (core/kernels/upsample_*).

// adjacent elements: fewer are no vector, so that a walk along W is the better one
constexpr int64_t kUpsampleSide = 8;
// rows of out: so many are made together at least, because neighbours are mostly copies
constexpr int64_t kUpsampleRows = 4;

// Memory (core/memory/, core/runtime/arena.cpp).

// bytes: larger blocks have huge pages and are kept for the next result, as new pages are slow
constexpr size_t kLargeBytes = size_t{4} << 20;
// sizes in each power of two: similar results share buffers, and little of a buffer is wasted
constexpr size_t kPoolSizes = 8;
// bytes: freed device memory of this size returns its pages; smaller blocks come and go too often
constexpr size_t kKeptBytes = size_t{32} << 20;
// bytes: address space that the device takes at once, which costs nothing until it is touched
constexpr size_t kRegionBytes = size_t{16} << 30;

// Streams (core/runtime/).

// pieces of work: with more of them waiting, launching threads are slowed down, to bound memory
constexpr uint64_t kMaxBacklog = 1000;
// time: how often waiting threads recheck what nobody notifies them of
constexpr std::chrono::milliseconds kRecheckTime{20};
// time: how long deferred work waits while the program makes no call, as it may read memory
constexpr std::chrono::milliseconds kStallTime{250};
// levels: work that launches work goes to another thread from here on, because stacks are limited
constexpr int kMaxNesting = 100;
// threads: the library starts no more, because programs can launch any number of host functions
constexpr size_t kMaxCallbackThreads = 256;

// Lines for people (core/base/lines.h).

// time: how long those who read a pipe may hold a thread up, because some are only slow
constexpr std::chrono::milliseconds kReaderTime{1000};

// Python (bindings/call.h).

// elements: smaller calls keep the GIL, because letting it go takes longer than they do
constexpr int64_t kReleaseGilFrom = 2048;

}  // namespace softnpu
