// SPDX-License-Identifier: Apache-2.0
#include "runtime/process.h"

#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>

#include "base/fork.h"
#include "base/lasting.h"
#include "kernels/table.h"
#include "loops/threads.h"
#include "runtime/device.h"
#include "runtime/json.h"
#include "runtime/product.h"
#include "runtime/settings.h"

namespace softnpu::runtime {
namespace {

struct Process {
  Process() { keep_free_over_fork(mutex, LockRank::outermost); }

  std::mutex mutex;
  bool initialized = false;
  bool announced = false;
};

Process& process() { return lasting<Process>; }

Status check_config(const char* path) {
  if (path == nullptr || *path == '\0') return {};
  constexpr off_t kMostBytes = off_t{1} << 20;
  struct stat about;
  // Before it is opened, which may block: a pipe or a device has no end.
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
    return fail(kAclInvalidFile, "configPath \"", path, "\" is no regular file that can be read");
  if (about.st_size > kMostBytes)
    return fail(kAclInvalidFile, "configPath \"", path, "\" has ", about.st_size,
                " bytes; at most ", kMostBytes, " are read");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(kAclInvalidFile, "configPath \"", path, "\" is no regular file that can be read");
  const std::string content(std::istreambuf_iterator<char>(file), {});
  const Status status = check_json(content);
  if (status.ok()) return {};
  return fail(status.code(), "configPath \"", path, "\": ", status.message());
}

// So that no result is mistaken for one from silicon.
void announce() {
  if (!wants_banner()) return;
  const std::string line = text("softnpu " SOFTNPU_VERSION ": emulating ", product().name,
                                " on the CPU (", loops::thread_count(), " threads, ",
                                kernels::active_level_name(), "); this is not an NPU\n");
  std::fputs(line.c_str(), stderr);
}

}  // namespace

Status initialize(const char* config_path) {
  Process& p = process();
  std::lock_guard lock(p.mutex);
  if (p.initialized) return fail(kAclRepeatInitialize, "the process has called aclInit already");
  RETURN_IF_FAILED(product_status());
  RETURN_IF_FAILED(device_count_status());
  RETURN_IF_FAILED(check_config(config_path));
  p.initialized = true;
  if (!p.announced) announce();
  p.announced = true;
  return {};
}

Status finalize() {
  {
    Process& p = process();
    std::lock_guard lock(p.mutex);
    if (!p.initialized)
      return fail(kAclRepeatFinalize,
                  "the process has not called aclInit, or ended its use already");
    RETURN_IF_FAILED(check_reset_of_all_devices());
    p.initialized = false;
  }
  reset_all_devices();
  return {};
}

Version version() {
  Version v{0, 0, 0};
  // SOFTNPU_VERSION may carry more, such as "0.1.0.dev1": the three numbers in front count.
  (void)std::sscanf(SOFTNPU_VERSION, "%d.%d.%d", &v.major, &v.minor, &v.patch);
  return v;
}

}  // namespace softnpu::runtime
