// SPDX-License-Identifier: Apache-2.0
#include "numpy_arrays.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "base/lasting.h"
#include "memory/buffer_pool.h"
#include "numpy_abi.h"
#include "raise.h"

namespace softnpu::python {
namespace {

using namespace numpy_abi;

// Cached properties of the process's NumPy. Never released, because there is only one NumPy.
struct NumPy {
  PyTypeObject* array_type;
  PyTypeObject* scalar_type;
  DescrFromType descr_from_type;
  NewFromDescr new_from_descr;
  SetHandler set_handler;
  Descriptor* bfloat16 = nullptr;       // looked up on first use
  PyTypeObject* masked_type = nullptr;  // null until numpy.ma is imported
};

nb::object import_multiarray() {
  nb::object found = ask_unless(PyExc_ModuleNotFoundError, [] {
    return PyImport_ImportModule("numpy._core._multiarray_umath");
  });
  return found.is_valid() ? found : import_module("numpy.core._multiarray_umath");  // NumPy 1.x
}

NumPy find_numpy() {
  const nb::object capsule = attribute(import_multiarray(), "_ARRAY_API"_name);
  auto** table = static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (table == nullptr) nb::raise_python_error();
  return {static_cast<PyTypeObject*>(table[kSlotArrayType]),
          static_cast<PyTypeObject*>(table[kSlotGenericType]),
          reinterpret_cast<DescrFromType>(table[kSlotDescrFromType]),
          reinterpret_cast<NewFromDescr>(table[kSlotNewFromDescr]),
          reinterpret_cast<SetHandler>(table[kSlotSetHandler])};
}

NumPy& numpy() { return made_once<find_numpy>(); }

// numpy.dtype(ml_dtypes.bfloat16); null without ml_dtypes. Importing ml_dtypes takes as long as
// importing softnpu, so it is deferred until a type appears that NumPy itself lacks.
Descriptor* bfloat16_descriptor() {
  NumPy& np = numpy();
  if (np.bfloat16 != nullptr) return np.bfloat16;
  const nb::object ml_dtypes =
      ask_unless(PyExc_ImportError, [] { return PyImport_ImportModule("ml_dtypes"); });
  if (!ml_dtypes.is_valid()) return nullptr;
  const nb::object scalar = attribute(ml_dtypes, "bfloat16"_name);
  nb::object descr = invoke(attribute(import_module("numpy"), "dtype"_name), scalar);
  np.bfloat16 = reinterpret_cast<Descriptor*>(descr.release().ptr());
  return np.bfloat16;
}

// numpy.ma.MaskedArray; null until it is imported, as no such arrays can exist before.
PyTypeObject* masked_type() {
  NumPy& np = numpy();
  if (np.masked_type != nullptr) return np.masked_type;
  const nb::object module =
      nb::steal(call_or_stay([] { return PyImport_GetModule("numpy.ma"_name.ptr()); }));
  if (!module.is_valid()) return nullptr;
  nb::object type = find_attribute(module, "MaskedArray"_name);
  np.masked_type = reinterpret_cast<PyTypeObject*>(type.release().ptr());
  return np.masked_type;
}

// NumPy has two numbers for some types, and uses the first for new arrays.
constexpr std::pair<TypeNum, DType> kTypes[] = {
    {kFloat, DType::f32},    {kHalf, DType::f16},      {kDouble, DType::f64},
    {kBool, DType::boolean}, {kByte, DType::i8},       {kUByte, DType::u8},
    {kShort, DType::i16},    {kUShort, DType::u16},    {kInt, DType::i32},
    {kUInt, DType::u32},     {kLong, DType::i64},      {kULong, DType::u64},
    {kLongLong, DType::i64}, {kULongLong, DType::u64}, {kCFloat, DType::c64},
    {kCDouble, DType::c128},
};

DType dtype_of(const Descriptor* descr) {
  for (const auto& [number, type] : kTypes)
    if (number == descr->type_num) return type;
  if (descr->type_num < kFirstUserType) return DType::undefined;
  const Descriptor* bfloat16 = bfloat16_descriptor();
  return bfloat16 != nullptr && descr->typeobj == bfloat16->typeobj ? DType::bf16
                                                                    : DType::undefined;
}

// A new reference.
Descriptor* descriptor_of(DType dtype) {
  for (const auto& [number, type] : kTypes)
    if (type == dtype) return numpy().descr_from_type(number);
  Descriptor* const bfloat16 = bfloat16_descriptor();
  if (bfloat16 == nullptr)
    raise(PyExc_ImportError, "package-missing"_rule, "bfloat16 arrays need the package ml_dtypes");
  Py_INCREF(bfloat16);
  return bfloat16;
}

std::string dtype_text(const Descriptor* descr) {
  const nb::handle handle(reinterpret_cast<PyObject*>(const_cast<Descriptor*>(descr)));
  return readable(handle);
}

[[gnu::cold]] Status unusable_type(const char* name, const Descriptor* descr) {
  return fail("dtype-unknown"_rule, kParamInvalid, name, " has data type ", dtype_text(descr),
              ", which the device does not have");
}

[[gnu::cold]] Status swapped(const char* name, const Descriptor* descr) {
  return fail("byte-order"_rule, kParamInvalid, name, " has data type ", dtype_text(descr),
              ", whose bytes are swapped; expected the byte order of this machine");
}

// An input gets a private copy; an output cannot, because the caller needs its own memory filled.
[[gnu::cold]] Status not_aligned(const char* name, const numpy_abi::NdArray& array, Access access,
                                 Array& out) {
  if (access == Access::write)
    return fail("output-misaligned"_rule, kParamInvalid, name,
                " has data or strides that are not aligned to its data type ",
                dtype_text(array.descr), "; an output must be aligned");
  const auto rank = static_cast<size_t>(array.nd);
  copy_to_aligned(reinterpret_cast<const std::byte*>(array.data),
                  Dims(std::span<const int64_t>(array.strides, rank)), out);
  return {};
}

// Resizing an array uses the handler with any size, and a garbage collection may create other
// arrays meanwhile. So memory may have any size, and the pool decides what is its own.
void* allocate(void*, size_t bytes) {
  return memory::is_pooled(bytes) ? memory::acquire_buffer(bytes) : std::malloc(bytes);
}

void* allocate_zeros(void*, size_t count, size_t size) { return std::calloc(count, size); }

void release(void*, void* data, size_t) {
  if (data != nullptr && !memory::release_buffer(data)) std::free(data);
}

void* reallocate(void*, void* data, size_t bytes) {
  const auto use = memory::find_buffer(data);
  if (!use) return std::realloc(data, bytes);
  void* const moved = allocate(nullptr, bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, data, std::min(bytes, use->bytes));
  memory::release_buffer(data);
  return moved;
}

MemoryHandler handler = {.name = "softnpu",
                         .version = 1,
                         .context = nullptr,
                         .malloc = allocate,
                         .calloc = allocate_zeros,
                         .realloc = reallocate,
                         .free = release};

// Lives as long as the process, like some arrays.
nb::object make_handler_capsule() {
  return ask([] { return PyCapsule_New(&handler, kHandlerCapsule, nullptr); });
}

// While one lives, NumPy allocates new arrays of this thread from the pool. Such an array owns its
// data as usual: views keep it alive, it can be resized, and freeing it returns the memory.
class PooledMemory {
 public:
  PooledMemory() : before_(set(made_once<make_handler_capsule>())) {}
  PooledMemory(const PooledMemory&) = delete;
  ~PooledMemory() {
    const nb::error_scope keep;  // the error of the failed creation
    PyObject* const ours = call_or_stay([this] { return numpy().set_handler(before_.ptr()); });
    if (ours == nullptr) PyErr_Clear();
    Py_XDECREF(ours);
  }

 private:
  static nb::object set(nb::handle capsule) {
    return ask([=] { return numpy().set_handler(capsule.ptr()); });
  }
  nb::object before_;
};

}  // namespace

bool is_numpy_array(PyObject* object) { return PyObject_TypeCheck(object, numpy().array_type); }

bool is_numpy_scalar(PyObject* object) { return PyObject_TypeCheck(object, numpy().scalar_type); }

Status check_unmasked(const char* name, PyObject* array) {
  if (Py_TYPE(array) == numpy().array_type) [[likely]]
    return {};
  PyTypeObject* const type = masked_type();
  if (type == nullptr || !PyObject_TypeCheck(array, type)) return {};
  return fail("masked-array"_rule, kParamInvalid, name,
              " is a masked array; expected an array "
              "without a mask: pass .filled(value), or .data to ignore the mask");
}

Status read_numpy_array(const char* name, PyObject* object, Access access, Array& out) {
  const auto& array = *reinterpret_cast<const numpy_abi::NdArray*>(object);
  RETURN_IF_FAILED(check_unmasked(name, object));
  Tensor& t = out.tensor;
  t.dtype = dtype_of(array.descr);
  if (t.dtype == DType::undefined) return unusable_type(name, array.descr);
  if (array.descr->byteorder == '>') return swapped(name, array.descr);
  if (access == Access::write && !(array.flags & kWriteable))
    return fail("output-read-only"_rule, kParamInvalid, name,
                " is read-only; an output must be writeable");
  const auto rank = static_cast<size_t>(array.nd);
  // Item sizes are powers of 2: shifts instead of divisions save 60 ns for each call.
  const auto item = static_cast<uint64_t>(item_size(t.dtype));
  const int shift = std::countr_zero(item);
  bool aligned = (array.flags & kAligned) != 0;
  t.data = reinterpret_cast<std::byte*>(array.data);
  t.sizes = Dims(rank);
  t.strides = Dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    t.sizes[i] = array.dimensions[i];
    const bool whole = (static_cast<uint64_t>(array.strides[i]) & (item - 1)) == 0;
    // A dimension of one element may have any stride, which is never used.
    if (!whole && t.sizes[i] <= 1) continue;
    t.strides[i] = array.strides[i] >> shift;
    aligned &= whole;
  }
  if (!aligned && t.numel() != 0) [[unlikely]]
    return not_aligned(name, array, access, out);
  return {};
}

Status read_numpy_scalar(const char* name, PyObject* object, Access access, Array& out) {
  if (access == Access::write)
    return fail("output-read-only"_rule, kParamInvalid, name,
                " is a NumPy scalar, which cannot be written to");
  out.keeper = invoke(attribute(import_module("numpy"), "asarray"_name), nb::handle(object));
  return read_numpy_array(name, out.keeper.ptr(), access, out);
}

bool is_other_real(PyObject* array) {
  const int type = reinterpret_cast<const numpy_abi::NdArray*>(array)->descr->type_num;
  return type == kLongDouble || type >= kFirstUserType;
}

nb::object make_numpy_array(Tensor& tensor, bool pooled) {
  NumPy& np = numpy();
  Descriptor* const descr = descriptor_of(tensor.dtype);
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  const auto* sizes = reinterpret_cast<const Py_ssize_t*>(tensor.sizes.data());
  std::optional<PooledMemory> memory;
  if (pooled) memory.emplace();
  nb::object made = ask([&] {
    return np.new_from_descr(np.array_type, descr, static_cast<int>(tensor.rank()), sizes, nullptr,
                             nullptr, 0, nullptr);
  });
  tensor.data =
      reinterpret_cast<std::byte*>(reinterpret_cast<numpy_abi::NdArray*>(made.ptr())->data);
  return made;
}

}  // namespace softnpu::python
