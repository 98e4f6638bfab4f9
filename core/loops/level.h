// SPDX-License-Identifier: Apache-2.0
// Kernel sources are compiled once for each instruction set, each time into a namespace of its own
// (SOFTNPU_LEVEL, set by the build). This code must use as little as possible from outside its
// namespace: the linker keeps one copy of an inline function of the standard library, which another
// level may have compiled with instructions that the CPU lacks.
#pragma once

#include <cstdint>

#ifndef SOFTNPU_LEVEL
#error "SOFTNPU_LEVEL must name the instruction set that this source is compiled for"
#endif

#define SOFTNPU_LEVEL_BEGIN namespace softnpu::kernels::SOFTNPU_LEVEL {
#define SOFTNPU_LEVEL_END }

// The iterations of the next loop are independent, although an iteration may store to the element
// that it loaded (in-place operators).
#if defined(__clang__)
#define SOFTNPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define SOFTNPU_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define SOFTNPU_INDEPENDENT _Pragma("GCC ivdep")
#define SOFTNPU_UNROLLED _Pragma("GCC unroll 16")
#endif

// Not inlined with sanitizers, which find the same errors in calls and compile them much faster.
#ifdef SOFTNPU_SANITIZED
#define SOFTNPU_INLINE inline
#define SOFTNPU_INLINED
#else
#define SOFTNPU_INLINE inline __attribute__((always_inline))
// The same for lambdas, after the parameters.
#define SOFTNPU_INLINED __attribute__((always_inline))
#endif

SOFTNPU_LEVEL_BEGIN

// std::min() would be shared between levels.
SOFTNPU_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

SOFTNPU_LEVEL_END
