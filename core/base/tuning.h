// SPDX-License-Identifier: Apache-2.0
// All tuned constants: numbers that could change without changing any result. The comment above
// each has its unit, what it decides, and why.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace softnpu {

// Threads (core/loops/threads.h).

// elements: minimum size of a piece, because distributing smaller ones costs more than computing
// them
constexpr int64_t kGrain = 8192;
// elements: smaller jobs on dense rows use one thread, because waking others takes as long
constexpr int64_t kAlone = 32768;
// threads: larger teams skip optimisations that pay only if synchronisation is cheap
constexpr int kSmallTeam = 2;
// pieces: a long job's pieces for each thread, so that one delayed thread does not delay the job
constexpr int64_t kPiecesPerThread = 4;
// part of a grain: the minimum piece of a larger team, so that all of it has work
constexpr int64_t kGrainParts = 4;
// attempts: how often a thread looks for work before it sleeps or yields, because waking it is slow
constexpr int kSpins = 2000;
// time: in longer jobs, it pays to move threads that have not started to another processor
constexpr std::chrono::microseconds kLongJob{200};
// jobs: how often to look for an OpenMP runtime, because a look takes as long as a small job
constexpr unsigned kJobsPerLook = 64;

// Caches and memory (core/loops/elementwise.cpp).

// bytes of all operands: fewer fit a core's own caches, where the order of work does not matter
constexpr int64_t kNearBytes = int64_t{2} << 20;
// bytes of all operands: more come from memory, where streaming stores and prefetching pay
constexpr int64_t kFarBytes = int64_t{16} << 20;
// indices: prefetch distance of a gather
constexpr int64_t kGatherAhead = 192;

// Loops over rows and tiles (core/loops/).

// elements: the tile of an operand; the L1 cache holds several
constexpr int64_t kTileElements = 1024;
// bytes: the size of a block that is rearranged, which fits the L1 cache
constexpr int64_t kBlockBytes = 32768;
// rows: the tile of transposed operands; whole cache lines of columns that share few cache sets
constexpr int64_t kTransposedRows = 32;
// elements: shorter rows are gathered element by element, because each row has a fixed cost
constexpr int64_t kShortRow = 16;
// elements: shorter rows are copied together, because a loop for each costs more
constexpr int64_t kJoinedRow = 128;
// elements: the step of vector loops; whole cache lines of any type, in registers
constexpr int64_t kBlock = 64;
// elements: the step of loops that move or check single elements in registers
constexpr int64_t kUnrolled = 8;
// memory streams: the most rows or planes that are read at once, because prefetchers follow no more
constexpr int64_t kMostStreams = 12;

// Upsampling (core/kernels/upsample_*).

// adjacent elements: fewer do not fill a vector, so vectors along W are better
constexpr int64_t kUpsampleSide = 8;
// rows of out: the minimum that is made at once, because adjacent rows are mostly copies
constexpr int64_t kUpsampleRows = 4;

// Memory (core/memory/, core/runtime/arena.cpp).

// bytes: larger blocks use huge pages and are kept for the next result, because new pages are slow
constexpr size_t kLargeBytes = size_t{4} << 20;
// sizes in each power of two: similar results share buffers, and little memory is wasted
constexpr size_t kPoolSizes = 8;
// bytes: freed device memory of at least this size returns its pages; smaller blocks are reused too
// often
constexpr size_t kKeptBytes = size_t{32} << 20;
// bytes: address space that the device reserves at once; unused address space costs nothing
constexpr size_t kRegionBytes = size_t{16} << 30;

// Streams (core/runtime/).

// pieces of work: with more of them waiting, launching threads wait, to bound memory
constexpr uint64_t kMaxBacklog = 1000;
// time: how often waiting threads recheck conditions without a notification
constexpr std::chrono::milliseconds kRecheckTime{20};
// time: how long deferred work waits while the program makes no call, because it may be polling
// memory
constexpr std::chrono::milliseconds kStallTime{250};
// levels: deeper nested work goes to another thread, because stacks are limited
constexpr int kMaxNesting = 100;
// threads: the maximum for host functions, of which programs can launch any number
constexpr size_t kMaxCallbackThreads = 256;

// Lines for people (core/base/lines.h).

// time: how long a thread waits for the reader of a pipe, because some readers are slow
constexpr std::chrono::milliseconds kReaderTime{1000};

// Python (bindings/call.h).

// elements: smaller calls keep the GIL, because releasing it takes longer than they do
constexpr int64_t kReleaseGilFrom = 2048;

}  // namespace softnpu
