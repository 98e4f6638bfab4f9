// SPDX-License-Identifier: Apache-2.0
//
// Types, values and status codes shared by the whole C API. Clean C99 and C++11.
#ifndef SOFTNPU_INCLUDE_ACL_ACL_BASE_H_
#define SOFTNPU_INCLUDE_ACL_ACL_BASE_H_

#include <stddef.h>
#include <stdint.h>
// Sample programs call printf but include only <iostream>, <vector> and these headers.
#include <stdio.h>

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

// Codes of the runtime. They are macros, so that programs can test for them with #ifdef.
#define ACL_ERROR_RT_PARAM_INVALID 107000
#define ACL_ERROR_RT_INVALID_DEVICEID 107001
#define ACL_ERROR_RT_CONTEXT_NULL 107002
#define ACL_ERROR_RT_STREAM_CONTEXT 107003
#define ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID 107006
#define ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL 107007
#define ACL_ERROR_RT_INVALID_HANDLE 107017
#define ACL_ERROR_RT_SYSPARAMOPT_NOT_SET 107021
#define ACL_ERROR_RT_FEATURE_NOT_SUPPORT 207000
#define ACL_ERROR_RT_MEMORY_ALLOCATION 207001
#define ACL_ERROR_RT_MEMORY_FREE 207002
#define ACL_ERROR_RT_RESOURCE_ALLOC_FAIL 207005
#define ACL_ERROR_RT_INTERNAL_ERROR 507000
#define ACL_ERROR_RT_STREAM_SYNC_TIMEOUT 507046
#define ACL_ERROR_RT_EVENT_SYNC_TIMEOUT 507047

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
  ACL_COMPLEX32 = 33
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
