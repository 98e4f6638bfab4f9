// SPDX-License-Identifier: Apache-2.0
// Communicators of the C API.
#include <algorithm>
#include <cstring>

#include "hccl/collective.h"
#include "hccl/hccl.h"

using namespace softnpu;
using namespace softnpu::hccl;

namespace {

constexpr std::string_view kMark = "softnpu:";  // begins a root info, before the path of the file

template <class T>
Status check_pointer(std::string_view name, const T* pointer) {
  if (pointer != nullptr) return {};
  return fail("hccl-pointer-null"_rule, kPtr, name, " is null");
}

template <class T>
Status store(std::string_view name, T* out, T value) {
  RETURN_IF_FAILED(check_pointer(name, out));
  *out = value;
  return {};
}

Status check_ranks(uint32_t ranks, uint32_t rank) {
  if (ranks == 0 || ranks > kMostRanks)
    return fail("hccl-argument"_rule, kPara, "nRanks is ", ranks, "; it must be 1 to ", kMostRanks);
  if (rank >= ranks)
    return fail("hccl-argument"_rule, kPara, "rank is ", rank, "; it must be below nRanks, ",
                ranks);
  return {};
}

std::string name_of(const HcclCommConfig* config, const std::string& path) {
  const char* const given = config == nullptr ? "" : config->hcclCommName;
  const size_t length = strnlen(given, HCCL_COMM_NAME_MAX_LENGTH - 1);
  return length > 0 ? std::string(given, length) : path.substr(path.rfind('/') + 1);
}

HcclResult join(const Call& call, uint32_t ranks, const HcclRootInfo* root, uint32_t rank,
                const HcclCommConfig* config, HcclComm* comm) {
  return hccl::entry(call, [&]() -> Status {
    RETURN_IF_FAILED(check_pointer("comm", comm));
    *comm = nullptr;
    RETURN_IF_FAILED(check_pointer("rootInfo", root));
    RETURN_IF_FAILED(check_ranks(ranks, rank));
    const std::string_view text(root->internal, strnlen(root->internal, sizeof root->internal));
    if (!text.starts_with(kMark))
      return fail("hccl-group"_rule, kPara, "rootInfo is not from HcclGetRootInfo");
    const std::string path(text.substr(kMark.size()));
    std::shared_ptr<Channels> channels;
    RETURN_IF_FAILED(Channels::join(path, ranks, rank, channels));
    RETURN_IF_FAILED(channels->wait_for_all());
    *comm = add(std::make_shared<Communicator>(std::move(channels), name_of(config, path)));
    return {};
  });
}

}  // namespace

extern "C" {

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return hccl::entry(CALL(rootInfo), [&]() -> Status {
    RETURN_IF_FAILED(check_pointer("rootInfo", rootInfo));
    std::string path;
    RETURN_IF_FAILED(Channels::create(path));
    *rootInfo = {};
    (void)(std::string(kMark) + path).copy(rootInfo->internal, sizeof rootInfo->internal - 1);
    return {};
  });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                HcclComm* comm) {
  return join(CALL(nRanks, rootInfo, rank, comm), nRanks, rootInfo, rank, nullptr, comm);
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
  return join(CALL(nRanks, rootInfo, rank, config, comm), nRanks, rootInfo, rank, config, comm);
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  return hccl::entry(CALL(ndev, devices, comms), [&]() -> Status {
    RETURN_IF_FAILED(check_pointer("devices", devices));
    RETURN_IF_FAILED(check_pointer("comms", comms));
    RETURN_IF_FAILED(check_ranks(ndev, 0));
    std::string path;
    RETURN_IF_FAILED(Channels::create(path));
    std::vector<std::shared_ptr<Channels>> all(ndev);
    for (uint32_t rank = 0; rank < ndev; ++rank)
      RETURN_IF_FAILED(Channels::join(path, ndev, rank, all[rank]));
    RETURN_IF_FAILED(all.front()->wait_for_all());
    for (uint32_t rank = 0; rank < ndev; ++rank)
      comms[rank] =
          add(std::make_shared<Communicator>(std::move(all[rank]), name_of(nullptr, path)));
    return {};
  });
}

HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm) {
  return hccl::entry(CALL(clusterInfo, rank, comm), [&] {
    return fail("hccl-argument"_rule, kNotSupport,
                "softnpu reads no tables of ranks; use HcclCommInitRootInfo");
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  return hccl::entry(CALL(comm), [&] { return remove(comm); });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return hccl::entry(CALL(comm, rankSize), comm, [&](const auto& group) {
    return store("rankSize", rankSize, group->ranks());
  });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return hccl::entry(CALL(comm, rank), comm,
                     [&](const auto& group) { return store("rank", rank, group->rank()); });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  return hccl::entry(CALL(comm, static_cast<const void*>(commName)), comm,
                     [&](const auto& group) -> Status {
                       RETURN_IF_FAILED(check_pointer("commName", commName));
                       std::memset(commName, 0, HCCL_COMM_NAME_MAX_LENGTH);
                       group->name().copy(commName, HCCL_COMM_NAME_MAX_LENGTH - 1);
                       return {};
                     });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  return hccl::entry(CALL(comm, asyncError), comm, [&](const auto& group) {
    return store("asyncError", asyncError, static_cast<HcclResult>(group->failure()));
  });
}

const char* HcclGetErrorString(HcclResult code) {
  constexpr const char* kNames[] = {"no error",
                                    "invalid parameter",
                                    "null pointer",
                                    "out of memory",
                                    "internal error",
                                    "not supported",
                                    "not found",
                                    "not available",
                                    "system call",
                                    "timeout",
                                    "opening a file",
                                    "TCP connection",
                                    "RoCE connection",
                                    "TCP transfer",
                                    "RoCE transfer",
                                    "runtime",
                                    "driver",
                                    "profiling",
                                    "CCE",
                                    "network",
                                    "try again",
                                    "remote rank",
                                    "suspending"};
  const auto number = static_cast<size_t>(number_of(code));
  return number < std::size(kNames) ? kNames[number] : "unknown error";
}

void HcclCommConfigInit(HcclCommConfig* config) {
  constexpr uint32_t kBufferMegabytes = 200;
  if (config != nullptr) *config = {{}, kBufferMegabytes, 0, {}};
}

uint32_t HcclGetCommConfigCapability() { return 0b111; }
}
