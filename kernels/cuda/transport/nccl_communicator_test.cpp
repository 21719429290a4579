// Communicators against an NCCL that only counts calls: splitting one needs no GPU.
#include "kernels/cuda/transport/nccl_communicator.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace tidemark::kernels {
namespace {

struct Calls {
  ncclResult_t state_of_whole = ncclInProgress, state_of_part = ncclInProgress;
  ncclResult_t split = ncclInProgress;
  ncclComm_t* part = nullptr;  // where a thread of NCCL is to put it
  int color = -1, key = -1, policy = 0, blocking = 1;
  int aborts = 0;
};
Calls split_calls;

const ncclComm_t kWhole = reinterpret_cast<ncclComm_t>(&split_calls.color);
const ncclComm_t kPart = reinterpret_cast<ncclComm_t>(&split_calls.key);

NcclApi splitting_nccl() {
  split_calls = Calls{};
  NcclApi api;
  api.get_error_string = [](ncclResult_t) { return "said NCCL"; };
  api.get_last_error = [](ncclComm_t) { return ""; };
  api.comm_init_rank_config = [](ncclComm_t* comm, int, ncclUniqueId, int, ncclConfig_t*) {
    *comm = kWhole;
    return ncclInProgress;
  };
  api.comm_split = [](ncclComm_t, int color, int key, ncclComm_t* part, ncclConfig_t* config) {
    split_calls.color = color;
    split_calls.key = key;
    split_calls.part = part;
    split_calls.policy = config->CTAPolicy;
    split_calls.blocking = config->blocking;
    return split_calls.split;
  };
  api.comm_get_async_error = [](ncclComm_t comm, ncclResult_t* state) {
    *state = comm == kWhole ? split_calls.state_of_whole : split_calls.state_of_part;
    return ncclSuccess;
  };
  api.comm_abort = [](ncclComm_t) {
    ++split_calls.aborts;
    return ncclSuccess;
  };
  return api;
}

class NcclSplit : public testing::Test {
 protected:
  NcclApi api_ = splitting_nccl();
  NcclCommunicator whole_{api_, NcclId{}, 2, 4, {}};
};

TEST_F(NcclSplit, AsksForItsMembersWithoutABlockingCall) {
  const NcclCommunicator part(whole_, 1, 3, {.copy_engines = true});

  EXPECT_EQ(split_calls.color, 1);
  EXPECT_EQ(split_calls.key, 3);
  EXPECT_EQ(split_calls.policy, NCCL_CTA_POLICY_ZERO);
  EXPECT_EQ(split_calls.blocking, 0);
}

TEST_F(NcclSplit, IsInProgressUntilNcclHasGivenItAndItIsDoneItself) {
  NcclCommunicator part(whole_, 0, 0, {});
  EXPECT_TRUE(part.in_progress("split"));

  split_calls.state_of_whole = ncclSuccess;
  EXPECT_TRUE(part.in_progress("split"));  // not given yet
  *split_calls.part = kPart;
  EXPECT_TRUE(part.in_progress("split"));
  EXPECT_TRUE(part.in_progress("split"));  // given, and busy

  split_calls.state_of_part = ncclSuccess;
  EXPECT_FALSE(part.in_progress("split"));
  EXPECT_EQ(part.get(), kPart);
}

TEST_F(NcclSplit, AnErrorOfTheWholeIsOne) {
  NcclCommunicator part(whole_, 0, 0, {});
  split_calls.state_of_whole = ncclRemoteError;

  EXPECT_THROW((void)part.in_progress("split"), Error);
}

TEST_F(NcclSplit, ARefusalIsAnError) {
  split_calls.split = ncclInvalidUsage;

  EXPECT_THROW(NcclCommunicator(whole_, 0, 0, {}), Error);
  EXPECT_EQ(split_calls.aborts, 0);
}

TEST_F(NcclSplit, WhatNcclGivesTooLateHarmsNobody) {
  std::optional<NcclCommunicator> part(std::in_place, whole_, 0, 0, NcclMeans{});
  part.reset();

  *split_calls.part = kPart;  // where nothing else lies by now
  EXPECT_EQ(split_calls.aborts, 0);
}

TEST_F(NcclSplit, IsAbortedOnceItIsThere) {
  split_calls.state_of_whole = ncclSuccess;
  {
    NcclCommunicator part(whole_, 0, 0, {});
    *split_calls.part = kPart;
    (void)part.in_progress("split");
  }

  EXPECT_EQ(split_calls.aborts, 1);
}

}  // namespace
}  // namespace tidemark::kernels
