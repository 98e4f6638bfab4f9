// SPDX-License-Identifier: Apache-2.0
// Executors, and the two phases of each operator.
#include "aclnn/aclnn_base.h"
#include "aclnnop.h"
#include "c_function.h"
#include "sections.h"

namespace softnpu::python {
namespace {

using nb::arg;

// Both phases of an operator, and the names of phase one's arguments.
#define BIND_PHASES(name, ...)                                                                    \
  BIND_ACLNN(name##GetWorkspaceSize, __VA_ARGS__, "Check and plan: (workspace size, executor)."); \
  BIND_ACLNN(name, arg("workspace"), arg("workspaceSize"), arg("executor"), arg("stream"),        \
             "Launch what phase one planned.")

void bind_executors(nb::module_& m) {
  define(
      m, "aclnnInit", [](const FileName& config) { check(aclnnInit(config.c_str())); },
      arg("configPath") = nb::none(), "Start the operator library; optional.");
  BIND_ACLNN(aclnnFinalize, "End the use of the operator library.");
  BIND_ACLNN(aclSetAclOpExecutorRepeatable, arg("executor"), "Keep an executor past its launch.");
  BIND_ACLNN(aclDestroyAclOpExecutor, arg("executor"), "Destroy an executor.");
  const char* const doc = "Give a planned tensor another address.";
  BIND_ACLNN(aclSetInputTensorAddr, arg("executor"), arg("index"), arg("tensor"), arg("addr"), doc);
  BIND_ACLNN(aclSetOutputTensorAddr, arg("executor"), arg("index"), arg("tensor"), arg("addr"),
             doc);
  BIND_ACLNN(aclSetTensorAddr, arg("executor"), arg("index"), arg("tensor"), arg("addr"), doc);
}

#include "phases.inc"

}  // namespace

void bind_aclnn_executors(nb::module_& m) {
  bind_executors(m);
  bind_phases(m);
}

}  // namespace softnpu::python
