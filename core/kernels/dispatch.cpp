// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/environment.h"
#include "base/lasting.h"
#include "kernels/table.h"

namespace softnpu::kernels {

namespace baseline {
extern const KernelTable table;
}
#ifdef SOFTNPU_HAS_AVX2
namespace avx2 {
extern const KernelTable table;
}
#endif
#ifdef SOFTNPU_HAS_AVX512
namespace avx512 {
extern const KernelTable table;
}
#endif

namespace {

#if defined(__x86_64__)
// Clang 14's __builtin_cpu_supports() does not know F16C.
bool has_f16c() {
  unsigned a, b, c = 0, d;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

std::vector<const KernelTable*> detect() {
  std::vector<const KernelTable*> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  [[maybe_unused]] const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  [[maybe_unused]] const bool avx512 =
      avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#ifdef SOFTNPU_HAS_AVX512
  if (avx512) found.push_back(&avx512::table);
#endif
#ifdef SOFTNPU_HAS_AVX2
  if (avx2) found.push_back(&avx2::table);
#endif
#endif
  found.push_back(&baseline::table);
  return found;
}

const std::vector<const KernelTable*>& tables() { return made_once<detect>(); }

const KernelTable* choose() {
  const char* const wish = setting("SOFTNPU_ISA");
  if (wish == nullptr) return tables().front();
  std::string levels;
  for (const KernelTable* table : tables()) {
    if (std::string_view(wish) == table->level) return table;
    levels += text(levels.empty() ? "" : " or ", table->level);
  }
  report_invalid_setting("SOFTNPU_ISA", levels + " on this machine");
  return tables().front();
}

}  // namespace

const KernelTable& active_table() { return *made_once<choose>(); }

const char* active_level_name() { return active_table().level; }

std::span<const KernelTable* const> available_tables() { return tables(); }

}  // namespace softnpu::kernels
