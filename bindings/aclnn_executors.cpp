// SPDX-License-Identifier: Apache-2.0
// Executors, and the two phases of each operator.
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_elu.h"
#include "aclnnop/aclnn_elu_backward.h"
#include "aclnnop/aclnn_max_unpool3d.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "aclnnop/aclnn_selu.h"
#include "aclnnop/aclnn_selu_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "aclnnop/aclnn_upsample_nearest_3d.h"
#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"
#include "c_function.h"
#include "sections.h"

namespace softnpu::python {
namespace {

using nb::arg;

// Both phases of an operator; the names of the first one's arguments.
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

void bind_phases(nb::module_& m) {
  BIND_PHASES(aclnnElu, arg("self"), arg("alpha"), arg("scale"), arg("inputScale"), arg("out"));
  BIND_PHASES(aclnnInplaceElu, arg("selfRef"), arg("alpha"), arg("scale"), arg("inputScale"));
  BIND_PHASES(aclnnSelu, arg("self"), arg("out"));
  BIND_PHASES(aclnnInplaceSelu, arg("selfRef"));
  BIND_PHASES(aclnnEluBackward, arg("gradOutput"), arg("alpha"), arg("scale"), arg("inputScale"),
              arg("isResult"), arg("selfOrResult"), arg("gradInput"));
  BIND_PHASES(aclnnSeluBackward, arg("gradOutput"), arg("result"), arg("gradInput"));
  BIND_PHASES(aclnnSmoothL1Loss, arg("self"), arg("target"), arg("reduction"), arg("beta"),
              arg("result"));
  BIND_PHASES(aclnnSmoothL1LossBackward, arg("gradOut"), arg("self"), arg("target"),
              arg("reduction"), arg("beta"), arg("gradInput"));
  BIND_PHASES(aclnnUpsampleNearest3d, arg("self"), arg("outputSize"), arg("scalesD"),
              arg("scalesH"), arg("scalesW"), arg("out"));
  BIND_PHASES(aclnnUpsampleNearest3dBackward, arg("gradOut"), arg("outputSize"), arg("inputSize"),
              arg("scalesD"), arg("scalesH"), arg("scalesW"), arg("gradInput"));
  BIND_PHASES(aclnnMaxUnpool3d, arg("self"), arg("indices"), arg("outputSize"), arg("stride"),
              arg("padding"), arg("outRef"));
  BIND_PHASES(aclnnMaxUnpool3dBackward, arg("gradOutput"), arg("self"), arg("indices"),
              arg("outputSize"), arg("stride"), arg("padding"), arg("out"));
}

}  // namespace

void bind_aclnn_executors(nb::module_& m) {
  bind_executors(m);
  bind_phases(m);
}

}  // namespace softnpu::python
