// SPDX-License-Identifier: Apache-2.0
// Kernel sources are compiled once for each instruction set, each time into a namespace of its own
// (SOFTNPU_LEVEL, set by the build). Code in that namespace must not be shared between levels, and
// must use as little as possible from outside it: an inline function of the standard library that
// one level compiles with its instructions could be linked into another.
#pragma once

#include <cstdint>

#ifndef SOFTNPU_LEVEL
#error "SOFTNPU_LEVEL must name the instruction set that this source is compiled for"
#endif

#define SOFTNPU_LEVEL_BEGIN namespace softnpu::kernels::SOFTNPU_LEVEL {
#define SOFTNPU_LEVEL_END }

// Iterations of the next loop do not depend on each other, although a store may hit the very
// element that was loaded (in-place operators).
#if defined(__clang__)
#define SOFTNPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define SOFTNPU_UNROLLED _Pragma("clang loop unroll(full)")
#else
#define SOFTNPU_INDEPENDENT _Pragma("GCC ivdep")
#define SOFTNPU_UNROLLED _Pragma("GCC unroll 16")
#endif

// Sanitizers find the same in calls, which compile far quicker.
#ifdef SOFTNPU_SANITIZED
#define SOFTNPU_INLINE inline
#define SOFTNPU_INLINED
#else
#define SOFTNPU_INLINE inline __attribute__((always_inline))
// The same behind the parameters of a lambda.
#define SOFTNPU_INLINED __attribute__((always_inline))
#endif

SOFTNPU_LEVEL_BEGIN

// std::min() would be shared between levels.
SOFTNPU_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

SOFTNPU_LEVEL_END
