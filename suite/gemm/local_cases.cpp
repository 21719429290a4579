// The GEMM of one GPU: integers, ones, permutations, samples, NaN and infinity.
#include "suite/case.hpp"
#include "suite/gemm/gemm_metrics.hpp"
#include "suite/gemm/verify.hpp"

namespace tidemark {
namespace {

std::vector<PlantedElement> first_of_a(std::uint64_t, std::uint64_t, std::uint64_t) {
  return {{GemmOperand::a, 0, 0, NonFinite::infinity}};
}
std::vector<PlantedElement> infinity_last_of_a(std::uint64_t m, std::uint64_t, std::uint64_t k) {
  return {{GemmOperand::a, m - 1, k - 1, NonFinite::minus_infinity}};
}
std::vector<PlantedElement> inside_b(std::uint64_t, std::uint64_t n, std::uint64_t k) {
  return {{GemmOperand::b, n / 3, k / 2, NonFinite::minus_infinity}};
}
std::vector<PlantedElement> last_of_b(std::uint64_t, std::uint64_t n, std::uint64_t k) {
  return {{GemmOperand::b, n - 1, k - 1, NonFinite::infinity}};
}
/// A row and a column; where they cross their infinities are multiplied.
std::vector<PlantedElement> row_and_column(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return {{GemmOperand::a, m / 3, k / 3, NonFinite::infinity},
          {GemmOperand::b, n / 4, k / 3, NonFinite::minus_infinity}};
}

// One GPU multiplies integers of which one is infinite: its row of C, or its column, is infinite
// with the sign of each product, and NaN where it meets a zero; nothing else is touched.
std::vector<Op> infinity_rows(const RunContext& context) {
  return planted_rows(context,
                      {first_of_a, infinity_last_of_a, inside_b, last_of_b, row_and_column});
}

const Register kInfinity{{
    .name = "gemm.local.infinity",
    .claim = "an infinite element of A makes its row of C infinite, one of B its column, each "
             "element with the sign of its product, or NaN where it meets a zero; all others are "
             "exact",
    .cites =
        "IEEE 754-2019, 6.1: arithmetic with infinities is exact, and 7.2: 0 times an infinity "
        "is NaN",
    .seconds = 2,
    .rows = infinity_rows,
}};

// One tile, less than a tile, several tiles, tails of every kind, rows that do not end on 16 bytes,
// and more blocks of 64 k than a ring has stages.
constexpr GemmShape kIntegerSmall[] = {{1, 1, 1},      {3, 5, 7},     {64, 64, 64},
                                       {129, 257, 72}, {130, 66, 71}, {200, 136, 584}};
// Integers beyond 256 are rounded in bf16: only a long K makes many of them.
constexpr GemmShape kLong[] = {{24, 72, 4104}, {65, 33, 2047}};
constexpr GemmShape kIntegerCuda[] = {{1024, 1024, 1024}, {1000, 1016, 1032}, {2047, 1025, 1031}};
constexpr GemmShape kLarge = {8192, 8200, 8184};  // every core busy, many tiles for each
constexpr GemmShape kIntegerNightly[] = {
    {4096, 4096, 4096}, {1, 8192, 8192}, {8192, 1, 8191}, {256, 512, 65536}};

void integer_add(std::vector<Op>& rows, const GemmShape& shape, GemmOutput output) {
  Gemm gemm = whole_product(shape, GemmInputs::small_integers);
  gemm.output = output;
  rows.emplace_back(gemm);
}

// One GPU multiplies small integers: a product with one right answer, whatever the tiles and the
// order of summation.
std::vector<Op> integer_rows(const RunContext& context) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    for (const GemmShape& shape : kIntegerSmall) integer_add(rows, shape, output);
    for (const GemmShape& shape : kLong) integer_add(rows, shape, output);
    if (!on_gpu) continue;
    for (const GemmShape& shape : kIntegerCuda) integer_add(rows, shape, output);
    if (context.level == Level::quick) continue;
    for (const GemmShape& shape : kIntegerNightly) integer_add(rows, shape, output);
  }
  if (!on_gpu) return rows;
  integer_add(rows, kLarge, GemmOutput::f32);
  const std::uint64_t timed = usual_edge(context.device);
  integer_add(rows, {timed, timed, timed},
              GemmOutput::bf16);  // by the kernel that gemm.local.speed times
  return rows;
}

const Register kInteger{{
    .name = "gemm.local.integer",
    .claim = "a product of integers from -3 to 3 is exact in every element, and nothing outside C "
             "is written",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 8,
    .rows = integer_rows,
}};

// One element, one tile of each rung, one less and one more, rows of C that end off 16 bytes, and
// more steps of k than any ring has stages.
constexpr GemmShape kLadderSmall[] = {{1, 1, 1},      {64, 64, 64},   {127, 255, 63},
                                      {128, 256, 64}, {129, 257, 65}, {130, 66, 456},
                                      {257, 8, 40}};
// Several tiles for each SM, an odd number of them along M, and both parities of a ring.
constexpr GemmShape kLadderCuda[] = {
    {256, 512, 136}, {1000, 1016, 1032}, {4224, 2560, 192}, {2047, 1025, 1031}};
constexpr GemmShape kLadderNightly[] = {{4096, 4096, 4096}, {4095, 4100, 4097}};

void ladder_add(std::vector<Op>& rows, const GemmShape& shape, GemmOutput output) {
  for (const GemmRung rung : kGemmRungs) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = output;
    gemm.rung = rung;
    rows.emplace_back(gemm);
  }
}

// Every kernel of the GEMM ladder multiplies small integers: a product with one right answer, so a
// rung that is faster because it does less shows at once.
std::vector<Op> ladder_rows(const RunContext& context) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    for (const GemmShape& shape : kLadderSmall) ladder_add(rows, shape, output);
    if (!on_gpu) continue;
    for (const GemmShape& shape : kLadderCuda) ladder_add(rows, shape, output);
    if (context.level == Level::quick) continue;
    for (const GemmShape& shape : kLadderNightly) ladder_add(rows, shape, output);
  }
  return rows;
}

const Register kLadder{{
    .name = "gemm.local.ladder",
    .claim =
        "every kernel of the ladder multiplies integers from -3 to 3 exactly and writes nothing "
        "outside C",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 8,
    .rows = ladder_rows,
}};

std::vector<PlantedElement> first_of_b(std::uint64_t, std::uint64_t, std::uint64_t) {
  return {{GemmOperand::b, 0, 0, NonFinite::nan}};
}
std::vector<PlantedElement> nan_last_of_a(std::uint64_t m, std::uint64_t, std::uint64_t k) {
  return {{GemmOperand::a, m - 1, k - 1, NonFinite::nan}};
}
std::vector<PlantedElement> inside_a(std::uint64_t m, std::uint64_t, std::uint64_t k) {
  return {{GemmOperand::a, m / 3, k / 2, NonFinite::nan}};
}
/// Infinite where the products differ in sign, NaN where they do not.
std::vector<PlantedElement> both_infinities(std::uint64_t m, std::uint64_t, std::uint64_t k) {
  return {{GemmOperand::a, m / 4, 0, NonFinite::infinity},
          {GemmOperand::a, m / 4, k - 1, NonFinite::minus_infinity}};
}
/// NaN wins over an infinity.
std::vector<PlantedElement> nan_and_infinity(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return {{GemmOperand::a, m / 3, k / 3, NonFinite::infinity},
          {GemmOperand::b, n / 4, k - 1, NonFinite::nan}};
}

// One GPU multiplies integers of which one is NaN, or two of one row are infinite with both signs:
// NaN reaches the whole row or column, and nothing else.
std::vector<Op> nan_rows(const RunContext& context) {
  return planted_rows(context,
                      {first_of_b, nan_last_of_a, inside_a, both_infinities, nan_and_infinity});
}

const Register kNan{{
    .name = "gemm.local.nan",
    .claim = "a NaN in A makes its row of C NaN, one in B its column, and infinities of both signs "
             "sum to NaN; all others are exact",
    .cites = "IEEE 754-2019, 6.2: operations on a quiet NaN deliver one, and 7.2: the sum of "
             "infinities of opposite signs is NaN",
    .seconds = 2,
    .rows = nan_rows,
}};

// K around what one wgmma takes (16, of fp8 32), a stage of the ring (64, 128) and several of them;
// and so long that bf16 rounds it.
constexpr std::uint64_t kTails[] = {1,  15,  16,  17,  31,  33,  63, 64,
                                    65, 127, 128, 129, 191, 261, 515};
// Many tiles, few of them with a long K, which blocks share, and nothing round.
constexpr GemmShape kOnesCuda[] = {
    {1024, 1024, 1024}, {520, 264, 8200}, {64, 136, 65536}, {2047, 1025, 1031}, {300, 5000, 97}};
constexpr GemmShape kOnesNightly[] = {{4096, 4096, 4096}, {8192, 8200, 2047}};

// One GPU multiplies ones: each element of C is K, whatever is left out of it shows how much.
std::vector<Op> ones_rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmElement element, GemmOutput output) {
    Gemm gemm = whole_product(shape, GemmInputs::ones);
    gemm.output = output;
    gemm.element = element;
    rows.emplace_back(gemm);
  };
  for (const GemmElement element :
       {GemmElement::bf16, GemmElement::f16, GemmElement::e4m3, GemmElement::e5m2}) {
    const GemmOutput half = element == GemmElement::bf16 ? GemmOutput::bf16 : GemmOutput::f16;
    for (const std::uint64_t k : kTails) add({20, 24, k}, element, GemmOutput::f32);
    add({9, 66, 1671}, element, half);
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kOnesCuda) add(shape, element, GemmOutput::f32);
    if (context.level == Level::quick) continue;
    for (const GemmShape& shape : kOnesNightly) add(shape, element, half);
  }
  return rows;
}

const Register kOnes{{
    .name = "gemm.local.ones",
    .claim = "each element of a product of ones is K: no part of K is left out or summed up twice",
    .cites = "PTX ISA 9.0, wgmma.mma_async: products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 4,
    .rows = ones_rows,
}};

// One tile, less, more, tails each way; columns whose 1 would lie behind K are all zeros.
constexpr GemmShape kPermutationSmall[] = {{1, 1, 1},      {3, 61, 64},   {64, 64, 64},
                                           {65, 130, 135}, {129, 71, 72}, {40, 200, 264}};
constexpr GemmShape kPermutationCuda[] = {
    {1024, 1024, 1024}, {1000, 2056, 4104}, {2047, 1031, 1033}, {257, 511, 512}};
constexpr GemmShape kPermutationNightly[] = {{4096, 4096, 4096}, {8192, 8184, 8200}};

// One GPU multiplies by a matrix that has one 1 in each column: each element of C is one of A, and
// a wrong one says from where it came.
std::vector<Op> permutation_rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmElement element, Major a, Major b) {
    Gemm gemm = whole_product(shape, GemmInputs::permutation);
    gemm.output = element == GemmElement::bf16 ? GemmOutput::bf16 : GemmOutput::f16;
    gemm.element = element;
    gemm.a_major = a;
    gemm.b_major = b;
    rows.emplace_back(gemm);
  };
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
    for (const Major a : {Major::k, Major::mn})
      for (const Major b : {Major::k, Major::mn}) {
        for (const GemmShape& shape : kPermutationSmall) add(shape, element, a, b);
        if (context.device != DeviceKind::cuda) continue;
        for (const GemmShape& shape : kPermutationCuda) add(shape, element, a, b);
        if (context.level == Level::quick) continue;
        for (const GemmShape& shape : kPermutationNightly) add(shape, element, a, b);
      }
  return rows;
}

const Register kPermutation{{
    .name = "gemm.local.permutation",
    .claim = "a product with a permutation puts each element of A in its place, bit for bit, "
             "whichever index of A and of B is contiguous",
    .cites = "PTX ISA 9.0, wgmma.mma_async: imm-trans-a and imm-trans-b for .f16 and .bf16; IEEE "
             "754-2019, 4.3: exact results are not rounded",
    .seconds = 6,
    .rows = permutation_rows,
}};

// Less than a tile and more, tails of k, more k than a ring.
constexpr GemmShape kSamplesSmall[] = {{1, 1, 1}, {65, 130, 72}, {130, 66, 264}, {33, 20, 2047}};
constexpr GemmShape kSamplesCuda[] = {{1024, 1032, 4096}, {2047, 1025, 1031}};
constexpr GemmShape kSamplesNightly[] = {{2048, 2056, 4104}};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

// One GPU multiplies normal numbers of every type into every type. They use all bits of the
// multipliers, and are right within the rounding of their sums: small products are held against
// fp64 in every element, large ones in blocks drawn from the seed, by Freivalds' check and against
// the GPU's other engine.
std::vector<Op> samples_rows(const RunContext& context) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
    for (const GemmOutput output : kOutputs) {
      const auto add = [&](const GemmShape& shape) {
        Gemm gemm = whole_product(shape, GemmInputs::normal);
        gemm.output = output;
        gemm.element = element;
        rows.emplace_back(gemm);
      };
      for (const GemmShape& shape : kSamplesSmall) add(shape);
      if (!on_gpu) continue;
      for (const GemmShape& shape : kSamplesCuda) add(shape);
      if (context.level == Level::quick) continue;
      for (const GemmShape& shape : kSamplesNightly) add(shape);
    }
  return rows;
}

const Register kSamples{{
    .name = "gemm.local.samples",
    .claim =
        "sums of products of normal numbers are within the rounding of fp32 sums of their fp64 "
        "values, and rounded once where C is of 16 bits",
    .cites = "PTX ISA 9.0, wgmma.mma_async: .f16 and .bf16 products are accumulated with at least "
             "single precision; cvt.rn.bf16.f32 and cvt.rn.f16.f32",
    .seconds = 2,
    .rows = samples_rows,
}};

}  // namespace
}  // namespace tidemark
