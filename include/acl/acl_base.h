// SPDX-License-Identifier: Apache-2.0
//
// Types, values and status codes shared by the whole C API. Clean C99 and C++11.
#ifndef SOFTNPU_INCLUDE_ACL_ACL_BASE_H_
#define SOFTNPU_INCLUDE_ACL_ACL_BASE_H_

#include <stddef.h>
#include <stdint.h>
// Sample programs call printf but include only <iostream>, <vector> and these headers.
#include <stdio.h>

#include "error_codes/rt_error_codes.h"

// Marks symbols that the shared libraries export. Their implementation includes these headers, too.
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))

// A named status code. `unused` prevents warnings, because few programs use all of them.
#define ACL_STATUS_CODE static const int __attribute__((unused))

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;
typedef uint16_t aclFloat16;  // the 16 bits of an IEEE 754 binary16

typedef void* aclrtContext;
typedef void* aclrtStream;
typedef void* aclrtEvent;

ACL_STATUS_CODE ACL_SUCCESS = 0;
ACL_STATUS_CODE ACL_ERROR_NONE = 0;
ACL_STATUS_CODE ACL_ERROR_INVALID_PARAM = 100000;
ACL_STATUS_CODE ACL_ERROR_UNINITIALIZE = 100001;
ACL_STATUS_CODE ACL_ERROR_REPEAT_INITIALIZE = 100002;
ACL_STATUS_CODE ACL_ERROR_INVALID_FILE = 100003;
ACL_STATUS_CODE ACL_ERROR_PARSE_FILE = 100006;
ACL_STATUS_CODE ACL_ERROR_REPEAT_FINALIZE = 100037;
ACL_STATUS_CODE ACL_ERROR_BAD_ALLOC = 200000;
ACL_STATUS_CODE ACL_ERROR_API_NOT_SUPPORT = 200001;
ACL_STATUS_CODE ACL_ERROR_FEATURE_UNSUPPORTED = 200006;
ACL_STATUS_CODE ACL_ERROR_INTERNAL_ERROR = 500000;
ACL_STATUS_CODE ACL_ERROR_FAILURE = 500001;

// Codes that softnpu does not return, which programs compare with.
ACL_STATUS_CODE ACL_ERROR_WRITE_FILE = 100004;
ACL_STATUS_CODE ACL_ERROR_INVALID_FILE_SIZE = 100005;
ACL_STATUS_CODE ACL_ERROR_FILE_MISSING_ATTR = 100007;
ACL_STATUS_CODE ACL_ERROR_FILE_ATTR_INVALID = 100008;
ACL_STATUS_CODE ACL_ERROR_INVALID_DUMP_CONFIG = 100009;
ACL_STATUS_CODE ACL_ERROR_INVALID_PROFILING_CONFIG = 100010;
ACL_STATUS_CODE ACL_ERROR_INVALID_MODEL_ID = 100011;
ACL_STATUS_CODE ACL_ERROR_DESERIALIZE_MODEL = 100012;
ACL_STATUS_CODE ACL_ERROR_PARSE_MODEL = 100013;
ACL_STATUS_CODE ACL_ERROR_READ_MODEL_FAILURE = 100014;
ACL_STATUS_CODE ACL_ERROR_MODEL_SIZE_INVALID = 100015;
ACL_STATUS_CODE ACL_ERROR_MODEL_MISSING_ATTR = 100016;
ACL_STATUS_CODE ACL_ERROR_MODEL_INPUT_NOT_MATCH = 100017;
ACL_STATUS_CODE ACL_ERROR_MODEL_OUTPUT_NOT_MATCH = 100018;
ACL_STATUS_CODE ACL_ERROR_MODEL_NOT_DYNAMIC = 100019;
ACL_STATUS_CODE ACL_ERROR_OP_TYPE_NOT_MATCH = 100020;
ACL_STATUS_CODE ACL_ERROR_OP_INPUT_NOT_MATCH = 100021;
ACL_STATUS_CODE ACL_ERROR_OP_OUTPUT_NOT_MATCH = 100022;
ACL_STATUS_CODE ACL_ERROR_OP_ATTR_NOT_MATCH = 100023;
ACL_STATUS_CODE ACL_ERROR_OP_NOT_FOUND = 100024;
ACL_STATUS_CODE ACL_ERROR_OP_LOAD_FAILED = 100025;
ACL_STATUS_CODE ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026;
ACL_STATUS_CODE ACL_ERROR_FORMAT_NOT_MATCH = 100027;
ACL_STATUS_CODE ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED = 100028;
ACL_STATUS_CODE ACL_ERROR_KERNEL_NOT_FOUND = 100029;
ACL_STATUS_CODE ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED = 100030;
ACL_STATUS_CODE ACL_ERROR_KERNEL_ALREADY_REGISTERED = 100031;
ACL_STATUS_CODE ACL_ERROR_INVALID_QUEUE_ID = 100032;
ACL_STATUS_CODE ACL_ERROR_REPEAT_SUBSCRIBE = 100033;
ACL_STATUS_CODE ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034;
ACL_STATUS_CODE ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035;
ACL_STATUS_CODE ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036;
ACL_STATUS_CODE ACL_ERROR_NOT_STATIC_AIPP = 100038;
ACL_STATUS_CODE ACL_ERROR_COMPILING_STUB_MODE = 100039;
ACL_STATUS_CODE ACL_ERROR_GROUP_NOT_SET = 100040;
ACL_STATUS_CODE ACL_ERROR_GROUP_NOT_CREATE = 100041;
ACL_STATUS_CODE ACL_ERROR_PROF_ALREADY_RUN = 100042;
ACL_STATUS_CODE ACL_ERROR_PROF_NOT_RUN = 100043;
ACL_STATUS_CODE ACL_ERROR_DUMP_ALREADY_RUN = 100044;
ACL_STATUS_CODE ACL_ERROR_DUMP_NOT_RUN = 100045;
ACL_STATUS_CODE ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046;
ACL_STATUS_CODE ACL_ERROR_PROF_API_CONFLICT = 148047;
ACL_STATUS_CODE ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048;
ACL_STATUS_CODE ACL_ERROR_INVALID_OPP_PATH = 148049;
ACL_STATUS_CODE ACL_ERROR_OP_UNSUPPORTED_DYNAMIC = 148050;
ACL_STATUS_CODE ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED = 148051;
ACL_STATUS_CODE ACL_ERROR_UNSUPPORTED_JPEG = 148052;
ACL_STATUS_CODE ACL_ERROR_INVALID_BUNDLE_MODEL_ID = 148053;
ACL_STATUS_CODE ACL_ERROR_INVALID_DEVICE = 200002;
ACL_STATUS_CODE ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003;
ACL_STATUS_CODE ACL_ERROR_RESOURCE_NOT_MATCH = 200004;
ACL_STATUS_CODE ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005;
ACL_STATUS_CODE ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007;
ACL_STATUS_CODE ACL_ERROR_STORAGE_OVER_LIMIT = 300000;
ACL_STATUS_CODE ACL_ERROR_GE_FAILURE = 500002;
ACL_STATUS_CODE ACL_ERROR_DRV_FAILURE = 500004;
ACL_STATUS_CODE ACL_ERROR_PROFILING_FAILURE = 500005;

typedef enum {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_STRING = 13,
  ACL_COMPLEX64 = 16,
  ACL_COMPLEX128 = 17,
  ACL_BF16 = 27,
  ACL_INT4 = 29,
  ACL_UINT1 = 30,
  ACL_COMPLEX32 = 33,
  ACL_HIFLOAT8 = 34,  // this and the types below can be stored; no operator computes with them
  ACL_FLOAT8_E5M2 = 35,
  ACL_FLOAT8_E4M3FN = 36,
  ACL_FLOAT8_E8M0 = 37,
  ACL_FLOAT6_E3M2 = 38,
  ACL_FLOAT6_E2M3 = 39,
  ACL_FLOAT4_E2M1 = 40,
  ACL_FLOAT4_E1M2 = 41
} aclDataType;

typedef enum {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,
  ACL_FORMAT_FRACTAL_Z = 4,
  ACL_FORMAT_NC1HWC0_C04 = 12,
  ACL_FORMAT_HWCN = 16,
  ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_FRACTAL_NZ = 29,
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NDC1HWC0 = 32,
  ACL_FRACTAL_Z_3D = 33,  // documented without FORMAT in its name
  ACL_FORMAT_NC = 35,
  ACL_FORMAT_NCL = 47
} aclFormat;

// ---- descriptions and buffers of compiled operators and models ----------------------------------

typedef struct aclTensorDesc aclTensorDesc;  // data type, shape and format of a tensor
typedef struct aclDataBuffer aclDataBuffer;  // an address and a size

typedef enum {
  ACL_MEMTYPE_DEVICE = 0,
  ACL_MEMTYPE_HOST = 1,
  ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2
} aclMemType;

// A negative dimension is one that is not known yet. Returns null for a negative `numDims`.
ACL_FUNC_VISIBILITY aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims,
                                                       const int64_t* dims, aclFormat format);
ACL_FUNC_VISIBILITY void aclDestroyTensorDesc(const aclTensorDesc* desc);
// For a dead handle, these return ACL_DT_UNDEFINED, ACL_FORMAT_UNDEFINED, 0 or null.
ACL_FUNC_VISIBILITY aclDataType aclGetTensorDescType(const aclTensorDesc* desc);
ACL_FUNC_VISIBILITY aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc);
// In bytes; 0 if a dimension is not known.
ACL_FUNC_VISIBILITY size_t aclGetTensorDescSize(const aclTensorDesc* desc);
ACL_FUNC_VISIBILITY size_t aclGetTensorDescElementCount(const aclTensorDesc* desc);
ACL_FUNC_VISIBILITY size_t aclGetTensorDescNumDims(const aclTensorDesc* desc);
ACL_FUNC_VISIBILITY int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index);
ACL_FUNC_VISIBILITY aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index,
                                                   int64_t* dimSize);
// Valid until the name is set again or the description is destroyed.
ACL_FUNC_VISIBILITY const char* aclGetTensorDescName(aclTensorDesc* desc);
ACL_FUNC_VISIBILITY void aclSetTensorDescName(aclTensorDesc* desc, const char* name);
// The format and the shape in which the data is stored, where they differ. Checked and ignored.
ACL_FUNC_VISIBILITY aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format);
ACL_FUNC_VISIBILITY aclError aclSetTensorShape(aclTensorDesc* desc, int numDims,
                                               const int64_t* dims);
// Checked and ignored.
ACL_FUNC_VISIBILITY aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType);
ACL_FUNC_VISIBILITY aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer,
                                               size_t length);

// A buffer does not own its memory.
ACL_FUNC_VISIBILITY aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data,
                                                 size_t size);
ACL_FUNC_VISIBILITY void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer);

// ---- messages and numbers ----------------------------------------------------------------------

typedef enum { ACL_DEBUG = 0, ACL_INFO = 1, ACL_WARNING = 2, ACL_ERROR = 3 } aclLogLevel;

// Writes a line of the program's to the log: errors and warnings at SOFTNPU_LOG=error, the others
// at info and debug. `fmt` is a format of printf.
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char* func, const char* file,
                                   uint32_t line, const char* fmt, ...);

// With the place of the call. The format is one of the arguments, so that there may be no others.
#define ACL_APP_LOG(level, ...) aclAppLog(level, __func__, __FILE__, __LINE__, __VA_ARGS__)

// Bytes of one element of `dataType`; 0 for types without a fixed byte size.
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

// Rounds to nearest even and saturates: NaN and +inf become 0x7BFF, -inf becomes 0xFBFF.
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

// Reads every exponent as a finite one: half infinities become +-65536, half NaNs 98304.
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

#ifdef __cplusplus
}
#endif

#endif  // SOFTNPU_INCLUDE_ACL_ACL_BASE_H_
