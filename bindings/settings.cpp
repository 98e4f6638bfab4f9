// SPDX-License-Identifier: Apache-2.0
// The emulated product and the properties of the emulation.
#include "sections.h"

#include <string>

#include "base/fault_injection.h"
#include "base/status.h"
#include "bound_function.h"
#include "gil.h"
#include "kernels/table.h"
#include "loops/threads.h"
#include "memory/buffer_pool.h"
#include "raise.h"
#include "runtime/memory_use.h"
#include "runtime/product.h"
#include "runtime/settings.h"

namespace softnpu::python {
namespace {

namespace nb = nanobind;

nb::dict info() {
  const runtime::Product& product = runtime::product();
  nb::list levels;
  for (const kernels::KernelTable* table : kernels::available_tables()) levels.append(table->level);
  nb::dict out;
  out["version"] = SOFTNPU_VERSION;
  out["soc"] = std::string(product.name).c_str();
  // The error in SOFTNPU_SOC, or an empty string.
  out["soc_failure"] = runtime::product_status().message().c_str();
  out["bf16"] = product.bf16;
  out["threads"] = loops::thread_count();
  out["isa"] = kernels::active_level_name();
  out["isa_available"] = levels;
  out["devices"] = runtime::device_count();
  out["device_memory"] = runtime::device_memory();
  const memory::PoolUsage pool = memory::pool_usage();
  out["pool_limit"] = memory::pool_limit();
  out["pool_idle"] = pool.idle;
  out["pool_live"] = pool.live;
  return out;
}

void set_threads(int count) {
  if (count < 1 || count > 1024)
    raise(PyExc_ValueError, "thread-count"_rule, "threads must be from 1 to 1024");
  loops::set_thread_count(count);
}

}  // namespace

void bind_settings(nb::module_& m) {
  m.def("info", &info, nb::sig("def info() -> dict[str, typing.Any]"),
        "The emulated product, threads, instruction sets, devices and pool of this process.");
  m.def("load_errors", &load_errors, "Look up the classes of softnpu.errors for later failures.");
  m.def("get_threads", &loops::thread_count, "Return the number of threads that a kernel uses.");
  define(m, "set_threads", &set_threads, nb::arg("count"),
         "Use this many threads (1 to 1024) from the next kernel on.");
  m.def("release_memory", &memory::release_idle_buffers, nb::call_guard<GilRelease>(),
        "Release the pool's idle buffers to the system and return their number of bytes.");
  define(
      m, "set_pool_limit",
      [](size_t limit) {
        const GilRelease others_may_run;
        memory::set_pool_limit(limit);
      },
      nb::arg("limit"),
      "Keep at most this many bytes in idle buffers from now on; 0 turns the pool off.");
  m.def(
      "faults_error",
      [](const char* faults) { return nb::str(check_faults(faults).message().c_str()); },
      nb::arg("faults"), nb::sig("def faults_error(faults: str) -> str"),
      "What is wrong with a value of SOFTNPU_FAIL, or an empty string.");
  define(
      m, "status_name",
      [](int status) { return nb::str(std::string(aclnn_code_name(status)).c_str()); },
      nb::arg("status"), "The documented name of an aclnn status, or an empty string.");
}

}  // namespace softnpu::python
