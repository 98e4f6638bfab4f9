// SPDX-License-Identifier: Apache-2.0
// Executors, and the two phases of each operator.
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_elu_backward.h"
#include "aclnnop/aclnn_max_unpool3d_backward.h"
#include "aclnnop/aclnn_selu_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"
#include "aclnnop/aclnn_upsample_nearest_3d_backward.h"
#include "c_function.h"
#include "sections.h"

namespace softnpu::python {
namespace {

using nb::arg;

constexpr const char* kPhaseOne = "Check and plan: (workspace size, executor).";
constexpr const char* kPhaseTwo = "Launch what phase one planned.";

template <auto kFunction, class... Extra>
void bind_phase_one(nb::module_& m, const char* name, const Extra&... extra) {
  bind_aclnn<kFunction>(m, name, extra..., kPhaseOne);
}

template <auto kFunction>
void bind_phase_two(nb::module_& m, const char* name) {
  bind_aclnn<kFunction>(m, name, arg("workspace"), arg("workspaceSize"), arg("executor"),
                        arg("stream"), kPhaseTwo);
}

void bind_executors(nb::module_& m) {
  m.def(
      "aclnnInit",
      [](nb::handle path) { check(aclnnInit(FileName("aclnnInit", "configPath", path).c_str())); },
      arg("configPath") = nb::none(),
      nb::sig("def aclnnInit(configPath: str | bytes | os.PathLike[Any] | None = None) -> None"),
      "Start the operator library; optional.");
  bind_aclnn<&aclnnFinalize>(m, "aclnnFinalize", "End the use of the operator library.");
  bind_aclnn<&aclSetAclOpExecutorRepeatable>(m, "aclSetAclOpExecutorRepeatable", arg("executor"),
                                             "Keep an executor past its launch.");
  bind_aclnn<&aclDestroyAclOpExecutor>(m, "aclDestroyAclOpExecutor", arg("executor"),
                                       "Destroy an executor.");
  const char* const doc = "Give a planned tensor another address.";
  bind_aclnn<&aclSetInputTensorAddr>(m, "aclSetInputTensorAddr", arg("executor"), arg("index"),
                                     arg("tensor"), arg("addr"), doc);
  bind_aclnn<&aclSetOutputTensorAddr>(m, "aclSetOutputTensorAddr", arg("executor"), arg("index"),
                                      arg("tensor"), arg("addr"), doc);
  bind_aclnn<&aclSetTensorAddr>(m, "aclSetTensorAddr", arg("executor"), arg("index"), arg("tensor"),
                                arg("addr"), doc);
}

void bind_elementwise(nb::module_& m) {
  bind_phase_one<&aclnnEluBackwardGetWorkspaceSize>(
      m, "aclnnEluBackwardGetWorkspaceSize", arg("gradOutput"), arg("alpha"), arg("scale"),
      arg("inputScale"), arg("isResult"), arg("selfOrResult"), arg("gradInput"));
  bind_phase_two<&aclnnEluBackward>(m, "aclnnEluBackward");
  bind_phase_one<&aclnnSeluBackwardGetWorkspaceSize>(
      m, "aclnnSeluBackwardGetWorkspaceSize", arg("gradOutput"), arg("result"), arg("gradInput"));
  bind_phase_two<&aclnnSeluBackward>(m, "aclnnSeluBackward");
  bind_phase_one<&aclnnSmoothL1LossBackwardGetWorkspaceSize>(
      m, "aclnnSmoothL1LossBackwardGetWorkspaceSize", arg("gradOut"), arg("self"), arg("target"),
      arg("reduction"), arg("beta"), arg("gradInput"));
  bind_phase_two<&aclnnSmoothL1LossBackward>(m, "aclnnSmoothL1LossBackward");
}

void bind_volumes(nb::module_& m) {
  bind_phase_one<&aclnnUpsampleNearest3dBackwardGetWorkspaceSize>(
      m, "aclnnUpsampleNearest3dBackwardGetWorkspaceSize", arg("gradOut"), arg("outputSize"),
      arg("inputSize"), arg("scalesD"), arg("scalesH"), arg("scalesW"), arg("gradInput"));
  bind_phase_two<&aclnnUpsampleNearest3dBackward>(m, "aclnnUpsampleNearest3dBackward");
  bind_phase_one<&aclnnMaxUnpool3dBackwardGetWorkspaceSize>(
      m, "aclnnMaxUnpool3dBackwardGetWorkspaceSize", arg("gradOutput"), arg("self"), arg("indices"),
      arg("outputSize"), arg("stride"), arg("padding"), arg("out"));
  bind_phase_two<&aclnnMaxUnpool3dBackward>(m, "aclnnMaxUnpool3dBackward");
}

}  // namespace

void bind_aclnn_executors(nb::module_& m) {
  bind_executors(m);
  bind_elementwise(m);
  bind_volumes(m);
}

}  // namespace softnpu::python
