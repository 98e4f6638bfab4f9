// SPDX-License-Identifier: Apache-2.0
// The kernels that every instruction set provides.
#pragma once

#include "kernels/table.h"
#include "loops/level.h"

SOFTNPU_LEVEL_BEGIN

#define SOFTNPU_DECLARE(name)                                                  \
  void name(const loops::ElementwiseLayout& layout, std::byte* const* origins, \
            const void* numbers, int64_t begin, int64_t end);
SOFTNPU_ELEMENTWISE_KERNELS(SOFTNPU_DECLARE)
#undef SOFTNPU_DECLARE
void upsample_nearest3d(const UpsampleNearest3dTask& task, const std::byte* self, std::byte* out,
                        int64_t begin, int64_t end);
void upsample_nearest3d_backward(const UpsampleNearest3dBackwardTask& task,
                                 const std::byte* grad_out, std::byte* grad_input,
                                 std::byte* scratch, int64_t begin, int64_t end);
IndexRange unpool_index_range(const MaxUnpool3dTask& task, const std::byte* indices,
                              const UnpoolPart& part);
BadIndex find_bad_unpool_index(const MaxUnpool3dTask& task, const std::byte* indices);
void max_unpool3d(const MaxUnpool3dTask& task, const std::byte* self, const std::byte* indices,
                  std::byte* out, const UnpoolPart& part);
BadIndex max_unpool3d_backward(const MaxUnpool3dBackwardTask& task, const std::byte* grad,
                               const int64_t* indices, std::byte* out, int64_t begin, int64_t end);

SOFTNPU_LEVEL_END
