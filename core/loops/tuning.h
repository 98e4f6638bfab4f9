// SPDX-License-Identifier: Apache-2.0
// The tuned constants of the elementwise operators and gathers. Each line: the unit, what it
// decides, and why.
#pragma once

#include <cstdint>

namespace softnpu::loops {

constexpr int64_t kTileElements = 1024;  // a float tile of each operand stays in the L1 cache
constexpr int64_t kMostBlockElements = 32768;
constexpr int64_t kRowElements = 2048;
constexpr int64_t kPageBytes = 4096;
// Bytes of all operands: from here on they are taken to lie in memory, not in a cache.
constexpr int64_t kFarBytes = int64_t{16} << 20;
constexpr int64_t kKeptOutputBytes = int64_t{8} << 20;
constexpr int64_t kFarStridedBytes = int64_t{24} << 20;
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
