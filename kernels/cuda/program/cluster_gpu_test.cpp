// What the CTAs of a cluster send each other on a real GPU, against expectations written out here;
// the suite's oracle has no part in it.
#include "kernels/ops/program/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/testing/box_program.hpp"

namespace tidemark {
namespace {

TEST_F(ProgramOnGpu, AnnouncementsForThePeerAreOwedThere) {
  Program program = begun();
  program.cluster = {2, 1, 1};
  for (Step& step : program.steps) step.ctas = 3;
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  program += Step{.verb = Verb::expect_tx, .of = 1, .bytes = 4096};
  program += Step{.verb = Verb::arrive_expect_tx, .of = 1, .bytes = 4096};
  program += kLoad;
  program += Step{.verb = Verb::delay, .ctas = 3, .ns = kSettleNs};
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  Step of_peer = meter(8192);
  of_peer.ctas = 2;
  program += of_peer;
  program += meter(0, 1);
  program += Step{.verb = Verb::wait, .parity = kLastPhase, .ns = kMustCompleteNs};
  program += Step{.verb = Verb::snapshot, .ctas = 3};

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(residue_of(result.trace[2 * 8 + 1]), 8192);
  EXPECT_EQ(residue_of(result.trace[2 * 9 + 0]), -8192);
  ASSERT_EQ(result.bytes.size(), 2U * 10240);
  const auto middle = result.bytes.begin() + 10240;
  EXPECT_EQ(std::vector<std::uint8_t>(result.bytes.begin(), middle), landed_window());
  EXPECT_EQ(std::vector<std::uint8_t>(middle, result.bytes.end()), poisoned_window(1));
}

TEST_F(ProgramOnGpu, ARemoteArrivalCompletesThePhaseOfThePeer) {
  Program program = begun();
  program.cluster = {2, 1, 1};
  for (Step& step : program.steps) step.ctas = 3;
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  program += Step{.verb = Verb::arrive, .of = 1};
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  program += Step{.verb = Verb::test, .ctas = 3};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[2 * 5 + 0], 0U);
  EXPECT_EQ(result.trace[2 * 5 + 1], 1U);
}

// Of each pair, itself too: 2048 bytes from byte 1024 of `from` to byte 6160 of `to`.
TEST_F(ProgramOnGpu, ASendLandsInTheWindowThatIsNamedAndCreditsTheBarrierThere) {
  std::vector<Program> programs;
  for (std::uint32_t from = 0; from < 4; ++from)
    for (std::uint8_t to = 0; to < 4; ++to) {
      Program program = begun();
      program.cluster = {4, 1, 1};
      for (Step& step : program.steps) step.ctas = 0xf;
      const auto sender = static_cast<std::uint16_t>(1U << from);
      const auto peer = static_cast<std::uint16_t>(1U << to);
      program += Step{.verb = Verb::arrive_expect_tx, .ctas = peer, .bytes = 2048};
      program += Step{.verb = Verb::cluster_sync, .ctas = 0xf};
      program += Step{.verb = Verb::send,
                      .ctas = sender,
                      .thread = 77,
                      .of = from == to ? kOwnCta : to,
                      .offset = 1024,
                      .bytes = 2048,
                      .at = {6160}};
      program += kWait;
      program.steps.back().ctas = peer;
      program += Step{.verb = Verb::cluster_sync, .ctas = 0xf};
      program += Step{.verb = Verb::test, .ctas = 0xf};
      program += Step{.verb = Verb::snapshot, .ctas = 0xf};
      programs.push_back(program);
    }

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint32_t from = i / 4, to = i % 4;
    ASSERT_EQ(results[i].fault, DeviceFault::none) << results[i].note;
    ASSERT_EQ(results[i].bytes.size(), 4U * 10240);
    for (std::uint32_t cta = 0; cta < 4; ++cta) {
      std::vector<std::uint8_t> window = poisoned_window(cta);
      const std::vector<std::uint8_t> source = poisoned_window(from);
      if (cta == to) std::copy_n(&source[1024], 2048, &window[6160]);
      const auto begin = results[i].bytes.begin() + 10240 * cta;
      EXPECT_EQ(std::vector<std::uint8_t>(begin, begin + 10240), window)
          << from << " to " << to << ", window " << cta;
      EXPECT_EQ(results[i].trace[4 * 7 + cta], cta == to ? 1U : 0U) << from << " to " << to;
    }
  }
}

TEST_F(ProgramOnGpu, ALoadThatWasSentOnIsThatOfThePeer) {
  Program program = begun();
  program.cluster = {2, 1, 1};
  for (Step& step : program.steps) step.ctas = 3;
  program += announce(8192);
  program += kLoad;
  program += kWait;
  program += Step{.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 8192};
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};
  program += Step{.verb = Verb::send, .of = 1, .offset = 1024, .bytes = 8192, .at = {1024}};
  program += kWait;
  program.steps.back().ctas = 2;
  program += Step{.verb = Verb::snapshot, .ctas = 2};
  program += Step{.verb = Verb::cluster_sync, .ctas = 3};

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  std::vector<std::uint8_t> window = landed_window();
  std::copy_n(poisoned_window(1).begin(), 1024, window.begin());
  std::copy_n(poisoned_window(1).begin() + 9216, 1024, window.begin() + 9216);
  EXPECT_EQ(result.bytes, window);
}

/// Four CTAs whose CTA 2 waits for `bytes`, which come by `steps`; then all windows.
Program to_cta_2(std::uint32_t bytes, const std::vector<Step>& steps) {
  Program program = begun();
  program.cluster = {4, 1, 1};
  for (Step& step : program.steps) step.ctas = 0xf;
  program += Step{.verb = Verb::arrive_expect_tx, .ctas = 4, .bytes = bytes};
  program += Step{.verb = Verb::cluster_sync, .ctas = 0xf};
  for (Step step : steps) {
    step.of = 2;
    program += step;
  }
  program += kWait;
  program.steps.back().ctas = 4;
  program += Step{.verb = Verb::cluster_sync, .ctas = 0xf};
  program += Step{.verb = Verb::test, .ctas = 0xf};
  program += Step{.verb = Verb::snapshot, .ctas = 0xf};
  return program;
}

/// Only the barrier of CTA 2 completed, and only its window changed, to `wanted`.
void expect_in_cta_2(const Program& program, const RunResult& result,
                     const std::vector<std::uint8_t>& wanted) {
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.bytes.size(), 4U * 10240);
  for (std::uint32_t cta = 0; cta < 4; ++cta) {
    const auto begin = result.bytes.begin() + 10240 * cta;
    EXPECT_EQ(std::vector<std::uint8_t>(begin, begin + 10240),
              cta == 2 ? wanted : poisoned_window(cta))
        << "window " << cta;
    EXPECT_EQ(result.trace[(program.steps.size() - 2) * 4 + cta], cta == 2 ? 1U : 0U) << cta;
  }
}

template <class Element>
Element element_in(const std::vector<std::uint8_t>& window, std::size_t at) {
  Element element;
  std::memcpy(&element, &window[at], sizeof element);
  return element;
}
template <class Element>
void put_in(std::vector<std::uint8_t>& window, std::size_t at, Element element) {
  std::memcpy(&window[at], &element, sizeof element);
}

TEST_F(ProgramOnGpu, EveryWidthOfRegistersLandsInThePeerAndIsCreditedThere) {
  const auto from_cta = [](std::uint16_t cta, DataType type, std::uint32_t bytes, std::int32_t at) {
    return Step{.verb = Verb::st_async,
                .ctas = static_cast<std::uint16_t>(1U << cta),
                .thread = 255,
                .type = type,
                .bytes = bytes,
                .at = {at},
                .word = 0x0123456789abcdef};
  };
  const Program program =
      to_cta_2(52, {from_cta(0, DataType::u32, 4, 1028), from_cta(1, DataType::u32, 8, 1048),
                    from_cta(3, DataType::u32, 16, 1072), from_cta(2, DataType::u64, 8, 1096),
                    from_cta(0, DataType::u64, 16, 8208)});

  const RunResult result = run(program);

  std::vector<std::uint8_t> wanted = poisoned_window(2);
  put_in(wanted, 1028, 0x89abcdefU);
  put_in(wanted, 1048, 0x0123456789abcdefULL);
  put_in(wanted, 1072, 0x0123456789abcdefULL);
  put_in(wanted, 1080, 0x0123456889abcdf0ULL);
  put_in(wanted, 1096, 0x0123456789abcdefULL);
  put_in(wanted, 8208, 0x0123456789abcdefULL);
  put_in(wanted, 8216, 0x0123456889abcdf0ULL);
  expect_in_cta_2(program, result, wanted);
}

/// One element at `at` by CTA 0.
Step red_async(Reduction reduction, DataType type, std::int32_t at, std::uint64_t word) {
  return {.verb = Verb::red_async, .reduction = reduction, .type = type, .at = {at}, .word = word};
}

// The words there are poison, whose highest bit is set.
TEST_F(ProgramOnGpu, EveryReductionOfRegistersIsMadeInThePeer) {
  constexpr DataType kU32 = DataType::u32, kS32 = DataType::s32;
  const Program program = to_cta_2(
      52, {red_async(Reduction::add, kU32, 1024, 0x90000001),
           red_async(Reduction::min, kU32, 1028, 5), red_async(Reduction::max, kU32, 1032, 5),
           red_async(Reduction::inc, kU32, 1036, 5), red_async(Reduction::dec, kU32, 1040, 5),
           red_async(Reduction::bit_and, kU32, 1044, 0xff00ff00),
           red_async(Reduction::bit_or, kU32, 1048, 0xff00ff00),
           red_async(Reduction::bit_xor, kU32, 1052, 0xff00ff00),
           red_async(Reduction::add, kS32, 1056, 0xffffffff),
           red_async(Reduction::min, kS32, 1060, 5), red_async(Reduction::max, kS32, 1064, 5),
           red_async(Reduction::add, DataType::u64, 1072, 0xffffffff)});

  const RunResult result = run(program);

  std::vector<std::uint8_t> wanted = poisoned_window(2);
  const auto before = [&](std::size_t at) { return element_in<std::uint32_t>(wanted, at); };
  for (const std::size_t at : {1028U, 1036U, 1060U}) ASSERT_GE(before(at), 0x80000000U);
  put_in(wanted, 1024, before(1024) + 0x90000001);
  put_in(wanted, 1028, 5U);
  put_in(wanted, 1036, 0U);
  put_in(wanted, 1040, 5U);
  put_in(wanted, 1044, before(1044) & 0xff00ff00);
  put_in(wanted, 1048, before(1048) | 0xff00ff00);
  put_in(wanted, 1052, before(1052) ^ 0xff00ff00);
  put_in(wanted, 1056, before(1056) - 1);
  put_in(wanted, 1064, 5U);
  put_in(wanted, 1072, element_in<std::uint64_t>(wanted, 1072) + 0xffffffff);
  expect_in_cta_2(program, result, wanted);
}

// By 1 to 190 threads of each.
TEST_F(ProgramOnGpu, NoneOfTheSumsOfAllOtherCtasInOneWordIsLost) {
  std::vector<Step> sums;
  for (std::uint32_t i = 0; i < 64; ++i) {
    sums.push_back(red_async(Reduction::add, DataType::u32, 1028, i + 1));
    sums.back().ctas = 0xb;
    sums.back().thread = static_cast<std::uint16_t>(i);
    sums.back().count = 3 * i + 1;
  }
  const Program program = to_cta_2((3 * 64 * 63 / 2 + 64) * 3 * 4, sums);

  const RunResult result = run(program);

  std::vector<std::uint8_t> wanted = poisoned_window(2);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 64; ++i) sum += 3 * (3 * i + 1) * (i + 1);
  put_in(wanted, 1028, element_in<std::uint32_t>(wanted, 1028) + sum);
  expect_in_cta_2(program, result, wanted);
}

// Of all CTAs a copy of 64 bytes and a vector of registers; of the others a sum of 256 bytes and of
// one word, too.
TEST_F(ProgramOnGpu, CopiesReductionsAndRegistersAddUpOnOneBarrier) {
  std::vector<Step> steps;
  for (std::int32_t cta = 0; cta < 4; ++cta) {
    const auto by = static_cast<std::uint16_t>(1U << cta);
    steps.push_back(
        {.verb = Verb::send, .ctas = by, .offset = 4096, .bytes = 64, .at = {1024 + 64 * cta}});
    steps.push_back(
        {.verb = Verb::st_async, .ctas = by, .bytes = 16, .at = {3072 + 16 * cta}, .word = 9});
    if (cta == 2) continue;
    steps.push_back({.verb = Verb::send,
                     .ctas = by,
                     .reduction = Reduction::add,
                     .type = DataType::u64,
                     .offset = 4096,
                     .bytes = 256,
                     .at = {2048}});
    steps.push_back(red_async(Reduction::add, DataType::u32, 3584, 1U << cta));
    steps.back().ctas = by;
  }
  const Program program = to_cta_2(4 * (64 + 16) + 3 * (256 + 4), steps);

  const RunResult result = run(program);

  std::vector<std::uint8_t> wanted = poisoned_window(2);
  for (std::uint32_t cta = 0; cta < 4; ++cta) {
    const std::vector<std::uint8_t> from = poisoned_window(cta);
    std::copy_n(&from[4096], 64, &wanted[1024 + 64 * cta]);
    for (std::size_t i = 0; i < 256 && cta != 2; i += 8)
      put_in(
          wanted, 2048 + i,
          element_in<std::uint64_t>(wanted, 2048 + i) + element_in<std::uint64_t>(from, 4096 + i));
    put_in(wanted, 3072 + 16 * cta, 9ULL);
    put_in(wanted, 3080 + 16 * cta, 0x10000000aULL);
  }
  put_in(wanted, 3584, element_in<std::uint32_t>(wanted, 3584) + 11);
  expect_in_cta_2(program, result, wanted);
}

}  // namespace
}  // namespace tidemark
