// SPDX-License-Identifier: Apache-2.0
// Collectives of the C API.
#include "hccl/collective.h"
#include "hccl/hccl.h"
#include "hccl/reduce.h"

using namespace softnpu;
using namespace softnpu::hccl;

namespace {

using Group = std::shared_ptr<Communicator>;

// Callers may pass any numbers.
struct Reduction {
  int32_t type;  // an HcclDataType
  int32_t op;    // an HcclReduceOp
  uint64_t count;
};

// A reduction whose results go to all ranks or to `root`.
Status launch_reduction(const Call& call, const Group& group, void* stream, Buffer from, Buffer to,
                        Reduction how, int64_t root) {
  RETURN_IF_FAILED(check_op(how.op));
  const bool is_receiver = root < 0 || group->rank() == root;
  std::vector<Buffer> buffers{from};
  if (is_receiver) buffers.push_back(to);
  return hccl::launch(call, stream, buffers, [=] {
    return group->reduce([&](uint32_t) { return from.at(); }, is_receiver ? to.at() : nullptr,
                         how.count, static_cast<HcclDataType>(how.type),
                         static_cast<HcclReduceOp>(how.op),
                         [&](uint32_t rank) { return root < 0 || rank == root; });
  });
}

// The part of a buffer that a rank has.
struct Part {
  uint64_t first, count;
};
using Parts = std::vector<Part>;

Parts equal_parts(uint32_t ranks, uint64_t count) {
  Parts parts;
  for (uint32_t rank = 0; rank < ranks; ++rank) parts.push_back({rank * count, count});
  return parts;
}

Parts parts_of(const void* counts, const void* displacements, uint32_t ranks) {
  Parts parts;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    parts.push_back({static_cast<const uint64_t*>(displacements)[rank],
                     static_cast<const uint64_t*>(counts)[rank]});
  return parts;
}

// The elements up to the last one of a part.
uint64_t extent(const Parts& parts) {
  uint64_t end = 0;
  for (const Part& part : parts)
    if (part.count > 0) end = std::max(end, part.first + part.count);
  return end;
}

std::vector<Message> messages(const Buffer& buffer, const Parts& parts) {
  const size_t item = item_size(buffer.type);
  std::vector<Message> all;
  for (uint32_t rank = 0; rank < parts.size(); ++rank)
    if (parts[rank].count > 0)
      all.push_back({rank, buffer.at(parts[rank].first * item), parts[rank].count * item});
  return all;
}

// Every rank sends a part to each rank, and receives one.
Status launch_exchange(const Call& call, const Group& group, void* stream, Buffer from,
                       const Parts& sent, Buffer to, const Parts& received) {
  from.count = extent(sent);
  to.count = extent(received);
  return hccl::launch(call, stream, {from, to}, [=] {
    return group->exchange(messages(from, sent), messages(to, received));
  });
}

Status check_items(const HcclSendRecvItem* items, uint32_t count, const Communicator& group,
                   std::vector<Buffer>& buffers) {
  if (items == nullptr) return fail("hccl-pointer-null"_rule, kPtr, "sendRecvInfo is null");
  for (uint32_t i = 0; i < count; ++i) {
    const HcclSendRecvItem& item = items[i];
    const int32_t kind = number_of(item.sendRecvType);
    if (kind != HCCL_SEND && kind != HCCL_RECV)
      return fail("hccl-argument"_rule, kPara, "sendRecvInfo[", i, "].sendRecvType is ", kind,
                  "; it must be HCCL_SEND or HCCL_RECV");
    RETURN_IF_FAILED(check_rank(text("sendRecvInfo[", i, "].remoteRank"), item.remoteRank, group));
    buffers.push_back({"buf", item.buf, item.count, number_of(item.dataType), kind == HCCL_RECV});
  }
  return {};
}

}  // namespace

extern "C" {

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  const auto call = CALL(sendBuf, recvBuf, count, dataType, op, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) {
    return launch_reduction(call, group, stream,
                            {"sendBuf", sendBuf, count, number_of(dataType), false},
                            {"recvBuf", recvBuf, count, number_of(dataType), true},
                            {number_of(dataType), number_of(op), count}, -1);
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream) {
  const auto call = CALL(sendBuf, recvBuf, count, dataType, op, root, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) -> Status {
    RETURN_IF_FAILED(check_rank("root", root, *group));
    return launch_reduction(call, group, stream,
                            {"sendBuf", sendBuf, count, number_of(dataType), false},
                            {"recvBuf", recvBuf, count, number_of(dataType), true},
                            {number_of(dataType), number_of(op), count}, root);
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream) {
  const auto call = CALL(sendBuf, recvBuf, recvCount, dataType, op, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) -> Status {
    const int32_t type = number_of(dataType), kind = number_of(op);
    RETURN_IF_FAILED(check_op(kind));
    const Buffer from{"sendBuf", sendBuf, recvCount * group->ranks(), type, false};
    const Buffer to{"recvBuf", recvBuf, recvCount, type, true};
    return hccl::launch(call, stream, {from, to}, [=] {
      const size_t part = to.bytes();
      return group->reduce([&](uint32_t receiver) { return from.at(receiver * part); }, to.at(),
                           recvCount, static_cast<HcclDataType>(type),
                           static_cast<HcclReduceOp>(kind), [](uint32_t) { return true; });
    });
  });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream) {
  const auto call = CALL(buf, count, dataType, root, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) -> Status {
    RETURN_IF_FAILED(check_rank("root", root, *group));
    const bool is_root = group->rank() == root;
    const Buffer buffer{"buf", buf, count, number_of(dataType), !is_root};
    return hccl::launch(call, stream, {buffer}, [=] {
      std::vector<Message> sent, received;
      for (uint32_t rank = 0; is_root && rank < group->ranks(); ++rank)
        if (rank != root) sent.push_back({rank, buffer.at(), buffer.bytes()});
      if (!is_root) received.push_back({root, buffer.at(), buffer.bytes()});
      return group->exchange(std::move(sent), std::move(received));
    });
  });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream) {
  const auto call = CALL(sendBuf, recvBuf, recvCount, dataType, root, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) -> Status {
    RETURN_IF_FAILED(check_rank("root", root, *group));
    const Buffer from{"sendBuf", sendBuf, 0, number_of(dataType), false};
    const Buffer to{"recvBuf", recvBuf, 0, number_of(dataType), true};
    const bool is_root = group->rank() == root;
    Parts received(group->ranks());
    received[root] = {0, recvCount};
    return launch_exchange(call, group, stream, from,
                           is_root ? equal_parts(group->ranks(), recvCount) : Parts(), to,
                           received);
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
  const auto call = CALL(sendBuf, recvBuf, sendCount, dataType, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) {
    return launch_exchange(call, group, stream, {"sendBuf", sendBuf, 0, number_of(dataType), false},
                           Parts(group->ranks(), {0, sendCount}),
                           {"recvBuf", recvBuf, 0, number_of(dataType), true},
                           equal_parts(group->ranks(), sendCount));
  });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void* recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream) {
  const auto call = CALL(sendBuf, sendCount, sendType, recvBuf, recvCount, recvType, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) {
    return launch_exchange(call, group, stream, {"sendBuf", sendBuf, 0, number_of(sendType), false},
                           equal_parts(group->ranks(), sendCount),
                           {"recvBuf", recvBuf, 0, number_of(recvType), true},
                           equal_parts(group->ranks(), recvCount));
  });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream) {
  const auto call = CALL(sendBuf, sendCounts, sdispls, sendType, recvBuf, recvCounts, rdispls,
                         recvType, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) -> Status {
    for (const void* list : {sendCounts, sdispls, recvCounts, rdispls})
      if (list == nullptr)
        return fail("hccl-pointer-null"_rule, kPtr, "a list of counts or displacements is null");
    return launch_exchange(call, group, stream, {"sendBuf", sendBuf, 0, number_of(sendType), false},
                           parts_of(sendCounts, sdispls, group->ranks()),
                           {"recvBuf", recvBuf, 0, number_of(recvType), true},
                           parts_of(recvCounts, rdispls, group->ranks()));
  });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  const auto call = CALL(comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) {
    return hccl::launch(call, stream, {}, [=] {
      std::byte mine{};
      std::vector<std::byte> others(group->ranks());
      std::vector<Message> sent, received;
      for (uint32_t rank = 0; rank < group->ranks(); ++rank) {
        sent.push_back({rank, &mine, 1});
        received.push_back({rank, &others[rank], 1});
      }
      return group->exchange(std::move(sent), std::move(received));
    });
  });
}

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream) {
  const auto call = CALL(sendBuf, count, dataType, destRank, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) -> Status {
    RETURN_IF_FAILED(check_rank("destRank", destRank, *group));
    const Buffer from{"sendBuf", sendBuf, count, number_of(dataType), false};
    return hccl::launch(call, stream, {from},
                        [=] { return group->exchange({{destRank, from.at(), from.bytes()}}, {}); });
  });
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream) {
  const auto call = CALL(recvBuf, count, dataType, srcRank, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) -> Status {
    RETURN_IF_FAILED(check_rank("srcRank", srcRank, *group));
    const Buffer to{"recvBuf", recvBuf, count, number_of(dataType), true};
    return hccl::launch(call, stream, {to},
                        [=] { return group->exchange({}, {{srcRank, to.at(), to.bytes()}}); });
  });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
  const auto call = CALL(sendRecvInfo, itemNum, comm, stream);
  return hccl::entry(call, comm, [&](const Group& group) -> Status {
    std::vector<Buffer> buffers;
    RETURN_IF_FAILED(check_items(sendRecvInfo, itemNum, *group, buffers));
    std::vector<uint32_t> peers;
    for (uint32_t i = 0; i < itemNum; ++i) peers.push_back(sendRecvInfo[i].remoteRank);
    return hccl::launch(call, stream, buffers, [=] {
      std::vector<Message> sent, received;
      for (size_t i = 0; i < buffers.size(); ++i)
        (buffers[i].is_written ? received : sent)
            .push_back({peers[i], buffers[i].at(), buffers[i].bytes()});
      return group->exchange(std::move(sent), std::move(received));
    });
  });
}
}
