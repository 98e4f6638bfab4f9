# SPDX-License-Identifier: Apache-2.0
"""The C API as ctypes sees it: where its libraries are, its values, its prototypes."""

from __future__ import annotations

import ctypes as ct
import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.contract import OPERATORS as CONTRACTS
from tests.support.contract import contract

DTYPES = {
    "UNDEFINED": -1,
    "FLOAT": 0,
    "FLOAT16": 1,
    "INT8": 2,
    "INT32": 3,
    "UINT8": 4,
    "INT16": 6,
    "UINT16": 7,
    "UINT32": 8,
    "INT64": 9,
    "UINT64": 10,
    "DOUBLE": 11,
    "BOOL": 12,
    "STRING": 13,
    "COMPLEX64": 16,
    "COMPLEX128": 17,
    "BF16": 27,
    "INT4": 29,
    "UINT1": 30,
    "COMPLEX32": 33,
    "HIFLOAT8": 34,
    "FLOAT8_E5M2": 35,
    "FLOAT8_E4M3FN": 36,
    "FLOAT8_E8M0": 37,
    "FLOAT6_E3M2": 38,
    "FLOAT6_E2M3": 39,
    "FLOAT4_E2M1": 40,
    "FLOAT4_E1M2": 41,
}
PUBLIC_FORMATS = {
    "NCHW": 0,
    "NHWC": 1,
    "ND": 2,
    "HWCN": 16,
    "NDHWC": 27,
    "NCDHW": 30,
    "NC": 35,
    "NCL": 47,
}
PRIVATE_FORMATS = {
    "NC1HWC0": 3,
    "FRACTAL_Z": 4,
    "NC1HWC0_C04": 12,
    "FRACTAL_NZ": 29,
    "NDC1HWC0": 32,
    "FRACTAL_Z_3D": 33,
}
FORMATS = PUBLIC_FORMATS | PRIVATE_FORMATS

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2

# One letter for each type of a prototype; results that come back through pointers are pointers.
LETTERS: dict[str, Any] = {
    "v": None,
    "i": ct.c_int32,
    "u": ct.c_uint32,
    "l": ct.c_int64,
    "L": ct.c_uint64,
    "z": ct.c_size_t,
    "h": ct.c_uint16,
    "f": ct.c_float,
    "d": ct.c_double,
    "b": ct.c_bool,
    "p": ct.c_void_p,
    "s": ct.c_char_p,
}

# name: the letter of what it returns, a space, the letters of what it takes.
RUNTIME = """
aclInit: i s            aclFinalize: i          aclGetRecentErrMsg: s
aclDataTypeSize: z i    aclFloatToFloat16: h f  aclFloat16ToFloat: f h
aclrtGetSocName: s      aclrtGetVersion: i ppp  aclrtGetRunMode: i p
aclrtGetLastError: i i  aclrtPeekAtLastError: i i
aclrtGetDeviceCount: i p  aclrtSetDevice: i i  aclrtGetDevice: i p
aclrtResetDevice: i i   aclrtResetDeviceForce: i i
aclrtSynchronizeDevice: i  aclrtSynchronizeDeviceWithTimeout: i i
aclrtCreateContext: i pi  aclrtDestroyContext: i p  aclrtSetCurrentContext: i p
aclrtGetCurrentContext: i p  aclrtCtxGetCurrentDefaultStream: i p
aclrtCtxSetSysParamOpt: i il  aclrtCtxGetSysParamOpt: i ip
aclrtSetSysParamOpt: i il  aclrtGetSysParamOpt: i ip
aclrtCreateStream: i p  aclrtCreateStreamWithConfig: i puu
aclrtDestroyStream: i p  aclrtDestroyStreamForce: i p
aclrtSynchronizeStream: i p  aclrtSynchronizeStreamWithTimeout: i pi
aclrtStreamQuery: i pp  aclrtStreamGetId: i pp  aclrtStreamGetFlags: i pp
aclrtStreamGetPriority: i pp
aclrtCreateEvent: i p  aclrtCreateEventWithFlag: i pu  aclrtCreateEventExWithFlag: i pu
aclrtDestroyEvent: i p  aclrtRecordEvent: i pp  aclrtResetEvent: i pp
aclrtStreamWaitEvent: i pp  aclrtSynchronizeEvent: i p
aclrtSynchronizeEventWithTimeout: i pi  aclrtQueryEvent: i pp
aclrtQueryEventStatus: i pp  aclrtQueryEventWaitStatus: i pp
aclrtEventElapsedTime: i ppp  aclrtEventGetTimestamp: i pp
aclrtMalloc: i pzi  aclrtMallocAlign32: i pzi  aclrtMallocCached: i pzi
aclrtFree: i p  aclrtFreeWithDevSync: i p  aclrtMallocHost: i pz  aclrtFreeHost: i p
aclrtGetMemInfo: i ipp  aclrtMemcpy: i pzpzi  aclrtMemcpyAsync: i pzpzip
aclrtMemset: i pziz  aclrtMemsetAsync: i pzizp
aclrtMemcpy2d: i pzpzzzi  aclrtMemcpy2dAsync: i pzpzzzip
aclrtMemcpyBatchAsync: i ppppzppzpp
aclrtReserveMemAddress: i pzzpL  aclrtReleaseMemAddress: i p
aclrtMallocPhysical: i pzpL  aclrtFreePhysical: i p
aclrtMapMem: i pzzpL  aclrtUnmapMem: i p  aclrtMemGetAllocationGranularity: i pip
aclrtGetDeviceInfo: i uip  aclGetDeviceCapability: i uip  aclrtGetDeviceCapability: i uip
aclopSetModelDir: i s
aclrtLaunchCallback: i ppip  aclrtSubscribeReport: i Lp  aclrtUnSubscribeReport: i Lp
aclrtProcessReport: i i  aclrtLaunchHostFunc: i ppp
aclmdlRICaptureBegin: i pi  aclmdlRICaptureEnd: i pp  aclmdlRICaptureGetInfo: i ppp
aclmdlRIExecuteAsync: i pp  aclmdlRIDestroy: i p
aclsysGetVersionStr: i sp  aclsysGetVersionNum: i sp  aclrtHostRegister: i pLip
aclrtHostRegisterV2: i pLu  aclrtHostUnregister: i p  aclrtHostGetDevicePointer: i ppu
aclrtPointerGetAttributes: i pp  aclrtDeviceCanAccessPeer: i pii
aclrtDeviceEnablePeerAccess: i iu  aclrtDeviceDisablePeerAccess: i i
aclrtIpcMemGetExportKey: i pzpzL  aclrtIpcMemSetImportPid: i spz
aclrtIpcMemImportByKey: i psL  aclrtIpcMemClose: i s  aclrtDeviceGetBareTgid: i p
aclrtMemcpyBatch: i ppppzppzp  aclrtCmoAsync: i pzip  aclmdlRIExecute: i pi
aclmdlRICaptureThreadExchangeMode: i p  aclmdlRISetName: i ps  aclmdlRIGetName: i pup
aclmdlRICaptureTaskGrpBegin: i p  aclmdlRICaptureTaskGrpEnd: i pp
aclmdlRICaptureTaskUpdateBegin: i pp  aclmdlRICaptureTaskUpdateEnd: i p
aclmdlRIAbort: i p  aclmdlRIDebugPrint: i p  aclmdlRIDebugJsonPrint: i psu
aclCreateTensorDesc: p iipi
aclDestroyTensorDesc: v p  aclGetTensorDescType: i p  aclGetTensorDescFormat: i p
aclGetTensorDescSize: z p  aclGetTensorDescElementCount: z p  aclGetTensorDescNumDims: z p
aclGetTensorDescDim: l pz  aclGetTensorDescDimV2: i pzp  aclGetTensorDescName: s p
aclSetTensorDescName: v ps  aclSetTensorFormat: i pi  aclSetTensorShape: i pip
aclSetTensorPlaceMent: i pi  aclSetTensorConst: i ppz  aclCreateDataBuffer: p pz
aclDestroyDataBuffer: i p  aclUpdateDataBuffer: i ppz  aclGetDataBufferAddr: p p
aclGetDataBufferSize: u p  aclGetDataBufferSizeV2: z p  aclAppLog: v issus  aclopCreateAttr: p
aclopDestroyAttr: v p  aclopSetAttrBool: i psu  aclopSetAttrInt: i psl  aclopSetAttrFloat: i psf
aclopSetAttrString: i pss  aclopSetAttrDataType: i psi  aclopSetAttrListBool: i psip
aclopSetAttrListInt: i psip  aclopSetAttrListFloat: i psip  aclopSetAttrListString: i psip
aclopSetAttrListDataType: i psip  aclopSetAttrListListInt: i psipp  aclopExecute: i sippipppp
aclopExecuteV2: i sippipppp  aclSetCompileopt: i is  aclGetCompileoptSize: z i
aclGetCompileopt: i ipz  aclopSetCompileFlag: i i  aclopCompile: i sipippiis
aclopCompileAndExecute: i sippipppiisp  aclopCompileAndExecuteV2: i sippipppiisp
aclmdlLoadFromFile: i sp  aclmdlLoadFromMem: i pzp  aclmdlLoadFromFileWithMem: i sppzpz
aclmdlLoadFromMemWithMem: i pzppzpz  aclmdlUnload: i u  aclmdlQuerySize: i spp
aclmdlQuerySizeFromMem: i pzpp  aclmdlExecute: i upp  aclmdlExecuteAsync: i uppp
aclmdlCreateDesc: p  aclmdlDestroyDesc: i p  aclmdlGetDesc: i pu  aclmdlGetNumInputs: z p
aclmdlGetNumOutputs: z p  aclmdlGetInputSizeByIndex: z pz  aclmdlGetOutputSizeByIndex: z pz
aclmdlGetInputNameByIndex: s pz  aclmdlGetOutputNameByIndex: s pz
aclmdlGetInputIndexByName: i psp  aclmdlGetOutputIndexByName: i psp  aclmdlGetInputDims: i pzp
aclmdlGetOutputDims: i pzp  aclmdlGetCurOutputDims: i pzp  aclmdlGetInputDataType: i pz
aclmdlGetOutputDataType: i pz  aclmdlGetInputFormat: i pz  aclmdlGetOutputFormat: i pz
aclmdlCreateDataset: p  aclmdlDestroyDataset: i p  aclmdlAddDatasetBuffer: i pp
aclmdlGetDatasetNumBuffers: z p  aclmdlGetDatasetBuffer: p pz  aclprofInit: i sz
aclprofFinalize: i  aclprofCreateConfig: p puipL  aclprofDestroyConfig: i p  aclprofStart: i p
aclprofStop: i p  aclprofCreateStamp: p  aclprofDestroyStamp: v p
aclprofSetStampTraceMessage: i psu  aclprofMark: i p  aclprofPush: i p  aclprofPop: i
aclprofRangeStart: i pp  aclprofRangeStop: i u
"""
DESCRIPTORS = """
aclnnInit: i s  aclnnFinalize: i
aclCreateTensor: p pLiplipLp  aclInitTensor: i ppLiplipLp  aclDestroyTensor: i p
aclGetViewShape: i ppp  aclGetStorageShape: i ppp  aclGetViewStrides: i ppp
aclGetViewOffset: i pp  aclGetFormat: i pp  aclGetDataType: i pp
aclSetRawTensorAddr: i pp  aclGetRawTensorAddr: i pp
aclCreateScalar: p pi  aclDestroyScalar: i p
aclCreateIntArray: p pL  aclDestroyIntArray: i p  aclGetIntArraySize: i pp
aclCreateFloatArray: p pL  aclDestroyFloatArray: i p  aclGetFloatArraySize: i pp
aclCreateBoolArray: p pL  aclDestroyBoolArray: i p  aclGetBoolArraySize: i pp
aclCreateTensorList: p pL  aclDestroyTensorList: i p  aclGetTensorListSize: i pp
aclCreateScalarList: p pL  aclDestroyScalarList: i p  aclGetScalarListSize: i pp
aclSetAclOpExecutorRepeatable: i p  aclDestroyAclOpExecutor: i p
aclSetInputTensorAddr: i pzpp  aclSetOutputTensorAddr: i pzpp  aclSetTensorAddr: i pzpp
AclSetAclOpExecutorRepeatable: i p
AclSetInputTensorAddr: i pzpp  AclSetOutputTensorAddr: i pzpp  AclSetTensorAddr: i pzpp
"""


@cache
def prototypes(text: str) -> dict[str, tuple[str, str]]:
    """One of the tables above as name -> (letter of the result, letters of the arguments)."""
    words = text.split()
    table: dict[str, tuple[str, str]] = {}
    while words:
        name, result = words.pop(0), words.pop(0)
        takes = "" if not words or words[0].endswith(":") else words.pop(0)
        table[name.rstrip(":")] = (result, takes)
    return table


def library_folder() -> Path:
    """The folder of the installed SDK's libraries, or the one that SOFTNPU_SDK_LIB names."""
    if given := os.environ.get("SOFTNPU_SDK_LIB"):
        return Path(given)
    spec = importlib.util.find_spec("softnpu")
    if spec is None or spec.origin is None:
        raise RuntimeError("softnpu is not installed; install it or set SOFTNPU_SDK_LIB")
    return Path(spec.origin).parent / "sdk" / "lib64"


@cache
def operators() -> dict[str, tuple[str, str]]:
    """Both phases of each operator, as `prototypes` has them."""
    table: dict[str, tuple[str, str]] = {}
    for spec in map(contract, CONTRACTS):
        letters = "".join(argument.letter for argument in spec.arguments)
        table |= {
            spec.operator: ("i", "pLpp"),
            f"{spec.operator}GetWorkspaceSize": ("i", letters + "pp"),
        }
    return table


class Functions:
    """Every function of the C API as an attribute, looked up in the library that stands for it."""

    def __init__(self, folder: Path) -> None:
        names = ("ascendcl", "nnopbase", "opapi")
        self._libraries = [ct.CDLL(str(folder / f"lib{name}.so")) for name in names]

    def __getattr__(self, name: str) -> Any:
        runtime, descriptors = prototypes(RUNTIME), prototypes(DESCRIPTORS)
        for library, table in zip(
            self._libraries, (runtime, descriptors, operators()), strict=True
        ):
            if name in table:
                result, takes = table[name]
                function = getattr(library, name)
                function.restype = LETTERS[result]
                function.argtypes = [LETTERS[letter] for letter in takes]
                setattr(self, name, function)
                return function
        raise AttributeError(f"{name} is not in the tables of capi_symbols.py")


@cache
def functions() -> Functions:
    """The libraries, loaded once."""
    os.environ.setdefault("SOFTNPU_BANNER", "0")
    return Functions(library_folder())
