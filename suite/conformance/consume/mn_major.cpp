// One operand or both with M or N contiguous, which only 16-bit types allow; tiles of one and of
// several swizzle spans.
#include "suite/case.hpp"
#include "suite/conformance/consumed_tile.hpp"

namespace tidemark::suite {
namespace {

struct Majors {
  Major a, b;
};

std::vector<Op> rows(const RunContext& context) {
  constexpr Majors kMajors[] = {
      {Major::mn, Major::mn}, {Major::mn, Major::k}, {Major::k, Major::mn}};
  std::vector<Op> rows;
  for (const Swizzle swizzle : kEverySwizzle)
    for (const MmaType type : {MmaType::f16, MmaType::bf16})
      for (const Majors& majors : kMajors)
        for (const std::uint32_t n : kEveryN)
          for (const std::uint32_t spans : {1U, 2U, 3U}) {
            if (majors.b == Major::mn && n < n_of_span(swizzle)) continue;
            // Quick runs take the narrowest tile that has all spans of its kind, and a wider one.
            const std::uint32_t narrow = n_of_span(swizzle) * (type == MmaType::f16 ? 1 : 2);
            if (context.level == Level::quick && (n != narrow || spans == 2)) continue;
            rows.emplace_back(
                consumed(type, majors.a, majors.b, swizzle, n, k_of_spans(type, swizzle, spans)));
          }
  return rows;
}

const Register kCase{{
    .name = "consume.mn_major",
    .claim = "wgmma makes the exact product of tiles that TMA has written with M or N contiguous, "
             "each operand transposed on its own",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2.1 major-ness supported by strides, 9.7.15.5.2 "
             "wgmma.mma_async, imm-trans-a and imm-trans-b",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
