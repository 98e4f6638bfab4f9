// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors, data buffers and compile options.
#include <cstring>

#include "acl/acl_op_compiler.h"
#include "base/fault_injection.h"
#include "runtime/descriptions.h"
#include "runtime/entry.h"

using namespace softnpu;
using namespace softnpu::runtime;

namespace {

template <class Table>
Status find(std::string_view name, Table& table, const void* handle,
            std::shared_ptr<typename Table::Object>& out) {
  out = table.find(handle);
  if (out) return {};
  const std::string message = not_live(name, handle, Table::kKind);
  return handle == nullptr ? fail("handle-null"_rule, kAclInvalidParam, message)
                           : fail("dead-handle"_rule, kAclInvalidParam, message);
}

template <class Handle, class Table, class Make>
Handle* create(const Call& call, Table& table, Make&& make) {
  void* handle = nullptr;
  entry(call, [&]() -> Status {
    RETURN_IF_FAILED(injected_failure(FaultKind::create));
    std::shared_ptr<typename Table::Object> object;
    RETURN_IF_FAILED(make(object));
    handle = table.insert(std::move(object));
    if (handle == nullptr)
      return fail("handle-limit"_rule, kAclBadAlloc, "too many handles of its kind are alive");
    return {};
  });
  return static_cast<Handle*>(handle);
}

template <class Table>
aclError destroy(const Call& call, std::string_view name, Table& table, const void* handle) {
  return entry(call, [&]() -> Status {
    std::shared_ptr<typename Table::Object> object;
    RETURN_IF_FAILED(find(name, table, handle, object));
    table.erase(handle);
    return {};
  });
}

// What `read` returns; `otherwise` for a dead handle.
template <class Table, class Value, class Read>
Value get(const Call& call, std::string_view name, Table& table, const void* handle,
          Value otherwise, Read&& read) {
  entry(call, [&]() -> Status {
    std::shared_ptr<typename Table::Object> object;
    RETURN_IF_FAILED(find(name, table, handle, object));
    otherwise = read(*object);
    return {};
  });
  return otherwise;
}

Status check_sizes(int numDims, const int64_t* dims) {
  if (numDims < 0)
    return fail("size-negative"_rule, kAclInvalidParam, "numDims is ", numDims,
                "; it must not be negative");
  if (dims == nullptr && numDims > 0)
    return fail("array-null"_rule, kAclInvalidParam, "dims is null, but numDims is ", numDims);
  return {};
}

// Replaces a description by a changed copy of it.
template <class Change>
aclError change(const Call& call, const void* desc, Change&& change) {
  return entry(call, [&]() -> Status {
    std::shared_ptr<const TensorDesc> object;
    RETURN_IF_FAILED(find("desc", tensor_descs(), desc, object));
    auto changed = std::make_shared<TensorDesc>(*object);
    RETURN_IF_FAILED(change(*changed));
    tensor_descs().replace(desc, std::move(changed));
    return {};
  });
}

template <class Value, class Read>
Value get_of_desc(const Call& call, const void* desc, Value otherwise, Read&& read) {
  return get(call, "desc", tensor_descs(), desc, otherwise, read);
}

Status dimension(const TensorDesc& desc, size_t index, int64_t& size) {
  if (index >= desc.sizes.size())
    return fail("index-range"_rule, kAclInvalidParam, "index is ", index,
                "; it must be below the number of dimensions, which is ", desc.sizes.size());
  size = desc.sizes[index];
  return {};
}

Status check_output(std::string_view name, const void* out) {
  return out ? Status() : fail("output-pointer-null"_rule, kAclInvalidParam, name, " is null");
}

}  // namespace

extern "C" {

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                   aclFormat format) {
  return create<aclTensorDesc>(
      CALL(dataType, numDims, dims, format), tensor_descs(), [&](auto& out) -> Status {
        RETURN_IF_FAILED(check_sizes(numDims, dims));
        out = std::make_shared<TensorDesc>(TensorDesc{static_cast<DType>(number_of(dataType)),
                                                      static_cast<Format>(number_of(format)),
                                                      {dims, dims + numDims}});
        return {};
      });
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  destroy(CALL(desc), "desc", tensor_descs(), desc);
}

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  return get_of_desc(CALL(desc), desc, ACL_DT_UNDEFINED,
                     [](const TensorDesc& found) { return static_cast<aclDataType>(found.dtype); });
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return get_of_desc(CALL(desc), desc, ACL_FORMAT_UNDEFINED,
                     [](const TensorDesc& found) { return static_cast<aclFormat>(found.format); });
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  return get_of_desc(CALL(desc), desc, size_t{0}, [](const TensorDesc& found) {
    return found.elements().value_or(0) * static_cast<size_t>(item_size(found.dtype));
  });
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
  return get_of_desc(CALL(desc), desc, size_t{0},
                     [](const TensorDesc& found) { return found.elements().value_or(0); });
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  return get_of_desc(CALL(desc), desc, size_t{0},
                     [](const TensorDesc& found) { return found.sizes.size(); });
}

int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index) {
  int64_t size = -1;
  entry(CALL(desc, index), [&]() -> Status {
    std::shared_ptr<const TensorDesc> found;
    RETURN_IF_FAILED(find("desc", tensor_descs(), desc, found));
    return dimension(*found, index, size);
  });
  return size;
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  return entry(CALL(desc, index, dimSize), [&]() -> Status {
    std::shared_ptr<const TensorDesc> found;
    RETURN_IF_FAILED(find("desc", tensor_descs(), desc, found));
    RETURN_IF_FAILED(check_output("dimSize", dimSize));
    return dimension(*found, index, *dimSize);
  });
}

const char* aclGetTensorDescName(aclTensorDesc* desc) {
  return get_of_desc(CALL(desc), desc, static_cast<const char*>(nullptr),
                     [](const TensorDesc& found) { return found.name->c_str(); });
}

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  change(CALL(desc, name), desc, [&](TensorDesc& changed) -> Status {
    changed.name = std::make_shared<const std::string>(name ? name : "");
    return {};
  });
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  return change(CALL(desc, format), desc, [](TensorDesc&) { return Status(); });
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return change(CALL(desc, numDims, dims), desc,
                [&](TensorDesc&) { return check_sizes(numDims, dims); });
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  return change(CALL(desc, memType), desc, [&](TensorDesc&) -> Status {
    const int32_t type = number_of(memType);
    if (type >= ACL_MEMTYPE_DEVICE && type <= ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT) return {};
    return fail("option-unknown"_rule, kAclInvalidParam, "memType is ", type,
                "; it must be one of aclMemType, 0 to 2");
  });
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
  return change(CALL(desc, dataBuffer, length), desc, [&](TensorDesc&) -> Status {
    if (dataBuffer != nullptr && length > 0) return {};
    return fail("argument-null"_rule, kAclInvalidParam, "dataBuffer is null, or length is 0");
  });
}

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  return create<aclDataBuffer>(CALL(data, size), data_buffers(), [&](auto& out) -> Status {
    out = std::make_shared<DataBuffer>(DataBuffer{data, size});
    return {};
  });
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return destroy(CALL(dataBuffer), "dataBuffer", data_buffers(), dataBuffer);
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return entry(CALL(dataBuffer, data, size), [&]() -> Status {
    std::shared_ptr<const DataBuffer> found;
    RETURN_IF_FAILED(find("dataBuffer", data_buffers(), dataBuffer, found));
    data_buffers().replace(dataBuffer, std::make_shared<DataBuffer>(DataBuffer{data, size}));
    return {};
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return get(CALL(dataBuffer), "dataBuffer", data_buffers(), dataBuffer,
             static_cast<void*>(nullptr), [](const DataBuffer& found) { return found.data; });
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return get(CALL(dataBuffer), "dataBuffer", data_buffers(), dataBuffer, uint32_t{0},
             [](const DataBuffer& found) { return static_cast<uint32_t>(found.size); });
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return get(CALL(dataBuffer), "dataBuffer", data_buffers(), dataBuffer, size_t{0},
             [](const DataBuffer& found) { return found.size; });
}

aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
  return entry(CALL(opt, value), [&] { return set_compile_option(number_of(opt), value); });
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
  std::string value;
  entry(CALL(opt), [&] { return compile_option(number_of(opt), value); });
  return value.empty() ? 0 : value.size() + 1;
}

aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
  return entry(CALL(opt, length), [&]() -> Status {
    std::string found;
    RETURN_IF_FAILED(compile_option(number_of(opt), found));
    RETURN_IF_FAILED(check_output("value", value));
    if (found.size() >= length)
      return fail("text-room"_rule, kAclInvalidParam, "length is ", length,
                  ", but the text and its null character have ", found.size() + 1, " bytes");
    std::memcpy(value, found.c_str(), found.size() + 1);
    return {};
  });
}

aclError aclopSetCompileFlag(aclOpCompileFlag flag) {
  return entry(CALL(flag), [&]() -> Status {
    if (number_of(flag) == ACL_OP_COMPILE_DEFAULT || number_of(flag) == ACL_OP_COMPILE_FUZZ)
      return {};
    return fail("option-unknown"_rule, kAclInvalidParam, "flag is ", number_of(flag),
                "; it must be one of aclOpCompileFlag, 0 or 1");
  });
}

}  // extern "C"
