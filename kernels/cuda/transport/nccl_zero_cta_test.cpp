// The transport by copy engines as far as it goes without a GPU.
#include "kernels/cuda/transport/nccl_zero_cta.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::kernels {
namespace {

NcclApi quiet_nccl() {
  NcclApi api;
  api.get_error_string = [](ncclResult_t) { return "said NCCL"; };
  api.get_last_error = [](ncclComm_t) { return ""; };
  api.comm_init_rank_config = [](ncclComm_t* comm, int, ncclUniqueId, int, ncclConfig_t*) {
    static int is_there;
    *comm = reinterpret_cast<ncclComm_t>(&is_there);
    return ncclSuccess;
  };
  api.comm_get_async_error = [](ncclComm_t, ncclResult_t* state) {
    *state = ncclSuccess;
    return ncclSuccess;
  };
  api.comm_abort = [](ncclComm_t) { return ncclSuccess; };
  api.comm_finalize = [](ncclComm_t) { return ncclSuccess; };
  api.comm_destroy = [](ncclComm_t) { return ncclSuccess; };
  return api;
}

class NcclZeroCta : public testing::Test {
 protected:
  template <class Call>
  static std::string words_of(Call call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  NcclApi api_ = quiet_nccl();
  NcclZeroCtaTransport transport_{
      api_, std::make_unique<NcclCommunicator>(api_, NcclId{}, 1, 3, NcclMeans{}), 1, 3};
  PanelBuffer panel_{.id = 7, .row_bytes = 16, .shards = {{1, 0, 4}}};
};

TEST_F(NcclZeroCta, APanelOfOneMemberIsThereAtOnce) {
  transport_.start(panel_);

  EXPECT_TRUE(transport_.ready(7, 0));
}

TEST_F(NcclZeroCta, APanelOfOthersIsRefused) {
  panel_.shards = {{0, 0, 4}, {2, 4, 4}};

  EXPECT_NE(words_of([&] { transport_.start(panel_); }).find("rank 1 owns no shard"),
            std::string::npos);
}

TEST_F(NcclZeroCta, NothingIsReadyThatWasNotStarted) {
  EXPECT_EQ(words_of([&] { (void)transport_.ready(7, 0); }), "panel 7 was never started");
}

TEST_F(NcclZeroCta, BehindAnAbortNothingStartsOrIsReady) {
  transport_.start(panel_);
  transport_.abort();

  EXPECT_EQ(words_of([&] { (void)transport_.ready(7, 0); }), "the NCCL transport was aborted");
  EXPECT_EQ(words_of([&] { transport_.start(panel_); }), "the NCCL transport was aborted");
}

}  // namespace
}  // namespace tidemark::kernels
