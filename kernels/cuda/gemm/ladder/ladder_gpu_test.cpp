// Every rung of the ladder on the GPU, held against integer products made here on the host and,
// where that takes too long, against the reference engine.
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/cuda/gemm/cuda_gemm.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

class Ladder : public GpuTest, public testing::WithParamInterface<GemmRung> {
 protected:
  Gemm whole(const GemmShape& shape, GemmOutput output = GemmOutput::f32) const {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = output;
    gemm.rung = GetParam();
    gemm.seed = 7;
    return gemm;
  }
};

std::vector<int> integers(GemmOperand operand, std::uint64_t rows, std::uint64_t k) {
  std::vector<int> values;
  values.reserve(rows * k);
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t i = 0; i < k; ++i)
      values.push_back(static_cast<int>(
          from_bf16(gemm_element(GemmInputs::small_integers, operand, 7, row, i))));
  return values;
}

/// Bits of C[row, col] as the device handed them back, in the low half for bf16.
std::uint32_t bits_at(const Gemm& gemm, const RunResult& result, std::uint64_t row,
                      std::uint64_t col) {
  const std::size_t size = c_element_bytes(gemm.output);
  std::uint32_t bits = 0;
  std::memcpy(&bits, result.bytes.data() + (row * gemm.cols.count + col) * size, size);
  return bits;
}

/// Every element is the integer that it must be, rounded once where C is bf16. A sum of 0 has no
/// sign to promise.
void expect_exact(const Gemm& gemm, const RunResult& result) {
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.bytes.size(), gemm.m * gemm.n * c_element_bytes(gemm.output));
  const std::vector<int> a = integers(GemmOperand::a, gemm.m, gemm.k);
  const std::vector<int> b = integers(GemmOperand::b, gemm.n, gemm.k);
  for (std::uint64_t row = 0; row < gemm.m; ++row)
    for (std::uint64_t col = 0; col < gemm.n; ++col) {
      int sum = 0;
      for (std::uint64_t k = 0; k < gemm.k; ++k) sum += a[row * gemm.k + k] * b[col * gemm.k + k];
      const auto exact = static_cast<float>(sum);
      const std::uint32_t expected =
          gemm.output == GemmOutput::f32 ? std::bit_cast<std::uint32_t>(exact) : to_bf16(exact);
      const std::uint32_t actual = bits_at(gemm, result, row, col);
      const std::uint32_t sign = gemm.output == GemmOutput::f32 ? 0x80000000U : 0x8000U;
      ASSERT_EQ(sum == 0 ? actual & ~sign : actual, expected) << row << ", " << col;
    }
}

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

void expect_right(const Gemm& gemm) {
  SCOPED_TRACE(testing::Message() << gemm.m << " x " << gemm.n << " x " << gemm.k << " to "
                                  << (gemm.output == GemmOutput::f32 ? "f32" : "bf16"));
  const RunResult result = run_gemm(gemm);
  expect_exact(gemm, result);
  expect_surroundings_intact(gemm, result);
}

void expect_like_reference(Gemm gemm) {
  const RunResult rung = run_gemm(gemm);
  gemm.engine = GemmEngine::reference;
  const RunResult reference = run_gemm(gemm);
  ASSERT_EQ(rung.fault, DeviceFault::none) << rung.note;
  ASSERT_EQ(reference.fault, DeviceFault::none) << reference.note;
  EXPECT_TRUE(rung.bytes == reference.bytes);
  expect_surroundings_intact(gemm, rung);
}

TEST_P(Ladder, OneElement) { expect_right(whole({1, 1, 1})); }

TEST_P(Ladder, OneTileOfEachSize) {
  expect_right(whole({64, 64, 64}));
  expect_right(whole({128, 128, 64}));
  expect_right(whole({128, 256, 64}));
  expect_right(whole({256, 256, 64}));
}

TEST_P(Ladder, OneLessThanATile) { expect_right(whole({127, 255, 63})); }

TEST_P(Ladder, OneMoreThanATile) { expect_right(whole({129, 257, 65})); }

TEST_P(Ladder, OneRow) { expect_right(whole({1, 600, 100})); }

TEST_P(Ladder, OneColumn) { expect_right(whole({600, 1, 100})); }

// The second block of the last pair lies wholly below C.
TEST_P(Ladder, OddNumberOfTilesAlongM) { expect_right(whole({384, 300, 200})); }

// More blocks of 64 k than a ring has stages, several times over.
TEST_P(Ladder, LongK) { expect_right(whole({40, 72, 4104})); }

// Every amount of padding that a row can have: beside whole 16-byte stores, pairs and single ones.
TEST_P(Ladder, NothingIsWrittenBehindTheLastColumn) {
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16})
    for (const std::uint64_t columns : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 255U, 257U, 260U, 264U})
      expect_right(whole({130, columns, 72}, output));
}

TEST_P(Ladder, OutputInBf16) {
  expect_right(whole({129, 257, 65}, GemmOutput::bf16));
  expect_right(whole({300, 520, 136}, GemmOutput::bf16));
}

// Seven or eight tiles a block on 132 SMs and three blocks of k a tile: tiles start at every stage
// of a ring, and its parity turns over often.
TEST_P(Ladder, RingRunsOnAcrossTiles) {
  expect_like_reference(whole({12800, 2560, 192}, GemmOutput::f32));
  expect_like_reference(whole({12800, 2560, 192}, GemmOutput::bf16));
}

TEST_P(Ladder, TilesOfASingleBlockOfK) { expect_like_reference(whole({12800, 2560, 40})); }

// The staging boxes of one tile are still being carried off when the next tile fills them.
TEST_P(Ladder, ManyTilesThatEndOffSixteenBytes) {
  expect_like_reference(whole({6400, 2565, 72}, GemmOutput::f32));
  expect_like_reference(whole({6400, 2565, 72}, GemmOutput::bf16));
}

TEST_P(Ladder, LargeAndNothingRound) { expect_like_reference(whole({2047, 4097, 1031})); }

TEST_P(Ladder, LaunchedBackToBackItLeavesTheSame) {
  const Gemm gemm = whole({500, 600, 1032}, GemmOutput::bf16);
  const Measurement measured = measure_gemm(gemm, {.warmups = 5, .samples = 20});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  EXPECT_EQ(measured.samples.size(), 20U);
  expect_exact(gemm, measured.last);
  expect_surroundings_intact(gemm, measured.last);
}

TEST_P(Ladder, SaysItsName) {
  const RunResult result = run_gemm(whole({20, 30, 72}));
  EXPECT_EQ(result.note, "rung " + std::string(name_of(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Rungs, Ladder, testing::ValuesIn(kGemmRungs),
                         [](const auto& which) { return std::string(name_of(which.param)); });

}  // namespace
}  // namespace tidemark
