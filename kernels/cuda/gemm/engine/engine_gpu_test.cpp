// Every configuration of the engine on the GPU, held against the reference engine on integers,
// where every order of summation gives the same bits.
#include "kernels/cuda/gemm/engine/engine.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/gemm/tuning/choice.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/gemm/gemm_inputs.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

/// Parameter: number of the configuration, from 1.
class Engine : public GpuTest, public testing::WithParamInterface<std::uint32_t> {
 protected:
  Gemm whole(std::uint64_t m, std::uint64_t n, std::uint64_t k,
             GemmOutput output = GemmOutput::bf16) const {
    Gemm gemm = whole_product({m, n, k}, GemmInputs::small_integers);
    gemm.output = output;
    gemm.configuration = GetParam();
    gemm.seed = 7;
    return gemm;
  }
};

/// The guards around C, and the padding behind the last column of every row.
void expect_surroundings_intact(const Gemm& gemm, const RunResult& result) {
  const std::size_t padding = c_padding_bytes(gemm.n, gemm.output);
  ASSERT_EQ(result.surroundings.size(), 2 * kGuardBytes + gemm.m * padding);
  for (std::uint32_t i = 0; i < 2 * kGuardBytes; ++i)
    ASSERT_EQ(result.surroundings[i], poison_byte({.seed = 7}, i)) << "guard byte " << i;
  for (std::size_t i = 0; i < gemm.m * padding; ++i)
    ASSERT_EQ(result.surroundings[2 * kGuardBytes + i], 0xff)
        << "byte " << i % padding << " behind row " << i / padding;
}

void expect_like_reference(Gemm gemm) {
  SCOPED_TRACE(testing::Message() << gemm.m << " x " << gemm.n << " x " << gemm.k);
  const RunResult engine = run_gemm(gemm);
  const Gemm asked = gemm;
  gemm.engine = GemmEngine::reference;
  const RunResult reference = run_gemm(gemm);
  ASSERT_EQ(engine.fault, DeviceFault::none) << engine.note;
  ASSERT_EQ(reference.fault, DeviceFault::none) << reference.note;
  ASSERT_EQ(engine.bytes.size(), reference.bytes.size());
  if (engine.bytes != reference.bytes) {
    const auto [at, expected] =
        std::mismatch(engine.bytes.begin(), engine.bytes.end(), reference.bytes.begin());
    const auto element =
        static_cast<std::uint64_t>(at - engine.bytes.begin()) / c_element_bytes(asked.output);
    FAIL() << "first at row " << element / gemm.n << ", column " << element % gemm.n;
  }
  expect_surroundings_intact(asked, engine);
}

TEST_P(Engine, OneElement) { expect_like_reference(whole(1, 1, 1)); }

TEST_P(Engine, OneLessAndOneMoreThanATile) {
  expect_like_reference(whole(127, 255, 63));
  expect_like_reference(whole(257, 513, 65));
}

// Clusters whose last tiles lie wholly outside of C, in either direction.
TEST_P(Engine, OddNumbersOfTiles) {
  expect_like_reference(whole(384, 300, 200));
  expect_like_reference(whole(130, 1300, 200));
  expect_like_reference(whole(1300, 130, 200));
}

// K shorter than what two blocks would share, and much longer than any ring.
TEST_P(Engine, ShortAndLongK) {
  expect_like_reference(whole(200, 300, 40));
  expect_like_reference(whole(200, 304, 128));
  expect_like_reference(whole(200, 304, 8200));
}

// The last block of k is multiplied as far as K reaches into it.
TEST_P(Engine, KEndsAnywhereWithinABlock) {
  for (const std::uint64_t k : {15U, 16U, 17U, 32U, 33U, 48U, 49U, 63U, 65U, 80U, 96U, 112U, 200U})
    expect_like_reference(whole(300, 272, k));
}

TEST_P(Engine, NothingIsWrittenBehindTheLastColumn) {
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16})
    for (const std::uint64_t columns : {1U, 3U, 6U, 8U, 255U, 260U, 264U})
      expect_like_reference(whole(130, columns, 72, output));
}

TEST_P(Engine, OutputInF32) { expect_like_reference(whole(500, 600, 1032, GemmOutput::f32)); }

// Several tiles a block: the ring runs on from one to the next, and staging is still being carried
// off when the next tile fills it.
TEST_P(Engine, RingRunsOnAcrossTiles) {
  expect_like_reference(whole(6400, 5120, 192, GemmOutput::f32));
  expect_like_reference(whole(6400, 5120, 192));
  expect_like_reference(whole(6400, 5120, 40));
}

TEST_P(Engine, LargeAndNothingRound) { expect_like_reference(whole(2047, 4097, 1031)); }

// Launches that begin early must not read or write what the one before still works on.
TEST_P(Engine, LaunchedBackToBackItLeavesTheSame) {
  const Gemm gemm = whole(500, 600, 1032);
  const Measurement measured = measure_gemm(gemm, {.warmups = 5, .samples = 20});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  const RunResult once = run_gemm(gemm);
  EXPECT_TRUE(measured.last.bytes == once.bytes);
  expect_surroundings_intact(gemm, measured.last);
}

// With stream-K each cluster has less than two tiles, whose K it shares with two others.
TEST_P(Engine, KOfManyTiles) {
  for (const std::uint64_t k : {40U, 200U, 264U, 4104U})
    expect_like_reference(whole(2560, 2300, k));
}

// Parts of K are added up in one order: twice the same bits, also where sums are rounded.
TEST_P(Engine, NormalNumbersGiveTheSameBitsTwice) {
  for (const std::uint64_t m : {500U, 5000U}) {
    Gemm gemm = whole(m, 1200, 2056, GemmOutput::f32);
    gemm.inputs = GemmInputs::normal;
    const RunResult first = run_gemm(gemm);
    const RunResult second = run_gemm(gemm);
    ASSERT_EQ(first.fault, DeviceFault::none) << first.note;
    EXPECT_TRUE(first.bytes == second.bytes);
  }
}

// A table may name another tile shape for a size: no bit of C may depend on it. With stream-K K
// is summed in another order.
TEST_P(Engine, NormalNumbersGiveTheSameBitsInEveryTileShape) {
  if (engine_configurations()[GetParam() - 1].stream_k) return;
  Gemm gemm = whole(500, 600, 2056, GemmOutput::f32);
  gemm.inputs = GemmInputs::normal;
  const RunResult result = run_gemm(gemm);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  gemm.configuration = 1;
  const RunResult by_another = run_gemm(gemm);
  ASSERT_EQ(by_another.fault, DeviceFault::none) << by_another.note;
  EXPECT_TRUE(result.bytes == by_another.bytes);
}

/// A square product in device memory: A of 1 to 7, B the identity, so that C is A.
struct TimesOne {
  // 100 tiles of 256 x 256, which stream-K shares out, in an even number of rows (gpc_rows).
  static constexpr std::uint64_t kEdge = 2560;
  static constexpr std::size_t kBytes = kEdge * kEdge * 2;
  Stream stream;
  DeviceBuffer a{kBytes}, b{kBytes}, between{kBytes}, c{kBytes};
  EngineWords words{stream.get()};
  std::vector<std::uint16_t> numbers;
  LocalGemm product;

  TimesOne() : numbers(kEdge * kEdge) {
    std::vector<std::uint16_t> one(kEdge * kEdge);
    for (std::uint64_t i = 0; i < kEdge; ++i) one[i * kEdge + i] = to_bf16(1);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = to_bf16(static_cast<float>(1 + i * 2654435761U % 7));
    copy(a.data(), numbers.data(), kBytes);
    copy(b.data(), one.data(), kBytes);
    product = {.a = a.data(),
               .b = b.data(),
               .c = c.data(),
               .pitch = kEdge,
               .ldc = kEdge,
               .m = kEdge,
               .n = kEdge,
               .k = kEdge,
               .output = GemmOutput::bf16};
  }

  void copy(void* to, const void* from, std::size_t bytes) const {
    cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get()), "copy");
    cuda_check(cudaStreamSynchronize(stream.get()), "wait for what was started");
  }
  void set_timed_out(std::uint32_t word) const { copy(words.data(), &word, sizeof(word)); }
  void start(const ReadyEngine& ready) const { start_engine(ready, words, stream.get()); }
  std::vector<std::uint32_t> all_words() const {
    std::vector<std::uint32_t> all(EngineWords::kCount, 1);
    copy(all.data(), words.data(), all.size() * sizeof(std::uint32_t));
    return all;
  }
  bool c_is_a() const {
    std::vector<std::uint16_t> found(numbers.size());
    copy(found.data(), c.data(), kBytes);
    return found == numbers;
  }
};

// The second launch multiplies what the first one makes. It may be set up before the first has
// ended, but where it also loads by then it finds NaN.
TEST_P(Engine, LoadsNothingBeforeTheLaunchBeforeItHasEnded) {
  const TimesOne made;
  const EngineConfiguration configuration = engine_configurations()[GetParam() - 1];
  LocalGemm first = made.product;
  first.c = made.between.data();
  LocalGemm second = made.product;
  second.a = made.between.data();
  const ReadyEngine makes = prepare_engine(configuration, first);
  const ReadyEngine uses = prepare_engine(configuration, second);
  for (int again = 0; again < 10; ++again) {
    for (const DeviceBuffer* poisoned : {&made.between, &made.c})
      cuda_check(cudaMemsetAsync(poisoned->data(), 0xff, TimesOne::kBytes, made.stream.get()),
                 "poison");
    made.start(makes);
    made.start(uses);
    ASSERT_TRUE(made.c_is_a()) << again;
  }
}

// Launches that follow each other early, on the same words, with other sums: none of one may be
// taken for one of the other. -A makes -A of the identity.
TEST_P(Engine, LaunchesByTurnsTakeNoSumsOfEachOther) {
  const TimesOne made;
  std::vector<std::uint16_t> negated(made.numbers);
  for (std::uint16_t& number : negated) number ^= 0x8000;
  made.copy(made.between.data(), negated.data(), TimesOne::kBytes);
  const DeviceBuffer other(TimesOne::kBytes);
  LocalGemm second = made.product;
  second.a = made.between.data();
  second.c = other.data();
  const EngineConfiguration configuration = engine_configurations()[GetParam() - 1];
  const ReadyEngine one = prepare_engine(configuration, made.product);
  const ReadyEngine two = prepare_engine(configuration, second);
  for (int again = 0; again < 10; ++again) {
    made.start(one);
    made.start(two);
  }
  EXPECT_TRUE(made.c_is_a());
  std::vector<std::uint16_t> found(negated.size());
  made.copy(found.data(), other.data(), TimesOne::kBytes);
  EXPECT_TRUE(found == negated);
}

// What a launch finds where one before it has timed out: it gives up at once, and harms no later
// one.
void expect_to_end_behind_a_time_out(const TimesOne& made, const ReadyEngine& ready) {
  made.set_timed_out(1);
  made.start(ready);
  EXPECT_NE(made.all_words().front(), 0U);
  made.words.clear(made.stream.get());
  made.start(ready);
  EXPECT_TRUE(made.c_is_a());
}

TEST_P(Engine, EndsWhereALaunchBeforeItTimedOut) {
  const TimesOne made;
  const ReadyEngine ready = prepare_engine(engine_configurations()[GetParam() - 1], made.product);
  expect_to_end_behind_a_time_out(made, ready);
}

// Rows of C that begin on 2 bytes only, all of them, or every other one. What is around them stays
// as it is.
TEST_P(Engine, StoresRowsOfCFromAnyElementOn) {
  const TimesOne made;
  constexpr std::uint64_t kEdge = TimesOne::kEdge;
  for (const std::uint64_t ldc : {kEdge, kEdge + 1}) {
    std::vector<std::uint16_t> expected(kEdge * ldc + 2, 0xffff);
    const std::size_t bytes = expected.size() * sizeof(std::uint16_t);
    const DeviceBuffer c(bytes);
    cuda_check(cudaMemsetAsync(c.data(), 0xff, bytes, made.stream.get()), "poison");
    LocalGemm product = made.product;
    product.c = c.data() + sizeof(std::uint16_t);
    product.ldc = ldc;
    made.start(prepare_engine(engine_configurations()[GetParam() - 1], product));
    for (std::uint64_t row = 0; row < kEdge; ++row)
      std::copy_n(&made.numbers[row * kEdge], kEdge, &expected[1 + row * ldc]);
    std::vector<std::uint16_t> found(expected.size());
    made.copy(found.data(), c.data(), bytes);
    EXPECT_TRUE(found == expected) << ldc;
  }
}

// What clusters share out tiles by has to be as it was for the next launch.
TEST_P(Engine, LeavesItsWordsZero) {
  const TimesOne made;
  const ReadyEngine ready = prepare_engine(engine_configurations()[GetParam() - 1], made.product);
  EXPECT_EQ(ready.problem.by_gpc, ready.configuration.gpc_rows != 0);
  made.start(ready);
  EXPECT_EQ(made.all_words(), std::vector<std::uint32_t>(EngineWords::kCount));
  made.start(ready);  // with the other set
  EXPECT_EQ(made.all_words(), std::vector<std::uint32_t>(EngineWords::kCount));
}

// Clusters that run where nobody expected them: all take the tiles of one GPC, then the others'.
TEST_P(Engine, MultipliesEveryTileWhereverItsClustersRun) {
  const TimesOne made;
  ReadyEngine ready = prepare_engine(engine_configurations()[GetParam() - 1], made.product);
  EXPECT_EQ(ready.problem.by_gpc, ready.configuration.gpc_rows != 0);
  ready.problem.gpc_tiles.gpc_of_sm.fill(1);
  for (int again = 0; again < 3; ++again) {
    cuda_check(cudaMemsetAsync(made.c.data(), 0xff, TimesOne::kBytes, made.stream.get()), "poison");
    made.start(ready);
    ASSERT_TRUE(made.c_is_a()) << again;
  }
}

// As of a launch on another stream that has the same words.
TEST_P(Engine, SaysThatATileIsNobodys) {
  const TimesOne made;
  const ReadyEngine ready = prepare_engine(engine_configurations()[GetParam() - 1], made.product);
  if (!ready.problem.by_gpc) return;  // takes none
  const std::vector<std::uint32_t> taken(kMostGpcs, 1);
  made.copy(made.words.set() + 1, taken.data(), kMostGpcs * sizeof(std::uint32_t));
  made.start(ready);
  EXPECT_NE(made.all_words().front(), 0U);
}

TEST_P(Engine, SaysItsName) {
  const RunResult result = run_gemm(whole(20, 30, 72));
  EXPECT_EQ(result.note, "engine " + name_of(engine_configurations()[GetParam() - 1]));
}

std::vector<std::uint32_t> numbers() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 1; i <= engine_configurations().size(); ++i) all.push_back(i);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Configurations, Engine, testing::ValuesIn(numbers()),
                         [](const auto& which) {
                           return name_of(engine_configurations()[which.param - 1]);
                         });

class EngineBudget : public GpuTest {};

Gemm within(std::uint32_t sm_budget) {
  Gemm gemm = whole_product({2047, 1033, 1031}, GemmInputs::small_integers);
  gemm.output = GemmOutput::bf16;
  gemm.sm_budget = sm_budget;
  gemm.seed = 7;
  return gemm;
}

TEST_F(EngineBudget, IsKept) {
  LocalGemm gemm{.m = 8192, .n = 8192, .k = 64, .output = GemmOutput::bf16};
  const DeviceBuffer memory(std::size_t{8192} * 8192 * 2);
  gemm.a = gemm.b = gemm.c = memory.data();
  gemm.pitch = 64;
  gemm.ldc = 8192;
  for (const std::uint32_t budget : {2U, 3U, 66U, 131U}) {
    gemm.sm_budget = budget;
    const ReadyEngine ready =
        prepare_engine(chosen_configuration(embedded_gemm_table(), gemm), gemm);
    EXPECT_LE(ready.blocks, budget);
    EXPECT_GE(ready.blocks + 2, budget * 9 / 10) << "and most of it is used";
  }
}

TEST_F(EngineBudget, ChangesNoElement) {
  for (const std::uint32_t budget : {2U, 7U, 66U, 131U}) expect_like_reference(within(budget));
}

TEST_F(EngineBudget, HoldsForRowsThatArePackedFirst) {
  Gemm gemm = within(5);
  gemm.lda = 1033;
  EXPECT_EQ(run_gemm(gemm).bytes, run_gemm(within(0)).bytes);
}

TEST_F(EngineBudget, ConfigurationThatCannotKeepItIsRefused) {
  LocalGemm gemm{.m = 64, .n = 64, .k = 64, .output = GemmOutput::bf16, .sm_budget = 66};
  const auto early = std::find_if(engine_configurations().begin(), engine_configurations().end(),
                                  [](const EngineConfiguration& one) { return one.pdl; });
  EXPECT_THROW(prepare_engine(*early, gemm), Error);
}

}  // namespace
}  // namespace tidemark
