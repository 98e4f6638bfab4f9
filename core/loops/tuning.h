// SPDX-License-Identifier: Apache-2.0
// The tuned constants of the elementwise operators and gathers. Each line: the unit, what it
// decides, and why.
#pragma once

#include <cstdint>

namespace softnpu::loops {

constexpr int64_t kTileElements = 1024;        // a float tile of each operand stays in the L1 cache
constexpr int64_t kMostBlockElements = 32768;  // blocks of transposed inputs stay in the L2 cache
constexpr int64_t kRowElements = 2048;         // no row of a tile is longer: its L1 space
constexpr int64_t kPageBytes = 4096;           // columns further apart need an address each
// Bytes of all operands: from here on they are taken to lie in memory, not in a cache.
constexpr int64_t kFarBytes = int64_t{16} << 20;
// Bytes of the output that do not count then with several threads, which do not write faster.
constexpr int64_t kKeptOutputBytes = int64_t{8} << 20;
// Bytes of all operands: the same where rows are not dense, and streaming gains less.
constexpr int64_t kFarStridedBytes = int64_t{24} << 20;
// Lines of each operand: how far ahead of a dense row inputs are prefetched.
constexpr int64_t kLinesAhead = 6;
// Bytes of all operands: below, tiles of transposed inputs are for the first cache.
constexpr int64_t kSmallBytes = int64_t{5} << 19;
// Elements: fewer in dense rows take less time on one thread; the second, than on a large team.
constexpr int64_t kAlone = 22 * kTileElements, kAloneOfMany = 32 * kTileElements;
// Bytes of all operands: fewer stay in the cores' own caches, where the order of work is no matter.
constexpr int64_t kNearBytes = int64_t{2} << 20;
// Bytes of all operands: from here on every call runs forward, as no cache keeps what the last
// left.
constexpr int64_t kForwardBytes = int64_t{128} << 20;
// Bytes of all operands: from here on gathers prefetch, which costs sorted indices time in a cache.
constexpr int64_t kGatherFarBytes = int64_t{6} << 20;
// Elements: how far ahead a gather prefetches them, enough to hide the latency of memory.
constexpr int64_t kGatherAhead = 192;
// Indices: how far ahead of those that are prefetched for the next gathers.
constexpr int64_t kIndicesAhead = 512;

}  // namespace softnpu::loops
