// SPDX-License-Identifier: Apache-2.0
// The part of NumPy's binary interface that this module uses: fields that NumPy 1.x and 2.x have at
// the same offsets, and indices of its C table that have not changed since 1.7. Because it is
// declared here, building needs no NumPy, and one build serves both major versions.
#pragma once

#include <Python.h>

#include <cstdint>

namespace softnpu::python::numpy_abi {

struct Descriptor {  // numpy.dtype; the fields after type_num differ between 1.x and 2.x
  PyObject_HEAD PyTypeObject* typeobj;  // the scalar type
  char kind;
  char type;
  char byteorder;  // '>' on a little-endian machine: swapped
  char flags;
  int type_num;
};

struct NdArray {  // numpy.ndarray
  PyObject_HEAD char* data;
  int nd;
  Py_ssize_t* dimensions;
  Py_ssize_t* strides;  // in bytes
  PyObject* base;
  Descriptor* descr;
  int flags;
};

enum ArrayFlag { kAligned = 0x0100, kWriteable = 0x0400 };

enum TypeNum {
  kBool = 0,
  kByte = 1,
  kUByte = 2,
  kShort = 3,
  kUShort = 4,
  kInt = 5,
  kUInt = 6,
  kLong = 7,
  kULong = 8,
  kLongLong = 9,
  kULongLong = 10,
  kFloat = 11,
  kDouble = 12,
  kLongDouble = 13,
  kCFloat = 14,
  kCDouble = 15,
  kHalf = 23,
  kFirstUserType = 256,
};

// Allocates the memory of arrays (NEP 49; NumPy 1.22 and newer). An array remembers its handler.
struct MemoryHandler {  // PyDataMem_Handler, in a capsule
  char name[127];
  uint8_t version;
  void* context;
  void* (*malloc)(void* context, size_t size);
  void* (*calloc)(void* context, size_t count, size_t size);
  void* (*realloc)(void* context, void* memory, size_t size);
  void (*free)(void* context, void* memory, size_t size);
};
constexpr const char* kHandlerCapsule = "mem_handler";

// Slots of the table in the capsule _ARRAY_API.
enum Slot {
  kSlotArrayType = 2,
  kSlotGenericType = 10,
  kSlotDescrFromType = 45,
  kSlotNewFromDescr = 94,
  kSlotSetHandler = 304
};

using DescrFromType = Descriptor* (*)(int);
// Steals the reference to the descriptor.
using NewFromDescr = PyObject* (*)(PyTypeObject*, Descriptor*, int, const Py_ssize_t*,
                                   const Py_ssize_t*, void*, int, PyObject*);
// Sets the handler of the current context; returns the previous one.
using SetHandler = PyObject* (*)(PyObject* capsule);

}  // namespace softnpu::python::numpy_abi
