// SPDX-License-Identifier: Apache-2.0
// The parts of DLPack 1.x that this module uses: the descriptions of a tensor, and the table of C
// functions that tensor types publish as __dlpack_c_exchange_api__ (DLPack 1.2 and newer).
#pragma once

#include <cstdint>

namespace softnpu::python::dlpack_abi {

constexpr uint32_t kMajorVersion = 1;

struct Version {
  uint32_t major, minor;
};

enum DeviceType : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kRocmHost = 11 };
struct Device {
  int32_t type, id;
};

enum TypeCode : uint8_t {
  kIntCode = 0,
  kUIntCode = 1,
  kFloatCode = 2,
  kBfloatCode = 4,
  kComplexCode = 5,
  kBoolCode = 6
};
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Description {  // DLTensor
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; before DLPack 1.2, null if contiguous
  uint64_t byte_offset;
};

struct Managed {  // DLManagedTensor
  Description description;
  void* context;
  void (*deleter)(Managed*);
};

enum ManagedFlag : uint64_t { kReadOnly = 1 };
struct ManagedVersioned {  // DLManagedTensorVersioned
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  Description description;
};

struct ExchangeHeader {
  Version version;
  ExchangeHeader* previous;  // an older table, or null
};

// The start of the table. The functions return zero on success, and otherwise set a Python error.
struct ExchangeTable {
  ExchangeHeader header;
  void (*others[3])();
  // Fills in a description; the object owns its shape and strides. May be null.
  int (*describe)(void* object, Description* out);
};

constexpr const char* kExchangeCapsule = "dlpack_exchange_api";
constexpr const char* kManagedCapsule = "dltensor";
constexpr const char* kVersionedCapsule = "dltensor_versioned";

}  // namespace softnpu::python::dlpack_abi
