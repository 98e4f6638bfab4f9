// SPDX-License-Identifier: Apache-2.0
#include "runtime/process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/fault_injection.h"
#include "base/fork.h"
#include "base/lasting.h"
#include "base/lines.h"
#include "kernels/table.h"
#include "loops/threads.h"
#include "runtime/device.h"
#include "runtime/json.h"
#include "runtime/product.h"
#include "runtime/settings.h"

namespace softnpu::runtime {
namespace {

struct Process {
  ProcessMutex<LockRank::outermost> mutex;
  bool initialized = false;
  std::atomic<bool> announced{false};
};

Process& process() { return lasting<Process>; }

constexpr size_t kMostConfigBytes = size_t{1} << 20;

// Reads up to the size of `content`, and resizes it. Returns false on an error.
bool read_all(int file, std::string& content) {
  size_t size = 0;
  while (size < content.size()) {
    const ssize_t got = read(file, content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  content.resize(size);
  return true;
}

// Reads a regular file. Reads at most one byte above the limit: files of /proc report a size of 0,
// but some are endless, and some block.
bool read_config(const char* path, std::string& content) {
  struct stat about;
  // Before it is opened, which may block, or wake the writer of a pipe.
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  content.resize(kMostConfigBytes + 1);
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const bool read = read_all(file, content);
  close(file);
  return read;
}

Status check_config(const char* path) {
  if (path == nullptr || *path == '\0') return {};
  std::string content;
  if (!read_config(path, content))
    return fail("config-unreadable"_rule, kAclInvalidFile, "configPath \"", path,
                "\" is not a regular file that can be read");
  if (content.size() > kMostConfigBytes)
    return fail("config-too-large"_rule, kAclInvalidFile, "configPath \"", path,
                "\" has more than the ", kMostConfigBytes, " bytes that are read");
  const Status status = check_json(content);
  if (status.ok()) return {};
  return reword(status, "configPath \"", path, "\": ", status.message());
}

// Announces the emulation, so that no result is mistaken for an NPU's.
void announce() {
  // Built even if it is not printed: this initialises what launches need, and they must not run out
  // of memory for it.
  const std::string line = text("softnpu " SOFTNPU_VERSION ": emulating ", product().name,
                                " on the CPU (", loops::thread_count(), " threads, ",
                                kernels::active_level_name(), "); this is not an NPU\n");
  const char* const banner = setting("SOFTNPU_BANNER");
  if (banner == nullptr || std::string_view(banner) != "0") print_to_stderr(line);
}

}  // namespace

Status initialize(const char* config_path) {
  Process& p = process();
  std::lock_guard lock(p.mutex);
  if (p.initialized)
    return fail("initialized-twice"_rule, kAclRepeatInitialize,
                "the process has called aclInit already");
  RETURN_IF_FAILED(product_status());
  RETURN_IF_FAILED(device_count_status());
  RETURN_IF_FAILED(faults_status());
  RETURN_IF_FAILED(check_config(config_path));
  p.initialized = true;
  if (!p.announced) announce();
  p.announced = true;
  return {};
}

bool was_initialized() { return process().announced; }

Status finalize() {
  {
    Process& p = process();
    std::lock_guard lock(p.mutex);
    if (!p.initialized)
      return fail("not-initialized"_rule, kAclRepeatFinalize,
                  "the process has not called aclInit, or ended its use already");
    RETURN_IF_FAILED(check_reset_of_all_devices());
    p.initialized = false;
  }
  reset_all_devices();
  return {};
}

Version version() {
  Version v{0, 0, 0};
  // SOFTNPU_VERSION may have a suffix, such as "0.1.0.dev1".
  (void)std::sscanf(SOFTNPU_VERSION, "%d.%d.%d", &v.major, &v.minor, &v.patch);
  return v;
}

}  // namespace softnpu::runtime
