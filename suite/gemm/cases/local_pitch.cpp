// One GPU multiplies matrices that are parts of wider ones: what lies between their rows is NaN, is
// not read, and stays as it is in C.
#include <cstddef>
#include <span>

#include "suite/benchmark/gemm_metrics.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

constexpr GemmShape kSmall[] = {{3, 5, 7}, {64, 64, 64}, {65, 66, 72}, {34, 130, 71}, {24, 9, 0}};
constexpr GemmShape kCuda[] = {{257, 511, 1031}, {1000, 520, 200}};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

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
        gemm.output = kOutputs[turn % std::size(kOutputs)];
        gemm.element = turn % 5 == 3 ? GemmElement::f16 : GemmElement::bf16;
        gemm.a_major = major;
        gemm.b_major = turn / 5 % 2 == 0 ? major : other(major);
        gemm.alpha = turn % 7 == 2 ? 0.5F : 1.0F;
        gemm.beta = turn / 3 % 4 == 2 ? 2.0F : 0.0F;
        rows.emplace_back(off_16_bytes(gemm, off, more));
        ++turn;
      }
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  std::size_t turn = 0;
  const auto add = [&](const GemmShape& shape, Major major) {
    Gemm gemm = whole_product(shape, GemmInputs::small_integers);
    gemm.output = kOutputs[turn % std::size(kOutputs)];
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
    for (const GemmShape& shape : kSmall) add(shape, major);
    for (const GemmShape& shape : kSmall) add(shape, major);  // with the next types and scalars
    if (context.device != DeviceKind::cuda) continue;
    for (const GemmShape& shape : kCuda) add(shape, major);
  }
  add_off_16_bytes(rows, kOdd);
  if (context.device == DeviceKind::cuda) add_off_16_bytes(rows, kOddCuda);
  if (context.level == Level::nightly)  // what gemm.local.pitch_speed times
    for (const std::uint64_t more : kPitchesTimed)
      rows.emplace_back(
          pitched_square(usual_edge(context.device), more, GemmInputs::small_integers));
  return rows;
}

const Register kCase{{
    .name = "gemm.local.pitch",
    .claim = "rows of A, B and C may lie apart, by any number of elements: what is between them is "
             "neither read nor written",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled: globalStrides; Reference BLAS, "
             "xGEMM: LDA, LDB, LDC",
    .seconds = 6,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
