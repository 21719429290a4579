// The GEMM of one GPU in all its forms: types, scalars, SMs, pitches, transposed, tuned.
#include <cstddef>
#include <span>

#include "suite/case.hpp"
#include "suite/gemm/gemm_metrics.hpp"

namespace tidemark {
namespace {

struct Scalars {
  float alpha, beta;
};

// Nothing to sum, one element, less and more than a tile, rows that end off 16 bytes.
constexpr GemmShape kBlendSmall[] = {
    {20, 24, 0}, {1, 1, 1}, {65, 67, 72}, {33, 130, 71}, {129, 8, 264}};
constexpr GemmShape kBlendCuda[] = {{300, 520, 136}, {257, 511, 1032}, {1000, 1016, 200}};
constexpr Scalars kBlendScalars[] = {{1, 0}, {2, 0},  {1, 1},     {-1, 2}, {0.5F, -3}, {0, 0},
                                     {0, 1}, {0, -2}, {3, 0.25F}, {-4, 4}, {1, -1},    {0.25F, 1}};
constexpr GemmOutput kBlendOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

void add(std::vector<Op>& rows, const GemmShape& shape, const Scalars& scalars, GemmOutput output) {
  Gemm gemm = whole_product(shape, GemmInputs::small_integers);
  gemm.output = output;
  gemm.alpha = scalars.alpha;
  gemm.beta = scalars.beta;
  rows.emplace_back(gemm);
}

// One GPU multiplies small integers by alpha and adds beta times what C held: quarters and
// integers, so that every element has one right answer. Where beta is 0, C holds NaN.
std::vector<Op> blend_rows(const RunContext& context) {
  std::vector<Op> rows;
  std::size_t turn = 0;  // every pair of scalars with every output, shapes in turn
  for (const Scalars& scalars : kBlendScalars)
    for (const GemmOutput output : kBlendOutputs) {
      add(rows, kBlendSmall[turn % std::size(kBlendSmall)], scalars, output);
      if (context.device == DeviceKind::cuda)
        add(rows, kBlendCuda[turn % std::size(kBlendCuda)], scalars, output);
      ++turn;
    }
  return rows;
}

const Register kBlend{{
    .name = "gemm.local.blend",
    .claim = "alpha A B + beta C is exact in integers and quarters; with beta 0 the C that was "
             "there, all NaN, does not matter, with alpha or k 0 nothing is added",
    .cites =
        "Reference BLAS, xGEMM: when BETA is supplied as zero then C need not be set on input; "
        "IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 4,
    .rows = blend_rows,
}};

constexpr GemmShape kBudgetSmall[] = {{129, 257, 72}, {200, 264, 136}};
constexpr GemmShape kBudgetCuda[] = {{1024, 1024, 8192}, {2047, 1025, 511}, {2048, 3080, 1031}};

// The fewest that hold a cluster, half of an H100 or H200, and two that leave some for others; an
// odd one leaves half a cluster idle.
constexpr std::uint32_t kBudgets[] = {2, 66, 116, 131};

// One GPU multiplies with fewer SMs than it has: each then has more tiles to go through, and the
// answer is the same.
std::vector<Op> budget_rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, std::uint32_t budget, GemmOutput output,
                       float beta) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = output;
    gemm.sm_budget = budget;
    gemm.beta = beta;
    rows.emplace_back(gemm);
  };
  for (const std::uint32_t budget : kBudgets)
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
      for (const GemmShape& shape : kBudgetSmall) {
        add(shape, budget, output, 0);
        add(shape, budget, output, 1);
      }
      if (context.device != DeviceKind::cuda) continue;
      for (const GemmShape& shape : kBudgetCuda) add(shape, budget, output, 0);
    }
  return rows;
}

const Register kBudget{{
    .name = "gemm.local.budget",
    .claim = "the engine multiplies integers from -3 to 3 exactly on as few SMs as it is told to "
             "take, and writes nothing outside C",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 2,
    .rows = budget_rows,
}};

constexpr GemmShape kFp16Small[] = {{1, 1, 1}, {64, 64, 64}, {65, 130, 72}, {33, 20, 1031}};
// The last one has tiles enough for stream-K.
constexpr GemmShape kFp16Cuda[] = {{257, 511, 1032}, {1000, 520, 200}, {2560, 2400, 1032}};
constexpr GemmOutput kFp16Outputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

// One GPU multiplies fp16: integers with one right answer in every type of C, and normal numbers
// within the rounding of their sums.
std::vector<Op> fp16_rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmOutput output, GemmInputs inputs, float alpha,
                       float beta) {
    Gemm gemm = whole_product(shape, inputs);
    gemm.output = output;
    gemm.element = GemmElement::f16;
    gemm.alpha = alpha;
    gemm.beta = beta;
    rows.emplace_back(gemm);
  };
  for (const GemmOutput output : kFp16Outputs) {
    for (const GemmShape& shape : kFp16Small) add(shape, output, GemmInputs::small_integers, 1, 0);
    add(kFp16Small[2], output, GemmInputs::small_integers, -2, 3);
    add(kFp16Small[2], output, GemmInputs::normal, 1, 0);
    add(kFp16Small[3], output, GemmInputs::normal, 0.75F, -1.5F);
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kFp16Cuda) add(shape, output, GemmInputs::small_integers, 1, 0);
    add(kFp16Cuda[0], output, GemmInputs::normal, 1, 0);
  }
  return rows;
}

const Register kFp16{{
    .name = "gemm.local.fp16",
    .claim = "products of fp16 are exact in integers, rounded once where C is of 16 bits, and "
             "within the rounding of fp32 sums otherwise",
    .cites = "PTX ISA 9.0, wgmma.mma_async: .f16 products with .f32 accumulators; IEEE 754-2019, "
             "3.6: binary16",
    .seconds = 3,
    .rows = fp16_rows,
}};

// One element; a tile of 64; tails of m, n and k; one stage of 128 k, a little more, and several.
constexpr GemmShape kFp8Small[] = {
    {1, 1, 1}, {64, 64, 64}, {65, 130, 72}, {20, 24, 128}, {33, 20, 521}};
constexpr GemmShape kFp8Cuda[] = {
    {128, 128, 128}, {257, 511, 1032}, {1000, 520, 200}, {300, 265, 139}, {129, 640, 2047}};
constexpr GemmShape kNormal = {33, 20, 521};
// Few enough for every element to be worked out.
constexpr GemmShape kNormalCuda = {260, 390, 1031};
constexpr GemmShape kLongSums = {20, 24, 2048};  // about 25000: the tensor core has 14 bits
constexpr Scalars kFp8Scalars[] = {{2, 0}, {1, 1}, {-0.5F, 3}, {0, -2}};
constexpr GemmOutput kFp8Outputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

Gemm product(const GemmShape& shape, GemmElement element, GemmOutput output) {
  Gemm gemm = whole_product(shape, GemmInputs::small_integers);
  gemm.output = output;
  gemm.element = element;
  return gemm;
}

/// Rows of A and B on 16 bytes further apart than they need be, those of C anywhere.
Gemm apart(Gemm gemm, std::uint64_t ldc_more) {
  gemm.lda = layout_of(gemm, GemmOperand::a).pitch + 16;
  gemm.ldb = layout_of(gemm, GemmOperand::b).pitch + 48;
  gemm.ldc = gemm.cols.count + ldc_more;
  return gemm;
}

void add_scaled(std::vector<Op>& rows, GemmElement element, const GemmShape& shape) {
  std::size_t turn = 0;
  for (const Scalars& scalars : kFp8Scalars) {
    Gemm gemm = product(shape, element, kFp8Outputs[turn++ % std::size(kFp8Outputs)]);
    gemm.alpha = scalars.alpha;
    gemm.beta = scalars.beta;
    rows.emplace_back(gemm);
  }
}

/// A NaN in A; with e5m2 an infinity in B, too.
void add_planted(std::vector<Op>& rows, GemmElement element, const GemmShape& shape) {
  Gemm gemm = product(shape, element, GemmOutput::f32);
  gemm.planted = {{GemmOperand::a, shape.m / 2, shape.k - 1, NonFinite::nan}};
  if (element == GemmElement::e5m2)
    gemm.planted.push_back({GemmOperand::b, shape.n / 3, shape.k / 2, NonFinite::minus_infinity});
  rows.emplace_back(gemm);
}

void add_normal(std::vector<Op>& rows, GemmElement element, const GemmShape& shape) {
  for (const GemmOutput output : kFp8Outputs) {
    Gemm gemm = product(shape, element, output);
    gemm.inputs = GemmInputs::normal;
    rows.emplace_back(gemm);
  }
}

// One GPU multiplies e4m3 and e5m2: integers with one right answer in every type of C, whatever
// lies between rows, elements that are no finite numbers, and normal numbers within the bound of
// sums of which the tensor cores keep 14 bits.
std::vector<Op> fp8_rows(const RunContext& context) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2}) {
    for (const GemmOutput output : kFp8Outputs) {
      for (const GemmShape& shape : kFp8Small) rows.emplace_back(product(shape, element, output));
      rows.emplace_back(apart(product(kFp8Small[2], element, output), 3));
      rows.emplace_back(apart(product(kFp8Small[4], element, output), 20));
      if (!on_gpu) continue;
      for (const GemmShape& shape : kFp8Cuda) rows.emplace_back(product(shape, element, output));
      rows.emplace_back(apart(product(kFp8Cuda[1], element, output), 0));
      rows.emplace_back(apart(product(kFp8Cuda[3], element, output), 7));
    }
    add_scaled(rows, element, kFp8Small[2]);
    add_planted(rows, element, kFp8Small[2]);
    add_normal(rows, element, kNormal);
    rows.emplace_back(product(kLongSums, element, GemmOutput::f32));
    std::get<Gemm>(rows.back()).inputs = GemmInputs::octal_digits;
    if (!on_gpu) continue;
    add_scaled(rows, element, kFp8Cuda[1]);
    add_planted(rows, element, kFp8Cuda[1]);
    add_normal(rows, element, kNormalCuda);
  }
  return rows;
}

const Register kFp8{{
    .name = "gemm.local.fp8",
    .claim = "products of e4m3 and of e5m2 are exact in integers, rounded once where C is of 16 "
             "bits, and otherwise within the bound of sums that are promoted to fp32 every 128 k",
    .cites = "PTX ISA 9.0, wgmma.mma_async: .e4m3 and .e5m2 products with .f32 accumulators; OCP "
             "8-bit Floating Point Specification 1.0, 5: E4M3 and E5M2",
    .seconds = 4,
    .rows = fp8_rows,
}};

// Digits from 0 to 7: about 12 a product. Whole stages of 128 k, and a tail.
constexpr GemmShape kFp8SumsSmall[] = {{20, 24, 2048}, {9, 66, 1671}};
constexpr GemmShape kFp8SumsCuda[] = {{256, 128, 8192}, {129, 265, 4103}, {64, 72, 16384}};
constexpr GemmShape kFp8SumsNightly = {1024, 1032, 8192};

// One GPU sums up fp8 products that are all positive: integers of up to 18 bits, which the 14 bits
// that the tensor cores keep cannot hold. They are exact where sums are promoted to fp32 in time.
std::vector<Op> fp8_sums_rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmElement element, GemmOutput output) {
    Gemm gemm = whole_product(shape, GemmInputs::octal_digits);
    gemm.output = output;
    gemm.element = element;
    rows.emplace_back(gemm);
  };
  for (const GemmElement element : {GemmElement::e4m3, GemmElement::e5m2}) {
    for (const GemmShape& shape : kFp8SumsSmall) {
      add(shape, element, GemmOutput::f32);
      add(shape, element, GemmOutput::f16);
    }
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kFp8SumsCuda) {
      add(shape, element, GemmOutput::f32);
      add(shape, element, GemmOutput::bf16);
    }
    if (context.level == Level::quick) continue;
    add(kFp8SumsNightly, element, GemmOutput::f32);
  }
  if (context.device == DeviceKind::cuda && context.level == Level::quick) return rows;
  const std::uint64_t timed = usual_edge(context.device);  // by the kernel that the benchmark times
  add({timed, timed, timed}, GemmElement::e4m3, GemmOutput::bf16);
  return rows;
}

const Register kFp8Sums{{
    .name = "gemm.local.fp8_sums",
    .claim =
        "sums of fp8 products that need more bits than the tensor cores keep of them are exact: "
        "every 128 k they are promoted to fp32",
    .cites = "PTX ISA 9.0, wgmma.mma_async: .e4m3 and .e5m2 products with .f32 accumulators; "
             "DeepSeek-V3 Technical Report, 3.3.2: about 14 bits are kept; IEEE "
             "754-2019, 4.3: exact results are not rounded",
    .seconds = 6,
    .rows = fp8_sums_rows,
}};

constexpr GemmShape kPitchSmall[] = {
    {3, 5, 7}, {64, 64, 64}, {65, 66, 72}, {34, 130, 71}, {24, 9, 0}};
constexpr GemmShape kPitchCuda[] = {{257, 511, 1031}, {1000, 520, 200}};
constexpr GemmOutput kPitchOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

// Rows that end on 16 bytes and off them, less and more than a tile, every tail of k; up to
// eight elements lie between them.
constexpr GemmShape kOdd[] = {{33, 35, 71}, {65, 66, 76},   {1, 9, 8},    {34, 130, 65},
                              {9, 12, 14},  {40, 131, 130}, {17, 69, 67}, {7, 71, 77}};
constexpr GemmShape kOddCuda[] = {{257, 511, 1031}, {1000, 521, 200}, {300, 265, 139}};

/// Whose rows start wherever the ones before them end, or a few elements behind that.
struct Off {
  bool a, b, c;
};
constexpr Off kOff[] = {
    {true, false, false}, {false, true, false}, {false, false, true}, {true, true, true}};

constexpr Major other(Major major) { return major == Major::k ? Major::mn : Major::k; }

/// `more` elements lie between the rows of those that are off.
Gemm off_16_bytes(Gemm gemm, const Off& off, std::uint64_t more) {
  if (off.a) gemm.lda = layout_of(gemm, GemmOperand::a).elements + more;
  if (off.b) gemm.ldb = layout_of(gemm, GemmOperand::b).elements + more;
  if (off.c) gemm.ldc = gemm.cols.count + more;
  return gemm;
}

/// Every `more` from 0 to 8 with each of A, B, C and all three; shapes, types, layouts and scalars
/// in turn.
void add_off_16_bytes(std::vector<Op>& rows, std::span<const GemmShape> shapes) {
  std::size_t turn = 0;
  for (std::uint64_t more = 0; more <= 8; ++more)
    for (const Off& off : kOff)
      for (const Major major : {Major::k, Major::mn}) {
        const GemmShape& shape = shapes[(turn + more) % shapes.size()];
        Gemm gemm = whole_product(shape, GemmInputs::small_integers);
        gemm.output = kPitchOutputs[turn % std::size(kPitchOutputs)];
        gemm.element = turn % 5 == 3 ? GemmElement::f16 : GemmElement::bf16;
        gemm.a_major = major;
        gemm.b_major = turn / 5 % 2 == 0 ? major : other(major);
        gemm.alpha = turn % 7 == 2 ? 0.5F : 1.0F;
        gemm.beta = turn / 3 % 4 == 2 ? 2.0F : 0.0F;
        rows.emplace_back(off_16_bytes(gemm, off, more));
        ++turn;
      }
}

// One GPU multiplies matrices that are parts of wider ones: what lies between their rows is NaN, is
// not read, and stays as it is in C.
std::vector<Op> pitch_rows(const RunContext& context) {
  std::vector<Op> rows;
  std::size_t turn = 0;
  const auto add = [&](const GemmShape& shape, Major major) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = kPitchOutputs[turn % std::size(kPitchOutputs)];
    gemm.element = turn % 2 == 0 ? GemmElement::bf16 : GemmElement::f16;
    gemm.a_major = major;
    gemm.b_major = turn % 3 == 0 ? major : Major::k;
    gemm.alpha = turn % 5 == 0 ? 0.5F : 1.0F;
    gemm.beta = turn % 4 == 0 ? 2.0F : 0.0F;
    gemm.lda = layout_of(gemm, GemmOperand::a).pitch + 8;
    gemm.ldb = layout_of(gemm, GemmOperand::b).pitch + 40;
    gemm.ldc = c_row_pitch(gemm) / c_element_bytes(gemm.output) + 24;
    rows.emplace_back(gemm);
    ++turn;
  };
  for (const Major major : {Major::k, Major::mn}) {
    for (const GemmShape& shape : kPitchSmall) add(shape, major);
    for (const GemmShape& shape : kPitchSmall)
      add(shape, major);  // with the next types and scalars
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kPitchCuda) add(shape, major);
  }
  add_off_16_bytes(rows, kOdd);
  if (context.device == DeviceKind::cuda) add_off_16_bytes(rows, kOddCuda);
  if (context.level == Level::nightly)  // what gemm.local.pitch_speed times
    for (const std::uint64_t more : kPitchesTimed)
      rows.emplace_back(
          pitched_square(usual_edge(context.device), more, GemmInputs::small_integers));
  return rows;
}

const Register kPitch{{
    .name = "gemm.local.pitch",
    .claim = "rows of A, B and C may lie apart, by any number of elements: what is between them is "
             "neither read nor written",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled: globalStrides; Reference BLAS, "
             "xGEMM: LDA, LDB, LDC",
    .seconds = 6,
    .rows = pitch_rows,
}};

// A whole swizzle span each way, one more and one less, tails in m, n and k, more k than a ring.
constexpr GemmShape kTransposedSmall[] = {
    {64, 64, 64}, {65, 130, 72}, {1, 40, 9}, {129, 67, 71}, {72, 24, 264}};
constexpr GemmShape kTransposedCuda[] = {
    {128, 256, 64}, {300, 520, 136}, {257, 511, 1031}, {1000, 1016, 200}, {2047, 520, 72}};
constexpr GemmOutput kTransposedOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

// One GPU multiplies small integers whose matrices are kept either way round: rows of k, or rows of
// m and n.
std::vector<Op> transposed_rows(const RunContext& context) {
  std::vector<Op> rows;
  std::size_t turn = 0;
  const auto add = [&](const GemmShape& shape, Major a, Major b, GemmElement element) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = kTransposedOutputs[turn % std::size(kTransposedOutputs)];
    gemm.element = element;
    gemm.a_major = a;
    gemm.b_major = b;
    gemm.beta = turn % 4 == 0 ? 1.0F : 0.0F;
    if (turn % 5 == 3) {  // parts of wider matrices, too
      gemm.lda = layout_of(gemm, GemmOperand::a).pitch + 16;
      gemm.ldb = layout_of(gemm, GemmOperand::b).pitch + 8;
      gemm.ldc = c_row_pitch(gemm) / c_element_bytes(gemm.output) + 8;
    }
    if (turn % 5 == 4) {  // of which no row but the first starts on 16 bytes
      gemm.lda = layout_of(gemm, GemmOperand::a).elements | 1;
      gemm.ldb = layout_of(gemm, GemmOperand::b).elements | 1;
      gemm.ldc = gemm.cols.count | 1;
    }
    if (turn % 7 == 3) gemm.sm_budget = 3;  // on a few SMs: two, where blocks come in pairs
    rows.emplace_back(gemm);
    ++turn;
  };
  for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
    for (const Major a : {Major::k, Major::mn})
      for (const Major b : {Major::k, Major::mn}) {
        for (const GemmShape& shape : kTransposedSmall) add(shape, a, b, element);
        if (context.device != DeviceKind::cuda) continue;
        for (const GemmShape& shape : kTransposedCuda) add(shape, a, b, element);
      }
  return rows;
}

const Register kTransposed{{
    .name = "gemm.local.transposed",
    .claim = "a product of small integers is exact whichever index of A and of B is contiguous",
    .cites = "PTX ISA 9.0, wgmma.mma_async: imm-trans-a and imm-trans-b for .f16 and .bf16",
    .seconds = 4,
    .rows = transposed_rows,
}};

constexpr GemmShape kTunedSmall[] = {{1, 1, 1}, {64, 128, 64}, {129, 257, 72}, {40, 72, 1031}};
// Near the table's entries: few tiles, many, a long and a short K.
constexpr GemmShape kTunedCuda[] = {
    {512, 512, 512}, {1024, 1024, 1024}, {1000, 1016, 2040}, {520, 264, 8200}, {2047, 1025, 511}};
constexpr GemmShape kTunedNightly[] = {{4096, 4096, 4096}, {8192, 4104, 1031}};

// One GPU multiplies small integers with the engine's configuration for each size: whatever
// tile or cluster the table names, there is one right answer.
std::vector<Op> tuned_rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const GemmShape& shape, GemmOutput output) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = output;
    rows.emplace_back(gemm);
  };
  for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16}) {
    for (const GemmShape& shape : kTunedSmall) add(shape, output);
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kTunedCuda) add(shape, output);
    if (context.level == Level::quick) continue;
    for (const GemmShape& shape : kTunedNightly) add(shape, output);
  }
  return rows;
}

const Register kTuned{{
    .name = "gemm.local.tuned",
    .claim = "the configuration that the engine takes for a size multiplies integers from -3 to 3 "
             "exactly and writes nothing outside C",
    .cites = "PTX ISA 9.0, wgmma.mma_async: bf16 products are accumulated with at least single "
             "precision; IEEE 754-2019, 4.3: exact results are not rounded",
    .seconds = 4,
    .rows = tuned_rows,
}};

}  // namespace
}  // namespace tidemark
