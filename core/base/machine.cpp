// SPDX-License-Identifier: Apache-2.0
#include "base/machine.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/lasting.h"

namespace softnpu {
namespace {

Machine detect() {
  Machine found;
#if defined(__x86_64__)
  unsigned a, b, c, d;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return found;
  found.is_intel = b == signature_INTEL_ebx;
  const bool is_amd = b == signature_AMD_ebx;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
    const unsigned family = (a >> 8 & 0xF) + (a >> 20 & 0xFF);
    found.is_zen4 = is_amd && family == 25;  // or Zen 3, which has no AVX-512
    found.is_zen5 = is_amd && family == 26;
  }
  constexpr unsigned kAvx512Fp16 = 1 << 23;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0)
    found.has_fast_gathers = found.is_intel && (d & kAvx512Fp16) != 0;
#endif
  return found;
}

}  // namespace

const Machine& machine() { return made_once<detect>(); }

}  // namespace softnpu
