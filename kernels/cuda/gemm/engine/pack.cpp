// Decides which operands TMA cannot read as they are.
#include "kernels/cuda/gemm/engine/pack.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kRowElements = 64;  // 128 bytes: a line of L2, a span of the swizzle

bool starts_on_16(const std::byte* base, std::uint64_t pitch) {
  return reinterpret_cast<std::uintptr_t>(base) % 16 == 0 &&
         pitch * sizeof(std::uint16_t) % 16 == 0;
}

}  // namespace

PackedRows packed_rows(const LocalGemm& gemm, GemmOperand operand) {
  const bool is_a = operand == GemmOperand::a;
  const std::byte* const from = is_a ? gemm.a : gemm.b;
  const std::uint64_t pitch = is_a ? gemm.pitch : gemm.pitch_of_b();
  if (is_fp8(gemm.element) || starts_on_16(from, pitch)) return {};
  const bool k_major = (is_a ? gemm.a_major : gemm.b_major) == Major::k;
  const std::uint64_t indices = is_a ? gemm.m : gemm.n;
  PackedRows packed{.from = from,
                    .rows = k_major ? indices : gemm.k,
                    .elements = k_major ? gemm.k : indices,
                    .from_pitch = pitch};
  packed.to_pitch = (packed.elements + kRowElements - 1) / kRowElements * kRowElements;
  return packed;
}

}  // namespace tidemark
