// Multicasts as programs on a real GPU, against expectations written out here; the suite's oracle
// has no part in it.
#include "kernels/ops/barriers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/program/checks.hpp"

namespace tidemark {
namespace {

class MulticastLoadOnGpu : public GpuTest {};

using Bytes = std::vector<std::uint8_t>;

// The window of each test: guard 1024, tile 512, guard 1024.
constexpr std::size_t kWindow = 2560;

/// 100 x 40 elements of two bytes, rows 208 bytes apart; a box of 32 x 8 at (16, 5).
MulticastLoad matrix_load(std::array<std::uint32_t, 3> cluster, std::uint16_t mask,
                          std::uint32_t issuer) {
  return {.load = {.map = {.type = DataType::u16,
                           .rank = 2,
                           .extent = {100, 40},
                           .stride = {208},
                           .box = {32, 8}},
                   .at = {16, 5},
                   .payload = {.seed = 7}},
          .cluster = cluster,
          .mask = mask,
          .issuer = issuer};
}

/// The window of CTA `rank`, with the box where it is served.
Bytes expected_window(std::uint32_t rank, bool served) {
  Bytes window(kWindow);
  for (std::size_t i = 0; i < kWindow; ++i)
    window[i] = static_cast<std::uint8_t>(poison_byte({.seed = 7}, i) ^ (rank | rank << 4));
  for (std::uint32_t y = 0; served && y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      window[1024 + 64 * y + byte] = source_byte({.seed = 7}, 1024 + 208 * (5 + y) + 2 * 16 + byte);
  return window;
}

/// Every window that a CTA handed out, in order, holds the box where it is in `served`; every meter
/// found nothing pending.
void expect_served(const Program& program, const RunResult& result, std::uint16_t served) {
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  const std::uint32_t ctas = ctas_of(program);
  std::size_t at = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      const Step& step = program.steps[i];
      if (!takes(step, cta)) continue;
      if (step.verb == Verb::meter) {
        EXPECT_EQ(result.trace[i * ctas + cta], meter_trace(false, true, 0))
            << "step " << i << " of CTA " << cta;
      }
      if (step.verb != Verb::snapshot) continue;
      ASSERT_LE(at + kWindow, result.bytes.size());
      const auto begin = result.bytes.begin() + static_cast<std::ptrdiff_t>(at);
      EXPECT_EQ(Bytes(begin, begin + kWindow), expected_window(cta, (served >> cta & 1U) != 0))
          << "step " << i << " of CTA " << cta;
      at += kWindow;
    }
  EXPECT_EQ(at, result.bytes.size());
}

/// The row on the GPU, held against what CTAs `served` get.
void expect_served(const MulticastLoad& multicast, std::uint16_t served) {
  const Program program = with_checks(program_of(multicast));
  expect_served(program, make_cuda_device()->run_programs({&program, 1}).front(), served);
}

TEST_F(MulticastLoadOnGpu, BothOfTwoGetTheBox) {
  expect_served(matrix_load({2, 1, 1}, 0b11, 0), 0b11);
}

TEST_F(MulticastLoadOnGpu, TheIssuerOutsideTheMaskGetsNothing) {
  expect_served(matrix_load({2, 1, 1}, 0b10, 0), 0b10);
}

TEST_F(MulticastLoadOnGpu, TwoOfFourGetTheBoxFromAThird) {
  expect_served(matrix_load({4, 1, 1}, 0b1010, 2), 0b1010);
}

TEST_F(MulticastLoadOnGpu, AllOfEightGetTheBox) {
  expect_served(matrix_load({8, 1, 1}, 0xff, 6), 0xff);
}

TEST_F(MulticastLoadOnGpu, BitsAreRanksInAClusterOfTwoByTwoByTwo) {
  expect_served(matrix_load({2, 2, 2}, 0b01000100, 0), 0b01000100);
}

TEST_F(MulticastLoadOnGpu, BitsAreRanksInAClusterAlongZ) {
  expect_served(matrix_load({1, 1, 4}, 0b0100, 3), 0b0100);
}

TEST_F(MulticastLoadOnGpu, SlicesOfFourMakeOneBoxInEach) {
  MulticastLoad sliced = matrix_load({4, 1, 1}, 0b1111, 0);
  sliced.slices = 4;
  expect_served(sliced, 0b1111);
}

TEST_F(MulticastLoadOnGpu, SlicesFromOutsideTheMaskArrive) {
  MulticastLoad sliced = matrix_load({4, 1, 1}, 0b0001, 2);
  sliced.slices = 2;  // by CTAs 2 and 3
  expect_served(sliced, 0b0001);
}

TEST_F(MulticastLoadOnGpu, LateReceiversCompleteWithTheirAnnouncement) {
  MulticastLoad late = matrix_load({4, 1, 1}, 0b0111, 3);
  late.late_arm = true;
  expect_served(late, 0b0111);
}

TEST_F(MulticastLoadOnGpu, EveryCacheHintChangesNothing) {
  for (const CacheHint hint :
       {CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
    MulticastLoad row = matrix_load({4, 1, 1}, 0b1010, 0);
    row.load.hint = hint;
    expect_served(row, 0b1010);
  }
}

TEST_F(MulticastLoadOnGpu, ClustersOfAllShapesSideBySideGetTheirOwn) {
  std::vector<MulticastLoad> rows;
  for (std::uint32_t i = 0; i < 40; ++i) {
    rows.push_back(matrix_load({2, 2, 2}, static_cast<std::uint16_t>(1 + 5 * i), i % 8));
    rows.push_back(matrix_load({4, 1, 1}, static_cast<std::uint16_t>(1 + i % 15), i % 4));
    rows.push_back(matrix_load({1, 2, 1}, static_cast<std::uint16_t>(1 + i % 3), i % 2));
  }
  std::vector<Program> programs;
  for (const MulticastLoad& row : rows) programs.push_back(with_checks(program_of(row)));

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE("program " + std::to_string(i));
    expect_served(programs[i], results[i], rows[i].mask);
  }
}

TEST_F(MulticastLoadOnGpu, TheSourceIsReadBackUnchanged) {
  const MulticastLoad load = matrix_load({2, 1, 1}, 0b11, 1);
  Bytes expected(source_allocation_bytes(load.load));
  for (std::uint64_t i = 0; i < expected.size(); ++i) expected[i] = source_byte({.seed = 7}, i);
  const Program program = with_checks(program_of(load));

  EXPECT_EQ(make_cuda_device()->run_programs({&program, 1}).front().surroundings, expected);
}

// Either the 16 windows, or the plain answer that this GPU starts no such cluster.
TEST_F(MulticastLoadOnGpu, SixteenRunOrAreSaidToBeUnsupported) {
  const auto device = make_cuda_device();
  const Program program = with_checks(program_of(matrix_load({16, 1, 1}, 0x8001, 9)));

  const RunResult result = device->run_programs({&program, 1}).front();

  if (result.fault == DeviceFault::unsupported)
    EXPECT_NE(result.note.find("16 CTAs"), std::string::npos) << result.note;
  else
    expect_served(program, result, 0x8001);
}

}  // namespace
}  // namespace tidemark
