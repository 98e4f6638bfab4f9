// SPDX-License-Identifier: Apache-2.0
// The kernels of one instruction set, and the choice of the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/export.h"
#include "kernels/elementwise_list.h"
#include "kernels/max_unpool3d.h"
#include "kernels/max_unpool3d_backward.h"
#include "kernels/upsample_nearest3d.h"
#include "kernels/upsample_nearest3d_backward.h"
#include "loops/elementwise.h"

namespace softnpu::kernels {

struct KernelTable {
  const char* level;
#define SOFTNPU_MEMBER(name) loops::ElementwiseKernel name;
  SOFTNPU_ELEMENTWISE_KERNELS(SOFTNPU_MEMBER)
#undef SOFTNPU_MEMBER
  // Computes rows [begin, end) of out.
  void (*upsample_nearest3d)(const UpsampleNearest3dTask& task, const std::byte* self,
                             std::byte* out, int64_t begin, int64_t end);
  // Computes rows [begin, end); `scratch` is an UpsampleScratch.
  void (*upsample_nearest3d_backward)(const UpsampleNearest3dBackwardTask& task,
                                      const std::byte* grad_out, std::byte* grad_input,
                                      std::byte* scratch, int64_t begin, int64_t end);
  IndexRange (*unpool_index_range)(const MaxUnpool3dTask& task, const std::byte* indices,
                                   const UnpoolPart& part);
  BadIndex (*find_bad_unpool_index)(const MaxUnpool3dTask& task, const std::byte* indices);
  void (*max_unpool3d)(const MaxUnpool3dTask& task, const std::byte* self, const std::byte* indices,
                       std::byte* out, const UnpoolPart& part);
  // Computes positions [begin, end) of out; stops at the first invalid index.
  BadIndex (*max_unpool3d_backward)(const MaxUnpool3dBackwardTask& task, const std::byte* grad,
                                    const int64_t* indices, std::byte* out, int64_t begin,
                                    int64_t end);
};

// The best table, or the one that SOFTNPU_ISA names if this machine supports it.
SOFTNPU_EXPORT const KernelTable& active_table();
SOFTNPU_EXPORT const char* active_level_name();
// All tables that this machine supports, best first.
SOFTNPU_EXPORT std::span<const KernelTable* const> available_tables();

}  // namespace softnpu::kernels
