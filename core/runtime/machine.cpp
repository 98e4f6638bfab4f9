// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "base/lasting.h"
#include "runtime/memory.h"

namespace softnpu::runtime {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

size_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : kNoLimit;
}

// A file that holds one number. "max" and a missing file are no number.
std::optional<size_t> read_number(const std::string& path) {
  size_t value;
  if (std::ifstream(path) >> value) return value;
  return std::nullopt;
}

// The files that hold the limit and the usage of this process's control group, version 2 or 1. They
// may be missing.
struct ControlGroup {
  std::string limit, usage;
};

ControlGroup control_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      const std::string folder = "/sys/fs/cgroup" + path;
      if (std::ifstream(folder + "/memory.max").good())
        return {folder + "/memory.max", folder + "/memory.current"};
    } else if (controllers == "memory") {
      const std::string folder = "/sys/fs/cgroup/memory" + path;
      if (std::ifstream(folder + "/memory.limit_in_bytes").good())
        return {folder + "/memory.limit_in_bytes", folder + "/memory.usage_in_bytes"};
    }
  }
  // In a container the group's own folder is often mounted as the root.
  if (std::ifstream("/sys/fs/cgroup/memory.max").good())
    return {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"};
  return {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
          "/sys/fs/cgroup/memory/memory.usage_in_bytes"};
}

size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::stoull(line.substr(13)) * 1024;
  return kNoLimit;
}

size_t find_memory_limit() {
  return std::min(physical_memory(), read_number(control_group().limit).value_or(kNoLimit));
}

}  // namespace

size_t memory_limit() { return made_once<find_memory_limit>(); }

MemoryInfo memory_info() {
  const size_t total = memory_limit();
  const size_t allocated = allocated_bytes();
  // Memory that was allocated but not yet touched is still available to the system, but no longer
  // to a program that asks how much more it may allocate.
  size_t free = std::min(available_memory(), total - std::min(allocated, total));
  const ControlGroup group = control_group();
  const auto limit = read_number(group.limit);
  const auto usage = read_number(group.usage);
  if (limit && usage) free = std::min(free, *limit - std::min(*usage, *limit));
  return {free, total};
}

}  // namespace softnpu::runtime
