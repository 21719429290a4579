// The transport against an NCCL that only counts calls: what it does when peers are missing or gone
// needs no GPU.
#include "kernels/cuda/transport/nccl.hpp"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

/// What the counting NCCL answers and was asked. Function pointers carry no state, hence the one
/// object; each test starts with a fresh one.
struct Calls {
  ncclResult_t init = ncclInProgress;
  ncclResult_t state = ncclSuccess;
  int groups = 0;
  int finalisations = 0;
  int destructions = 0;
  int aborts = 0;
  int most_ctas = 0;
};
Calls calls;

NcclApi counting_nccl() {
  calls = Calls{};
  NcclApi api;
  api.get_error_string = [](ncclResult_t) { return "said NCCL"; };
  api.get_last_error = [](ncclComm_t) { return ""; };
  api.comm_init_rank_config = [](ncclComm_t* comm, int, ncclUniqueId, int, ncclConfig_t* config) {
    calls.most_ctas = config->maxCTAs;
    *comm = reinterpret_cast<ncclComm_t>(&calls);
    return calls.init;
  };
  api.comm_get_async_error = [](ncclComm_t, ncclResult_t* state) {
    *state = calls.state;
    return ncclSuccess;
  };
  api.comm_finalize = [](ncclComm_t) {
    ++calls.finalisations;
    return ncclSuccess;
  };
  api.comm_destroy = [](ncclComm_t) {
    ++calls.destructions;
    return ncclSuccess;
  };
  api.comm_abort = [](ncclComm_t) {
    ++calls.aborts;
    return ncclSuccess;
  };
  api.group_start = [] {
    ++calls.groups;
    return ncclSuccess;
  };
  return api;
}

/// What the Error says that `call` throws. Tests look at the words: without a GPU, a panel that is
/// launched where it should have been refused ends in an Error, too.
template <class Call>
std::string words_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::byte memory[64];

PanelBuffer panel_of_two() {
  return {
      .id = 4,
      .base = memory,
      .row_bytes = 8,
      .shards = {{.owner = 0, .first_row = 0, .rows = 4}, {.owner = 1, .first_row = 4, .rows = 4}}};
}

TEST(NcclTransportJoin, EndsByItsBoundWhenAPeerIsMissing) {
  const NcclApi api = counting_nccl();
  calls.state = ncclInProgress;
  NcclTransport transport(api, NcclId{}, 1, 3);

  const std::string words = words_of([&] { transport.join(0.01); });

  EXPECT_NE(words.find("rank 1: not all 3 ranks joined"), std::string::npos) << words;
}

TEST(NcclTransportJoin, GivesUpTheCommunicatorThatNeverCameAbout) {
  const NcclApi api = counting_nccl();
  calls.state = ncclInProgress;
  {
    NcclTransport transport(api, NcclId{}, 1, 3);
    (void)words_of([&] { transport.join(0.01); });
  }

  EXPECT_EQ(calls.aborts, 1);
  EXPECT_EQ(calls.destructions, 0);
}

TEST(NcclTransportJoin, SaysWhatNcclSays) {
  const NcclApi api = counting_nccl();
  calls.state = ncclRemoteError;
  NcclTransport transport(api, NcclId{}, 0, 2);

  const std::string words = words_of([&] { transport.join(10); });

  EXPECT_NE(words.find("said NCCL (6)"), std::string::npos) << words;
}

TEST(NcclTransportJoin, ARefusedInitialisationIsAnErrorAndFreesTheCommunicator) {
  const NcclApi api = counting_nccl();
  calls.init = ncclInvalidArgument;

  EXPECT_THROW(NcclTransport(api, NcclId{}, 0, 2), Error);
  EXPECT_EQ(calls.aborts, 1);
}

TEST(NcclTransportJoin, KeepsToTheSmsThatItIsGiven) {
  const NcclApi api = counting_nccl();
  const NcclTransport all(api, NcclId{}, 0, 2);
  EXPECT_EQ(calls.most_ctas, NCCL_CONFIG_UNDEF_INT);

  const NcclTransport few(api, NcclId{}, 0, 2, 8);
  EXPECT_EQ(calls.most_ctas, 8);
}

TEST(NcclTransportEnd, LeavesInOrderWhenNothingIsInFlight) {
  const NcclApi api = counting_nccl();
  {
    NcclTransport transport(api, NcclId{}, 0, 2);
    transport.join(10);
  }

  EXPECT_EQ(calls.finalisations, 1);
  EXPECT_EQ(calls.destructions, 1);
  EXPECT_EQ(calls.aborts, 0);
}

TEST(NcclTransportEnd, AbortsWithAPanelUnfinished) {
  const NcclApi api = counting_nccl();
  {
    NcclTransport transport(api, NcclId{}, 0, 2);
    transport.join(10);
    calls.state = ncclInProgress;
    transport.start(panel_of_two());
  }

  EXPECT_EQ(calls.aborts, 1);
  EXPECT_EQ(calls.finalisations, 0);
}

TEST(NcclTransportEnd, AbortFreesTheCommunicatorOnce) {
  const NcclApi api = counting_nccl();
  {
    NcclTransport transport(api, NcclId{}, 0, 2);
    transport.join(10);
    transport.abort();
    transport.abort();
  }

  EXPECT_EQ(calls.aborts, 1);
}

// Two communicators that wait for the same lost rank: NCCL frees nothing of the first before the
// second is aborted.
TEST(NcclTransportEnd, AnAbortThatDoesNotEndIsLeftBehind) {
  NcclApi api = counting_nccl();
  static std::promise<void> all_aborted;
  static const std::shared_future<void> second_abort = all_aborted.get_future().share();
  static std::promise<void> first_ended;
  api.comm_abort = [](ncclComm_t) {
    second_abort.wait();
    first_ended.set_value();
    return ncclSuccess;
  };
  {
    NcclTransport transport(api, NcclId{}, 0, 2);
    transport.abort();
  }

  all_aborted.set_value();
  first_ended.get_future().wait();  // the thread is done with this test
}

TEST(NcclTransportStart, ABusyCommunicatorQueuesThePanel) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 0, 2);
  transport.join(10);
  calls.state = ncclInProgress;

  transport.start(panel_of_two());

  EXPECT_EQ(calls.groups, 0);
  EXPECT_FALSE(transport.ready(4, 0));
  EXPECT_FALSE(transport.ready(4, 1));
}

TEST(NcclTransportStart, LaunchesNothingUntilAllPanelsOfTheGroupAreStarted) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 0, 2);
  transport.join(10);
  PanelBuffer second = panel_of_two();
  second.id = 5;

  transport.start(panel_of_two());
  transport.start(second);

  EXPECT_EQ(calls.groups, 0);
}

TEST(NcclTransportStart, RefusesAPanelThatIsStillBeingGathered) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 0, 2);
  transport.join(10);
  calls.state = ncclInProgress;
  transport.start(panel_of_two());

  const std::string words = words_of([&] { transport.start(panel_of_two()); });

  EXPECT_NE(words.find("panel 4 is started again"), std::string::npos) << words;
}

TEST(NcclTransportStart, RefusesAPanelOfOthers) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 2, 3);
  transport.join(10);

  const std::string words = words_of([&] { transport.start(panel_of_two()); });

  EXPECT_EQ(words, "panel 4: rank 2 owns no shard of it and may not start it");
}

TEST(NcclTransportStart, RefusesARankThatDoesNotExist) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 0, 1);
  transport.join(10);

  const std::string words = words_of([&] { transport.start(panel_of_two()); });

  EXPECT_EQ(words, "panel 4: a shard belongs to rank 1, but there are 1 ranks");
}

TEST(NcclTransportStart, AfterAnAbortIsAnError) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 0, 2);
  transport.join(10);
  transport.abort();

  const std::string words = words_of([&] { transport.start(panel_of_two()); });

  EXPECT_EQ(words, "the NCCL transport was aborted");
}

TEST(NcclTransportReady, APanelWithNothingToMoveIsReadyAtOnce) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 0, 1);
  transport.join(10);

  transport.start({.id = 9,
                   .base = memory,
                   .row_bytes = 8,
                   .shards = {{.owner = 0, .first_row = 0, .rows = 8}}});

  EXPECT_TRUE(transport.ready(9, 0));
  EXPECT_EQ(calls.groups, 0);
}

TEST(NcclTransportReady, APeerThatHungUpIsAnError) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 0, 2);
  transport.join(10);
  calls.state = ncclInProgress;
  transport.start(panel_of_two());
  calls.state = ncclRemoteError;

  const std::string words = words_of([&] { (void)transport.ready(4, 1); });

  EXPECT_NE(words.find("said NCCL (6)"), std::string::npos) << words;
}

TEST(NcclTransportReady, APanelThatWasNeverStartedIsAnError) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 0, 2);
  transport.join(10);

  const std::string words = words_of([&] { (void)transport.ready(5, 0); });

  EXPECT_EQ(words, "panel 5 was never started");
}

TEST(NcclTransportReady, AShardThatDoesNotExistIsAnError) {
  const NcclApi api = counting_nccl();
  NcclTransport transport(api, NcclId{}, 0, 1);
  transport.join(10);
  transport.start({.id = 9,
                   .base = memory,
                   .row_bytes = 8,
                   .shards = {{.owner = 0, .first_row = 0, .rows = 8}}});

  const std::string words = words_of([&] { (void)transport.ready(9, 1); });

  EXPECT_EQ(words, "panel 9 has 1 shards, not 2");
}

// What a person reads where NCCL is missing, too old or failing.

std::string words_of(const char* library) {
  try {
    (void)load_nccl(library);
  } catch (const Error& error) {
    return error.what();
  }
  return "loaded";
}

TEST(LoadNccl, SaysWhichLibraryIsMissingAndWhatToDo) {
  const std::string words = words_of("libnccl_that_is_nowhere.so.2");

  EXPECT_NE(words.find("libnccl_that_is_nowhere.so.2"), std::string::npos) << words;
  EXPECT_NE(words.find("LD_LIBRARY_PATH"), std::string::npos) << words;
}

TEST(LoadNccl, SaysWhichFunctionALibraryLacks) {
  const std::string words = words_of("libc.so.6");

  EXPECT_NE(words.find("ncclGetErrorString"), std::string::npos) << words;
  EXPECT_NE(words.find("2.14"), std::string::npos) << words;
}

const char* say_broken(ncclResult_t) { return "it broke"; }
const char* say_where(ncclComm_t) { return "peer 3 hung up"; }

TEST(NcclCheck, GivesNcclsOwnWords) {
  NcclApi api;
  api.get_error_string = say_broken;
  api.get_last_error = say_where;

  try {
    nccl_check(api, ncclRemoteError, "gather panel 0");
    FAIL() << "an error passed";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "gather panel 0: NCCL: it broke (6): peer 3 hung up");
  }
}

TEST(NcclCheck, InProgressIsNoFailure) {
  EXPECT_NO_THROW(nccl_check(NcclApi{}, ncclInProgress, "gather panel 0"));
}

// Which of two transports a panel goes by.

struct RouteCalls {
  std::vector<std::uint32_t> started, asked;
  int aborts = 0;
};

class Counting final : public Transport {
 public:
  explicit Counting(RouteCalls& seen) : calls_(seen) {}
  void start(const PanelBuffer& panel) override { calls_.started.push_back(panel.id); }
  bool ready(std::uint32_t id, std::size_t /*index*/) override {
    calls_.asked.push_back(id);
    return true;
  }
  void abort() noexcept override { ++calls_.aborts; }

 private:
  RouteCalls& calls_;
};

class Routed : public testing::Test {
 protected:
  RouteCalls usual_, own_;
  RoutedTransport routed_{std::make_unique<Counting>(usual_), PanelRoute::nccl_overlap,
                          std::make_unique<Counting>(own_)};
  std::uint32_t word_ = 0;
};

using Ids = std::vector<std::uint32_t>;

TEST_F(Routed, PanelsOfTheRouteGoByItsTransport) {
  routed_.start({.id = 1, .shards = {}, .arrived = &word_, .route = PanelRoute::nccl_overlap});
  EXPECT_TRUE(routed_.ready(1, 0));
  EXPECT_EQ(own_.started, Ids{1});
  EXPECT_EQ(own_.asked, Ids{1});
  EXPECT_TRUE(usual_.started.empty());
}

TEST_F(Routed, PanelsOfOtherRoutesAndSmallOnesGoByTheUsual) {
  routed_.start({.id = 1, .shards = {}, .arrived = &word_, .route = PanelRoute::copy_engine});
  routed_.start({.id = 2, .shards = {}, .arrived = nullptr, .route = PanelRoute::nccl_overlap});
  EXPECT_TRUE(routed_.ready(2, 0));
  EXPECT_EQ(usual_.started, (Ids{1, 2}));
  EXPECT_EQ(usual_.asked, Ids{2});
  EXPECT_TRUE(own_.started.empty());
}

TEST_F(Routed, IsAskedWhereThePanelWasStartedLast) {
  routed_.start({.id = 1, .shards = {}, .arrived = &word_, .route = PanelRoute::nccl_overlap});
  routed_.start({.id = 1, .shards = {}, .arrived = &word_, .route = PanelRoute::copy_engine});
  EXPECT_TRUE(routed_.ready(1, 0));
  EXPECT_EQ(usual_.asked, Ids{1});
  EXPECT_TRUE(own_.asked.empty());
}

TEST_F(Routed, AnAbortIsOneOfBoth) {
  routed_.abort();
  EXPECT_EQ(usual_.aborts, 1);
  EXPECT_EQ(own_.aborts, 1);
}

}  // namespace

}  // namespace tidemark
