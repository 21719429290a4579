// The loops of the verification, on all cores and by the widest vectors of the CPU.
#include "suite/gemm/loops.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/payload.hpp"
#include "suite/gemm/block.hpp"

namespace tidemark {
namespace {

Gemm inputs_of(GemmInputs inputs, GemmElement element) {
  Gemm gemm;
  gemm.inputs = inputs;
  gemm.element = element;
  gemm.seed = 0x1234567890abcdefULL;
  return gemm;
}

float expected_element(const Gemm& gemm, GemmOperand which, std::uint64_t row, std::uint64_t k) {
  return from_element(gemm.element,
                      gemm_element(gemm.inputs, which, gemm.seed, row, k, gemm.element));
}

/// Elements k = 3 ... 1003 of some rows, near and far.
void expect_elements(const Gemm& gemm, GemmOperand which) {
  std::vector<float> made(1001);
  for (const std::uint64_t row : {0ULL, 1ULL, 77ULL, 1ULL << 40}) {
    make_operand(gemm, which, row, 3, std::span(made));
    for (std::uint64_t k = 0; k < made.size(); ++k)
      ASSERT_EQ(made[k], expected_element(gemm, which, row, 3 + k)) << row << ", " << k;
  }
}

TEST(MakeOperand, MakesTheSmallIntegersOfAAndB) {
  expect_elements(inputs_of(GemmInputs::small_integers, GemmElement::bf16), GemmOperand::a);
  expect_elements(inputs_of(GemmInputs::small_integers, GemmElement::f16), GemmOperand::b);
}

TEST(MakeOperand, MakesTheNormalNumbersOfBf16) {
  expect_elements(inputs_of(GemmInputs::normal, GemmElement::bf16), GemmOperand::a);
  expect_elements(inputs_of(GemmInputs::normal, GemmElement::bf16), GemmOperand::b);
}

TEST(MakeOperand, MakesTheNormalNumbersOfFp16) {
  expect_elements(inputs_of(GemmInputs::normal, GemmElement::f16), GemmOperand::a);
  expect_elements(inputs_of(GemmInputs::normal, GemmElement::f16), GemmOperand::b);
}

TEST(MakeOperand, MakesTheNormalNumbersOfFp8) {
  expect_elements(inputs_of(GemmInputs::normal, GemmElement::e4m3), GemmOperand::a);
  expect_elements(inputs_of(GemmInputs::normal, GemmElement::e5m2), GemmOperand::b);
}

TEST(MakeOperand, MakesOctalDigits) {
  expect_elements(inputs_of(GemmInputs::octal_digits, GemmElement::e4m3), GemmOperand::a);
  expect_elements(inputs_of(GemmInputs::octal_digits, GemmElement::bf16), GemmOperand::b);
}

TEST(MakeOperand, MakesOctalDigitsAsIntegers) {
  const Gemm gemm = inputs_of(GemmInputs::octal_digits, GemmElement::e5m2);
  std::vector<std::int16_t> made(1003);
  make_operand(gemm, GemmOperand::a, 5, 1, std::span(made));
  for (std::uint64_t k = 0; k < made.size(); ++k)
    ASSERT_EQ(made[k], expected_element(gemm, GemmOperand::a, 5, 1 + k)) << k;
}

TEST(MakeOperand, MakesOnes) {
  expect_elements(inputs_of(GemmInputs::ones, GemmElement::e4m3), GemmOperand::a);
  expect_elements(inputs_of(GemmInputs::ones, GemmElement::bf16), GemmOperand::b);
}

TEST(MakeOperand, MakesWhatIsPermutedAndThePermutation) {
  expect_elements(inputs_of(GemmInputs::permutation, GemmElement::bf16), GemmOperand::a);
  expect_elements(inputs_of(GemmInputs::permutation, GemmElement::f16), GemmOperand::b);
}

TEST(MakeOperand, MakesWhatIsPermutedAndThePermutationAsIntegers) {
  const Gemm gemm = inputs_of(GemmInputs::permutation, GemmElement::bf16);
  std::vector<std::int16_t> made(1003);
  for (const GemmOperand which : {GemmOperand::a, GemmOperand::b}) {
    make_operand(gemm, which, 70, 1, std::span(made));
    for (std::uint64_t k = 0; k < made.size(); ++k)
      ASSERT_EQ(made[k], expected_element(gemm, which, 70, 1 + k)) << k;
  }
}

TEST(MakeOperand, MakesOnesAsIntegers) {
  std::vector<std::int16_t> made(1003);
  make_operand(inputs_of(GemmInputs::ones, GemmElement::bf16), GemmOperand::b, 5, 1,
               std::span(made));
  EXPECT_EQ(made, std::vector<std::int16_t>(1003, 1));
}

TEST(MakeOperand, RefusesNormalNumbersAsIntegers) {
  std::vector<std::int16_t> made(3);
  EXPECT_THROW(make_operand(inputs_of(GemmInputs::normal, GemmElement::bf16), GemmOperand::a, 5, 1,
                            std::span(made)),
               Error);
}

TEST(MakeOperand, MakesSmallIntegersAsIntegers) {
  const Gemm gemm = inputs_of(GemmInputs::small_integers, GemmElement::bf16);
  std::vector<std::int16_t> made(100'003);
  make_operand(gemm, GemmOperand::b, 5, 1, std::span(made));
  for (std::uint64_t k = 0; k < made.size(); ++k)
    ASSERT_EQ(made[k], expected_element(gemm, GemmOperand::b, 5, 1 + k)) << k;
}

TEST(ReadElements, ReadsEveryBf16AndEveryFp16) {
  std::vector<std::uint16_t> bits(1U << 16);
  std::iota(bits.begin(), bits.end(), std::uint16_t{0});
  std::vector<float> read(bits.size());
  for (const GemmOutput output : {GemmOutput::bf16, GemmOutput::f16}) {
    read_elements(output, reinterpret_cast<const std::uint8_t*>(bits.data()), std::span(read));
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const double expected = element_value(output, bits[i]);
      ASSERT_TRUE(read[i] == expected || (std::isnan(read[i]) && std::isnan(expected))) << i;
    }
  }
}

/// `count` ones of `output` with `bits` at `at`, starting one byte off their alignment.
bool finds_non_finite(GemmOutput output, std::size_t count, std::size_t at, std::uint32_t bits) {
  const std::size_t size = element_bytes(output);
  std::vector<std::uint8_t> bytes(1 + count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t element = i == at ? bits : element_of(output, 1);
    std::memcpy(bytes.data() + 1 + i * size, &element, size);
  }
  return has_non_finite(output, bytes.data() + 1, count);
}

TEST(HasNonFinite, FindsOneAtEachPlaceInEachType) {
  for (std::size_t at = 0; at < 131; ++at) {
    EXPECT_TRUE(finds_non_finite(GemmOutput::f32, 131, at, 0x7f800000)) << at;
    EXPECT_TRUE(finds_non_finite(GemmOutput::f32, 131, at, 0xffffffff)) << at;
    EXPECT_TRUE(finds_non_finite(GemmOutput::bf16, 131, at, 0xff80)) << at;
    EXPECT_TRUE(finds_non_finite(GemmOutput::f16, 131, at, 0x7c00)) << at;
  }
}

TEST(HasNonFinite, TakesTheLargestNumbers) {
  EXPECT_FALSE(finds_non_finite(GemmOutput::f32, 131, 130, 0x7f7fffff));
  EXPECT_FALSE(finds_non_finite(GemmOutput::bf16, 131, 130, 0xff7f));
  EXPECT_FALSE(finds_non_finite(GemmOutput::f16, 131, 130, 0x7bff));
  EXPECT_FALSE(finds_non_finite(GemmOutput::f32, 0, 0, 0));
}

TEST(DotRows, SumsEachColumnOfIntegers) {
  std::vector<std::int16_t> a(67);
  std::vector<std::int16_t> b(3 * a.size());
  for (std::size_t k = 0; k < a.size(); ++k) a[k] = static_cast<std::int16_t>(k % 7 - 3);
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = static_cast<std::int16_t>(k % 5 - 2);
  std::vector<std::int32_t> sums(3);
  dot_rows(a, b.data(), std::span(sums));
  for (std::size_t j = 0; j < sums.size(); ++j) {
    std::int32_t expected = 0;
    for (std::size_t k = 0; k < a.size(); ++k) expected += a[k] * b[j * a.size() + k];
    EXPECT_EQ(sums[j], expected) << j;
  }
}

TEST(DotRows, SumsFloatsInFp64) {
  const std::vector<float> a = {1, 0x1p-20F, 3, 4, 5, 6, 7, 8, 9, 0x1p-20F, 2};
  const std::vector<float> b = {1, 0x1p-20F, 1, 1, 1, 1, 1, 1, 1, 0x1p-10F, 2};
  double sum = 0;
  dot_rows(a, b.data(), std::span(&sum, 1));
  EXPECT_EQ(sum, 1 + 0x1p-40 + 42 + 0x1p-30 + 4);
  EXPECT_EQ(sum_of_squares(std::span(a).first(9)), 1 + 0x1p-40 + 9 + 16 + 25 + 36 + 49 + 64 + 81);
}

/// Elements of `output` that hold `values`.
std::vector<std::uint8_t> bytes_of(GemmOutput output, const std::vector<float>& values) {
  const std::size_t size = element_bytes(output);
  std::vector<std::uint8_t> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t bits = element_of(output, values[i]);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

TEST(AreRounded, TakesIntegersAndZerosOfEitherSign) {
  const std::vector<std::int32_t> sums = {5, -3, 0, 0, 1 << 23, -1000};
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16})
    EXPECT_TRUE(
        are_rounded(output, sums, bytes_of(output, {5, -3, -0.0F, 0, 0x1p23F, -1000}).data()));
}

TEST(AreRounded, RoundsToNearestEvenInBf16) {
  const std::vector<std::int32_t> sums = {257, 259};  // halfway: 256, 258, 260
  EXPECT_TRUE(are_rounded(GemmOutput::bf16, sums, bytes_of(GemmOutput::bf16, {256, 260}).data()));
  EXPECT_FALSE(are_rounded(GemmOutput::bf16, sums, bytes_of(GemmOutput::bf16, {258, 260}).data()));
  EXPECT_FALSE(are_rounded(GemmOutput::bf16, sums, bytes_of(GemmOutput::bf16, {256, 258}).data()));
}

TEST(AreRounded, FindsOneUnitInTheLastPlaceAtEachPlace) {
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16})
    for (std::size_t at = 0; at < 32; ++at) {
      const std::vector<std::int32_t> sums(32, 100);
      std::vector<std::uint8_t> bytes = bytes_of(output, std::vector<float>(32, 100));
      bytes[at * element_bytes(output)] ^= 1;
      EXPECT_FALSE(are_rounded(output, sums, bytes.data())) << at;
    }
}

TEST(AreRounded, NeverTakesANaN) {
  const std::vector<std::int32_t> sums = {0};
  const std::vector<std::uint8_t> nan(4, 0xff);
  EXPECT_FALSE(are_rounded(GemmOutput::f32, sums, nan.data()));
  EXPECT_FALSE(are_rounded(GemmOutput::bf16, sums, nan.data()));
}

TEST(SumProducts, AddsEveryRowTimesEveryVector) {
  const std::vector<float> rows[] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
  const std::vector<Lanes> x = {{1, 2, 3, 4, 5, 6, 7, 8}, {-1, 1, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 1}};
  std::array<Lanes, kRowsAtOnce> sums{};
  sums[3][7] = 1000;
  sum_products({rows[0], rows[1], rows[2], rows[3]}, x.data(), sums);
  EXPECT_EQ(sums[0], (Lanes{-1, 4, 3, 7, 5, 6, 7, 10}));
  EXPECT_EQ(sums[1], (Lanes{-1, 13, 12, 22, 20, 24, 28, 37}));
  EXPECT_EQ(sums[2], (Lanes{-1, 22, 21, 37, 35, 42, 49, 64}));
  EXPECT_EQ(sums[3], (Lanes{-1, 31, 30, 52, 50, 60, 70, 1091}));
}

TEST(SpreadProducts, AddsEveryRowToEachPlace) {
  const std::vector<float> rows[] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const std::array<Lanes, kRowsAtOnce> x = {Lanes{1, 0, 0, 0, 1}, Lanes{0, 1, 0, 0, 1},
                                            Lanes{0, 0, 1, 0, 1}, Lanes{0, 0, 0, 1, 1}};
  std::vector<Lanes> to = {Lanes{}, Lanes{0, 0, 0, 0, 0, 0, 0, 9}};
  std::vector<double> squares = {0, 1};
  spread_products({rows[0], rows[1], rows[2], rows[3]}, x, to.data(), squares.data());
  EXPECT_EQ(to[0], (Lanes{1, 3, 5, 7, 16, 0, 0, 0}));
  EXPECT_EQ(to[1], (Lanes{2, 4, 6, 8, 20, 0, 0, 9}));
  EXPECT_EQ(squares, (std::vector<double>{84, 121}));
}

/// How often each of `count` things is visited.
std::vector<int> visits(std::uint64_t count, std::uint64_t work) {
  std::vector<std::atomic<int>> visited(count);
  in_parallel(count, work, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) ++visited.at(i);
  });
  return {visited.begin(), visited.end()};
}

TEST(InParallel, VisitsEachThingOnceWhenTheWorkIsLarge) {
  EXPECT_EQ(visits(1001, std::uint64_t{1} << 40), std::vector<int>(1001, 1));
}

TEST(InParallel, VisitsEachThingOnceWhenTheWorkIsSmall) {
  EXPECT_EQ(visits(1001, 5), std::vector<int>(1001, 1));
}

TEST(InParallel, CountsOnlyTheCpusThatThisThreadIsBoundTo) {
  std::uint64_t cores = 0;
  std::jthread([&cores] {
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &set)) ++cpu;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    cores = usable_cores();
  }).join();
  EXPECT_EQ(cores, 1U);
}

TEST(InParallel, VisitsNothingWhereThereIsNothing) {
  int calls = 0;
  in_parallel(0, std::uint64_t{1} << 40, [&](std::uint64_t, std::uint64_t) { ++calls; });
  EXPECT_EQ(calls, 0);
}

}  // namespace

}  // namespace tidemark
