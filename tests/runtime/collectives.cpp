// SPDX-License-Identifier: Apache-2.0
// Collectives against what they are defined to give. `collectives FILE RANK RANKS` is one process
// of a group, whose first one writes the root info to FILE; `collectives RANKS` has all ranks
// itself.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"

namespace {

constexpr uint64_t kMany = 300'007;  // more than a piece and a channel have
constexpr uint64_t kFew = 5;

void must(int status, const char* what) {
  if (status == 0) return;
  const char* message = aclGetRecentErrMsg();
  std::printf("%s: %d %s\n", what, status, message == nullptr ? "" : message);
  std::exit(1);
}
#define MUST(call) must(call, #call)

void expect(bool is_true, const std::string& what) {
  if (is_true) return;
  std::printf("wrong: %s\n", what.c_str());
  std::exit(1);
}

struct Rank {
  uint32_t rank;
  HcclComm comm;
  aclrtStream stream = nullptr;
  void *from = nullptr, *to = nullptr;
};

uint32_t ranks_of_group;
std::vector<Rank> ranks;  // those of this process

// An element of what a rank sends; sums over all ranks are exact.
template <class T>
T value(uint32_t rank, uint64_t i) {
  return static_cast<T>((rank + 1) * (i % 7 + 1));
}
template <class T>
T sum(uint64_t i) {
  return static_cast<T>(ranks_of_group * (ranks_of_group + 1) / 2 * (i % 7 + 1));
}

// Has each rank send `sent` elements, and compares what it has received afterwards.
template <class T>
void step(const char* name, uint64_t sent, uint64_t received,
          const std::function<int(Rank&)>& launch,
          const std::function<T(uint32_t rank, uint64_t i)>& expected) {
  for (Rank& each : ranks) {
    std::vector<T> values(sent);
    for (uint64_t i = 0; i < sent; ++i) values[i] = value<T>(each.rank, i);
    if (sent > 0)
      MUST(aclrtMemcpy(each.from, sent * sizeof(T), values.data(), sent * sizeof(T),
                       ACL_MEMCPY_HOST_TO_DEVICE));
  }
  for (Rank& each : ranks) must(launch(each), name);
  for (Rank& each : ranks) {
    must(aclrtSynchronizeStream(each.stream), name);
    std::vector<T> found(received);
    MUST(aclrtMemcpy(found.data(), received * sizeof(T), each.to, received * sizeof(T),
                     ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint64_t i = 0; i < received; ++i)
      expect(found[i] == expected(each.rank, i),
             std::string(name) + ", rank " + std::to_string(each.rank) + ", element " +
                 std::to_string(i) + ": " + std::to_string(found[i]));
  }
}

void reductions() {
  const auto of_all = [](uint32_t, uint64_t i) { return sum<float>(i); };
  for (const uint64_t count : {kMany, kFew})
    step<float>(
        "HcclAllReduce", count, count,
        [&](Rank& r) {
          return HcclAllReduce(r.from, r.to, count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, r.comm,
                               r.stream);
        },
        of_all);
  step<int64_t>(
      "HcclAllReduce of int64", kFew, kFew,
      [](Rank& r) {
        return HcclAllReduce(r.from, r.to, kFew, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_MAX, r.comm,
                             r.stream);
      },
      [](uint32_t, uint64_t i) { return value<int64_t>(ranks_of_group - 1, i); });
  step<uint8_t>(
      "HcclAllReduce of uint8", kFew, kFew,
      [](Rank& r) {
        return HcclAllReduce(r.from, r.to, kFew, HCCL_DATA_TYPE_UINT8, HCCL_REDUCE_MIN, r.comm,
                             r.stream);
      },
      [](uint32_t, uint64_t i) { return value<uint8_t>(0, i); });
  step<float>(
      "HcclReduceScatter", kFew * ranks_of_group, kFew,
      [](Rank& r) {
        return HcclReduceScatter(r.from, r.to, kFew, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, r.comm,
                                 r.stream);
      },
      [](uint32_t rank, uint64_t i) { return sum<float>(rank * kFew + i); });
  step<float>(
      "HcclReduce", kMany, kMany,
      [](Rank& r) {
        if (r.rank != 1) MUST(aclrtMemset(r.to, kMany * sizeof(float), 0, kMany * sizeof(float)));
        return HcclReduce(r.from, r.rank == 1 ? r.to : nullptr, kMany, HCCL_DATA_TYPE_FP32,
                          HCCL_REDUCE_SUM, 1, r.comm, r.stream);
      },
      [](uint32_t rank, uint64_t i) { return rank == 1 ? sum<float>(i) : 0.0F; });
}

// 1 + 2^-8 + 2^-8: rounded once, the sum of the sixteen-bit values is not what steps would give.
void roundings() {
  for (Rank& each : ranks) {
    const uint16_t mine = each.rank == 0 ? 0x3F80 : 0x3B80;  // bfloat16: 1, 2^-8
    MUST(aclrtMemcpy(each.from, 2, &mine, 2, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  for (Rank& each : ranks)
    MUST(HcclAllReduce(each.from, each.to, 1, HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_SUM, each.comm,
                       each.stream));
  for (Rank& each : ranks) {
    MUST(aclrtSynchronizeStream(each.stream));
    uint16_t found = 0;
    MUST(aclrtMemcpy(&found, 2, each.to, 2, ACL_MEMCPY_DEVICE_TO_HOST));
    expect(ranks_of_group != 3 || found == 0x3F81, "a sum of bfloat16");
  }
}

void movements() {
  step<float>(
      "HcclBroadcast", kMany, kMany,
      [](Rank& r) {
        MUST(aclrtMemcpy(r.to, kMany * 4, r.from, kMany * 4, ACL_MEMCPY_DEVICE_TO_DEVICE));
        return HcclBroadcast(r.to, kMany, HCCL_DATA_TYPE_FP32, 1, r.comm, r.stream);
      },
      [](uint32_t, uint64_t i) { return value<float>(1, i); });
  step<int16_t>(
      "HcclScatter", kFew * ranks_of_group, kFew,
      [](Rank& r) {
        return HcclScatter(r.from, r.to, kFew, HCCL_DATA_TYPE_INT16, 0, r.comm, r.stream);
      },
      [](uint32_t rank, uint64_t i) { return value<int16_t>(0, rank * kFew + i); });
  step<float>(
      "HcclAllGather", kMany / 4, kMany / 4 * ranks_of_group,
      [](Rank& r) {
        return HcclAllGather(r.from, r.to, kMany / 4, HCCL_DATA_TYPE_FP32, r.comm, r.stream);
      },
      [](uint32_t, uint64_t i) {
        return value<float>(static_cast<uint32_t>(i / (kMany / 4)), i % (kMany / 4));
      });
  step<double>(
      "HcclAlltoAll", kFew * ranks_of_group, kFew * ranks_of_group,
      [](Rank& r) {
        return HcclAlltoAll(r.from, kFew, HCCL_DATA_TYPE_FP64, r.to, kFew, HCCL_DATA_TYPE_FP64,
                            r.comm, r.stream);
      },
      [](uint32_t rank, uint64_t i) {
        return value<double>(static_cast<uint32_t>(i / kFew), rank * kFew + i % kFew);
      });
  // Rank r sends s + 1 elements to rank s, from place 10 s on.
  step<int32_t>(
      "HcclAlltoAllV", 10 * ranks_of_group, ranks_of_group,
      [](Rank& r) {
        std::vector<uint64_t> counts, places, received, to;
        for (uint64_t s = 0; s < ranks_of_group; ++s) {
          counts.push_back(s + 1);
          places.push_back(10 * s);
          received.push_back(r.rank + 1);
          to.push_back(s * (r.rank + 1));
        }
        return HcclAlltoAllV(r.from, counts.data(), places.data(), HCCL_DATA_TYPE_INT32, r.to,
                             received.data(), to.data(), HCCL_DATA_TYPE_INT32, r.comm, r.stream);
      },
      [](uint32_t rank, uint64_t i) {
        return value<int32_t>(static_cast<uint32_t>(i / (rank + 1)), 10 * rank + i % (rank + 1));
      });
}

void between_two() {
  // Each rank sends to the next one, and receives from the one before.
  const auto before = [](uint32_t rank) { return (rank + ranks_of_group - 1) % ranks_of_group; };
  step<float>(
      "HcclBatchSendRecv", kMany, kMany,
      [&](Rank& r) {
        HcclSendRecvItem items[] = {
            {HCCL_SEND, r.from, kMany, HCCL_DATA_TYPE_FP32, (r.rank + 1) % ranks_of_group},
            {HCCL_RECV, r.to, kMany, HCCL_DATA_TYPE_FP32, before(r.rank)}};
        return HcclBatchSendRecv(items, 2, r.comm, r.stream);
      },
      [&](uint32_t rank, uint64_t i) { return value<float>(before(rank), i); });
  step<float>(
      "HcclSend and HcclRecv", kFew, kFew,
      [](Rank& r) {
        MUST(aclrtMemcpy(r.to, kFew * 4, r.from, kFew * 4, ACL_MEMCPY_DEVICE_TO_DEVICE));
        if (r.rank == 0) return HcclSend(r.from, kFew, HCCL_DATA_TYPE_FP32, 1, r.comm, r.stream);
        if (r.rank == 1) return HcclRecv(r.to, kFew, HCCL_DATA_TYPE_FP32, 0, r.comm, r.stream);
        return HCCL_SUCCESS;
      },
      [](uint32_t rank, uint64_t i) { return value<float>(rank == 1 ? 0 : rank, i); });
}

void mistakes() {
  Rank& one = ranks.front();
  float host = 0;
  const auto reduce = [&](void* from, uint64_t count, int type, int op, HcclComm comm) {
    return HcclAllReduce(from, one.to, count, static_cast<HcclDataType>(type),
                         static_cast<HcclReduceOp>(op), comm, one.stream);
  };
  expect(reduce(one.from, 1, 4, 0, nullptr) == HCCL_E_PTR, "no communicator");
  expect(reduce(one.from, 1, 4, 0, &host) == HCCL_E_PARA, "not a communicator");
  expect(reduce(nullptr, 1, 4, 0, one.comm) == HCCL_E_PTR, "no buffer");
  expect(reduce(&host, 1, 4, 0, one.comm) == HCCL_E_PARA, "host memory");
  expect(reduce(one.from, uint64_t{1} << 40, 4, 0, one.comm) == HCCL_E_PARA, "past the end");
  expect(reduce(one.from, 1, 99, 0, one.comm) == HCCL_E_PARA, "no type");
  expect(reduce(one.from, 1, 4, 7, one.comm) == HCCL_E_PARA, "no operation");
  expect(HcclBroadcast(one.to, 1, HCCL_DATA_TYPE_FP32, ranks_of_group, one.comm, one.stream) ==
             HCCL_E_PARA,
         "no root");
}

void describe(Rank& each) {
  uint32_t number = 99;
  MUST(HcclGetRankSize(each.comm, &number));
  expect(number == ranks_of_group, "the number of ranks");
  MUST(HcclGetRankId(each.comm, &number));
  expect(number == each.rank, "the rank");
  char name[HCCL_COMM_NAME_MAX_LENGTH];
  MUST(HcclGetCommName(each.comm, name));
  expect(std::strlen(name) > 0, "a name");
}

void join(const char* file, uint32_t rank) {
  HcclRootInfo root;
  const std::string unfinished = std::string(file) + ".new";
  if (rank == 0) {
    MUST(HcclGetRootInfo(&root));
    FILE* out = std::fopen(unfinished.c_str(), "wb");
    std::fwrite(&root, sizeof root, 1, out);
    std::fclose(out);
    std::rename(unfinished.c_str(), file);
  } else {
    while (access(file, R_OK) != 0) usleep(1000);
    FILE* in = std::fopen(file, "rb");
    expect(std::fread(&root, sizeof root, 1, in) == 1, "a root info");
    std::fclose(in);
  }
  ranks.resize(1);
  ranks[0].rank = rank;
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  MUST(HcclCommInitRootInfoConfig(ranks_of_group, &root, rank, &config, &ranks[0].comm));
}

// The last rank ends without a word; those that wait for it are told.
void lose_a_rank(Rank& mine) {
  if (mine.rank == ranks_of_group - 1) _exit(0);
  MUST(HcclAllReduce(mine.from, mine.to, kFew, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, mine.comm,
                     mine.stream));
  expect(aclrtSynchronizeStream(mine.stream) != 0, "a failure");
  const char* message = aclGetRecentErrMsg();
  expect(message != nullptr && std::strstr(message, "has ended") != nullptr, "its message");
  HcclResult failure = HCCL_SUCCESS;
  MUST(HcclGetCommAsyncError(mine.comm, &failure));
  expect(failure == HCCL_E_REMOTE, "the kind of failure");
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_alone = argc == 2;
  ranks_of_group = static_cast<uint32_t>(std::atoi(argv[argc - 1]));
  MUST(aclInit(nullptr));
  MUST(aclrtSetDevice(0));
  if (is_alone) {
    std::vector<int32_t> devices(ranks_of_group, 0);
    std::vector<HcclComm> comms(ranks_of_group);
    MUST(HcclCommInitAll(ranks_of_group, devices.data(), comms.data()));
    for (uint32_t rank = 0; rank < ranks_of_group; ++rank) ranks.push_back({rank, comms[rank]});
  } else {
    join(argv[1], static_cast<uint32_t>(std::atoi(argv[2])));
  }
  for (Rank& each : ranks) {
    MUST(aclrtCreateStream(&each.stream));
    for (void** buffer : {&each.from, &each.to}) {
      MUST(aclrtMalloc(buffer, kMany * 8, ACL_MEM_MALLOC_HUGE_FIRST));
      MUST(aclrtMemset(*buffer, kMany * 8, 0, kMany * 8));
    }
    describe(each);
  }
  reductions();
  roundings();
  movements();
  between_two();
  for (Rank& each : ranks) MUST(HcclBarrier(each.comm, each.stream));
  for (Rank& each : ranks) MUST(aclrtSynchronizeStream(each.stream));
  mistakes();
  if (!is_alone) lose_a_rank(ranks.front());
  for (Rank& each : ranks) {
    MUST(HcclCommDestroy(each.comm));
    expect(HcclCommDestroy(each.comm) == HCCL_E_PARA, "destroyed already");
    MUST(aclrtFree(each.from));
    MUST(aclrtFree(each.to));
    MUST(aclrtDestroyStream(each.stream));
  }
  MUST(aclrtResetDevice(0));
  MUST(aclFinalize());
  std::printf("right\n");
}
