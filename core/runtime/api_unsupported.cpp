// SPDX-License-Identifier: Apache-2.0
// Functions that exist so that programs link: compiled operators, models, the profiler.
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "runtime/entry.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

constexpr std::string_view kOperators =
    "softnpu has no compiled operators; call the operator's aclnn function instead";
constexpr std::string_view kModels = "softnpu does not run models (.om files)";
constexpr std::string_view kProfiler =
    "softnpu has no profiler of its own for programs; run them with softnpu run --trace";

aclError unsupported(const Call& call, std::string_view why) {
  return entry(call, [&] { return fail("api-not-supported"_rule, kAclApiNotSupport, why); });
}

}  // namespace

extern "C" {

// Compiled operators.

aclopAttr* aclopCreateAttr() {
  unsupported(CALL(), kOperators);
  return nullptr;
}

void aclopDestroyAttr(const aclopAttr* attr) { unsupported(CALL(attr), kOperators); }

aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
  return unsupported(CALL(attr, attrName, attrValue), kOperators);
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
  return unsupported(CALL(attr, attrName, attrValue), kOperators);
}

aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
  return unsupported(CALL(attr, attrName, attrValue), kOperators);
}

aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue) {
  return unsupported(CALL(attr, attrName, attrValue), kOperators);
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue) {
  return unsupported(CALL(attr, attrName, attrValue), kOperators);
}

aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues,
                              const uint8_t* values) {
  return unsupported(CALL(attr, attrName, numValues, values), kOperators);
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues,
                             const int64_t* values) {
  return unsupported(CALL(attr, attrName, numValues, values), kOperators);
}

aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues,
                               const float* values) {
  return unsupported(CALL(attr, attrName, numValues, values), kOperators);
}

aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues,
                                const char** values) {
  return unsupported(CALL(attr, attrName, numValues, values), kOperators);
}

aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues,
                                  const aclDataType values[]) {
  return unsupported(CALL(attr, attrName, numValues, values), kOperators);
}

aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists,
                                 const int* numValues, const int64_t* const values[]) {
  return unsupported(CALL(attr, attrName, numLists, numValues, values), kOperators);
}

aclError aclopExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                      const aclDataBuffer* const inputs[], int numOutputs,
                      const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                      const aclopAttr* attr, aclrtStream stream) {
  return unsupported(
      CALL(opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs, attr, stream),
      kOperators);
}

aclError aclopExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                        aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                        aclDataBuffer* outputs[], aclopAttr* attr, aclrtStream stream) {
  return unsupported(
      CALL(opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs, attr, stream),
      kOperators);
}

aclError aclopCompile(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                      int numOutputs, const aclTensorDesc* const outputDesc[],
                      const aclopAttr* attr, aclopEngineType engineType,
                      aclopCompileType compileFlag, const char* opPath) {
  return unsupported(CALL(opType, numInputs, inputDesc, numOutputs, outputDesc, attr, engineType,
                          compileFlag, opPath),
                     kOperators);
}

aclError aclopCompileAndExecute(const char* opType, int numInputs,
                                const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[],
                                aclDataBuffer* const outputs[], const aclopAttr* attr,
                                aclopEngineType engineType, aclopCompileType compileFlag,
                                const char* opPath, aclrtStream stream) {
  return unsupported(CALL(opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs,
                          attr, engineType, compileFlag, opPath, stream),
                     kOperators);
}

aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs,
                                  aclTensorDesc* outputDesc[], aclDataBuffer* outputs[],
                                  aclopAttr* attr, aclopEngineType engineType,
                                  aclopCompileType compileFlag, const char* opPath,
                                  aclrtStream stream) {
  return unsupported(CALL(opType, numInputs, inputDesc, inputs, numOutputs, outputDesc, outputs,
                          attr, engineType, compileFlag, opPath, stream),
                     kOperators);
}

// Models.

aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId) {
  return unsupported(CALL(modelPath, modelId), kModels);
}

aclError aclmdlLoadFromMem(const void* model, size_t modelSize, uint32_t* modelId) {
  return unsupported(CALL(model, modelSize, modelId), kModels);
}

aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId, void* workPtr,
                                   size_t workSize, void* weightPtr, size_t weightSize) {
  return unsupported(CALL(modelPath, modelId, workPtr, workSize, weightPtr, weightSize), kModels);
}

aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize, uint32_t* modelId,
                                  void* workPtr, size_t workSize, void* weightPtr,
                                  size_t weightSize) {
  return unsupported(CALL(model, modelSize, modelId, workPtr, workSize, weightPtr, weightSize),
                     kModels);
}

aclError aclmdlUnload(uint32_t modelId) { return unsupported(CALL(modelId), kModels); }

aclError aclmdlQuerySize(const char* fileName, size_t* workSize, size_t* weightSize) {
  return unsupported(CALL(fileName, workSize, weightSize), kModels);
}

aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize, size_t* workSize,
                                size_t* weightSize) {
  return unsupported(CALL(model, modelSize, workSize, weightSize), kModels);
}

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output) {
  return unsupported(CALL(modelId, input, output), kModels);
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output,
                            aclrtStream stream) {
  return unsupported(CALL(modelId, input, output, stream), kModels);
}

aclmdlDesc* aclmdlCreateDesc() {
  unsupported(CALL(), kModels);
  return nullptr;
}

aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc) { return unsupported(CALL(modelDesc), kModels); }

aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId) {
  return unsupported(CALL(modelDesc, modelId), kModels);
}

size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc) {
  unsupported(CALL(modelDesc), kModels);
  return 0;
}

size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc) {
  unsupported(CALL(modelDesc), kModels);
  return 0;
}

size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  unsupported(CALL(modelDesc, index), kModels);
  return 0;
}

size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index) {
  unsupported(CALL(modelDesc, index), kModels);
  return 0;
}

const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  unsupported(CALL(modelDesc, index), kModels);
  return nullptr;
}

const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc, size_t index) {
  unsupported(CALL(modelDesc, index), kModels);
  return nullptr;
}

aclError aclmdlGetInputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return unsupported(CALL(modelDesc, name, index), kModels);
}

aclError aclmdlGetOutputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index) {
  return unsupported(CALL(modelDesc, name, index), kModels);
}

aclError aclmdlGetInputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return unsupported(CALL(modelDesc, index, dims), kModels);
}

aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return unsupported(CALL(modelDesc, index, dims), kModels);
}

aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims) {
  return unsupported(CALL(modelDesc, index, dims), kModels);
}

aclDataType aclmdlGetInputDataType(const aclmdlDesc* modelDesc, size_t index) {
  unsupported(CALL(modelDesc, index), kModels);
  return ACL_DT_UNDEFINED;
}

aclDataType aclmdlGetOutputDataType(const aclmdlDesc* modelDesc, size_t index) {
  unsupported(CALL(modelDesc, index), kModels);
  return ACL_DT_UNDEFINED;
}

aclFormat aclmdlGetInputFormat(const aclmdlDesc* modelDesc, size_t index) {
  unsupported(CALL(modelDesc, index), kModels);
  return ACL_FORMAT_UNDEFINED;
}

aclFormat aclmdlGetOutputFormat(const aclmdlDesc* modelDesc, size_t index) {
  unsupported(CALL(modelDesc, index), kModels);
  return ACL_FORMAT_UNDEFINED;
}

aclmdlDataset* aclmdlCreateDataset() {
  unsupported(CALL(), kModels);
  return nullptr;
}

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  return unsupported(CALL(dataset), kModels);
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return unsupported(CALL(dataset, dataBuffer), kModels);
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  unsupported(CALL(dataset), kModels);
  return 0;
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  unsupported(CALL(dataset, index), kModels);
  return nullptr;
}

// The profiler.

aclError aclprofInit(const char* profilerResultPath, size_t length) {
  return unsupported(CALL(profilerResultPath, length), kProfiler);
}

aclError aclprofFinalize() { return unsupported(CALL(), kProfiler); }

aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents* aicoreEvents,
                                   uint64_t dataTypeConfig) {
  unsupported(CALL(deviceIdList, deviceNums, aicoreMetrics, aicoreEvents, dataTypeConfig),
              kProfiler);
  return nullptr;
}

aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig) {
  return unsupported(CALL(profilerConfig), kProfiler);
}

aclError aclprofStart(const aclprofConfig* profilerConfig) {
  return unsupported(CALL(profilerConfig), kProfiler);
}

aclError aclprofStop(const aclprofConfig* profilerConfig) {
  return unsupported(CALL(profilerConfig), kProfiler);
}

void* aclprofCreateStamp() {
  unsupported(CALL(), kProfiler);
  return nullptr;
}

void aclprofDestroyStamp(void* stamp) { unsupported(CALL(stamp), kProfiler); }

aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen) {
  return unsupported(CALL(stamp, msg, msgLen), kProfiler);
}

aclError aclprofMark(void* stamp) { return unsupported(CALL(stamp), kProfiler); }

aclError aclprofPush(void* stamp) { return unsupported(CALL(stamp), kProfiler); }

aclError aclprofPop() { return unsupported(CALL(), kProfiler); }

aclError aclprofRangeStart(void* stamp, uint32_t* rangeId) {
  return unsupported(CALL(stamp, rangeId), kProfiler);
}

aclError aclprofRangeStop(uint32_t rangeId) { return unsupported(CALL(rangeId), kProfiler); }

}  // extern "C"
