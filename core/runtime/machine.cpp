// SPDX-License-Identifier: Apache-2.0
#include "runtime/machine.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "base/lasting.h"

namespace softnpu::runtime {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

size_t memory_of_machine() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : kNoLimit;
}

// Reads a file that holds one number. Nothing for "max", or if there is no file.
std::optional<size_t> read_number(const std::string& path) {
  size_t value;
  if (std::ifstream(path) >> value) return value;
  return std::nullopt;
}

// The path of the memory limit of this process's control group, version 2 or 1. The file may not
// exist.
std::string limit_of_control_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      const std::string folder = "/sys/fs/cgroup" + path;
      if (std::ifstream(folder + "/memory.max").good()) return folder + "/memory.max";
    } else if (controllers == "memory") {
      const std::string folder = "/sys/fs/cgroup/memory" + path;
      if (std::ifstream(folder + "/memory.limit_in_bytes").good())
        return folder + "/memory.limit_in_bytes";
    }
  }
  // In a container, the group's own directory is often mounted as the root.
  if (std::ifstream("/sys/fs/cgroup/memory.max").good()) return "/sys/fs/cgroup/memory.max";
  return "/sys/fs/cgroup/memory/memory.limit_in_bytes";
}

size_t find_memory_limit() {
  return std::min(memory_of_machine(), read_number(limit_of_control_group()).value_or(kNoLimit));
}

}  // namespace

size_t memory_limit() { return made_once<find_memory_limit>(); }

}  // namespace softnpu::runtime
