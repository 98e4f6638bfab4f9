// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_info.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "loops/threads.h"
#include "runtime/product.h"

namespace softnpu::runtime {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

struct Known {
  std::string_view name;
  DeviceInfo info;
};

// Published numbers. A family's name stands for one of its common products.
constexpr Known kKnown[] = {
    {"Ascend910_93", {24, 48, 192 * kMiB}}, {"Ascend910_9392", {24, 48, 192 * kMiB}},
    {"Ascend910B", {24, 48, 192 * kMiB}},   {"Ascend910B2", {24, 48, 192 * kMiB}},
    {"Ascend910B3", {20, 40, 192 * kMiB}},  {"Ascend910B4", {20, 40, 96 * kMiB}},
    {"Ascend910", {32, 32, 32 * kMiB}},     {"Ascend910A", {32, 32, 32 * kMiB}},
};

int64_t cache_bytes() {
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const long bytes = sysconf(level); bytes > 0) return bytes;
  return kMiB;
}

}  // namespace

DeviceInfo device_info() {
  const auto known = std::ranges::find(kKnown, product().name, &Known::name);
  if (known != std::end(kKnown)) return known->info;
  const int64_t threads = loops::usable_threads();
  return {threads, threads, cache_bytes()};
}

}  // namespace softnpu::runtime
