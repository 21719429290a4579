// The loops of the verification, on all cores and by the widest vectors of the CPU.
#include "suite/gemm/loops.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/error.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

/// A loop with it is compiled for several kinds of vectors, and runs with the widest of the CPU
/// that it finds itself on: the program is built for any x86-64, whose own vectors are a quarter as
/// wide as those of a GPU's host. Not under the thread sanitizer, which is not up when the loader
/// chooses. Integers come out the same everywhere; sums of fp64 may be fused,
/// and differ in their last places.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define TIDEMARK_WIDEST [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define TIDEMARK_WIDEST
#endif

constexpr std::size_t kSums = 8;  // side by side, so that no addition waits for the one before

/// What gemm_value() hashes for element k is hash_base() + k kHashStep, mixed once more.
constexpr std::uint64_t kHashStep = 0xd1342543de82ef95ULL;

std::uint64_t hash_base(const Gemm& gemm, GemmOperand which, std::uint64_t row) {
  const std::uint64_t stream = which == GemmOperand::a ? 0xa1 : 0xb2;
  return splitmix64(gemm.seed ^ stream) + splitmix64(row);
}

/// x % 7 without a division of 64 bits, which no vector has: 8^n leaves 1, so that groups of 3 n
/// bits may be added.
[[gnu::always_inline]] inline std::int32_t modulo_7(std::uint64_t x) {
  constexpr std::uint64_t k30 = (1U << 30) - 1;
  const auto sum = static_cast<std::uint32_t>((x & k30) + ((x >> 30) & k30) + (x >> 60));
  const std::uint32_t shorter = (sum & 0x7fffU) + (sum >> 15);
  const std::uint32_t shortest = (shorter & 0x1ffU) + (shorter >> 9);  // below 768
  return static_cast<std::int32_t>(shortest - 7 * ((shortest * 9363U) >> 16));
}

template <class T>
TIDEMARK_WIDEST void make_small(std::uint64_t first, std::size_t count, T* to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(modulo_7(splitmix64(first + i * kHashStep)) - 3);
}

template <class T>
TIDEMARK_WIDEST void make_digits(std::uint64_t first, std::size_t count, T* to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(static_cast<int>(splitmix64(first + i * kHashStep) & 7U));
}

template <class T>
TIDEMARK_WIDEST void make_bytes(std::uint64_t first, std::size_t count, T* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<int>(splitmix64(first + i * kHashStep) & 255U);
    to[i] = static_cast<T>(byte - 128);
  }
}

TIDEMARK_WIDEST void make_normals(std::uint64_t first, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t hash = splitmix64(first + i * kHashStep);
    const std::uint64_t pairs =
        (hash & 0x0000ffff0000ffffULL) + ((hash >> 16) & 0x0000ffff0000ffff);
    const auto sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(pairs) +
                                               static_cast<std::uint32_t>(pairs >> 32));
    to[i] = static_cast<float>(sum - 131070) * (1.0F / 37837.0F);
  }
}

TIDEMARK_WIDEST void round_to_bf16(std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) values[i] = from_bf16(to_bf16(values[i]));
}

TIDEMARK_WIDEST void widen_bf16(const std::uint8_t* bytes, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes + 2 * i, sizeof bits);
    to[i] = from_bf16(bits);
  }
}

/// Exponents of all ones are what only NaN and infinities have.
template <class Bits, Bits exponent>
TIDEMARK_WIDEST bool find_non_finite(const std::uint8_t* bytes, std::size_t count) {
  Bits any = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, bytes + sizeof(Bits) * i, sizeof bits);
    any = static_cast<Bits>(any | ((bits & exponent) == exponent ? 1 : 0));
  }
  return any != 0;
}

/// Whether each element is its sum. As numbers: zeros of either sign are equal, a NaN never is.
TIDEMARK_WIDEST bool are_f32(std::span<const std::int32_t> sums, const std::uint8_t* bytes) {
  int different = 0;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    float actual = 0;
    std::memcpy(&actual, bytes + 4 * j, sizeof actual);
    different |= actual == static_cast<float>(sums[j]) ? 0 : 1;
  }
  return different == 0;
}

TIDEMARK_WIDEST bool are_bf16(std::span<const std::int32_t> sums, const std::uint8_t* bytes) {
  int different = 0;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    std::uint16_t actual = 0;
    std::memcpy(&actual, bytes + 2 * j, sizeof actual);
    different |= from_bf16(actual) == from_bf16(to_bf16(static_cast<float>(sums[j]))) ? 0 : 1;
  }
  return different == 0;
}

[[gnu::always_inline]] inline double dot_product(const float* a, const float* b,
                                                 std::size_t count) {
  std::array<double, kSums> sums{};
  std::size_t k = 0;
  for (; k + kSums <= count; k += kSums)
    for (std::size_t lane = 0; lane < kSums; ++lane)
      sums[lane] += static_cast<double>(a[k + lane]) * static_cast<double>(b[k + lane]);
  for (; k < count; ++k) sums[0] += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// Some of the lanes in a register. Each in a variable of its own: arrays of them, and vectors
/// wider than the CPU's, the compiler would keep in memory.
#if defined(__x86_64__)
constexpr std::size_t kPart = 4;
#else
constexpr std::size_t kPart = 2;
#endif
using Part [[gnu::vector_size(kPart * sizeof(double))]] = double;

/// Lanes `first` ... first + kPart - 1. By reference: as a value it would go through memory, too.
[[gnu::always_inline]] inline void take(Part& part, const Lanes& lanes, std::size_t first) {
  std::memcpy(&part, lanes.data() + first, sizeof part);
}
[[gnu::always_inline]] inline void keep(const Part& part, Lanes& lanes, std::size_t first) {
  std::memcpy(lanes.data() + first, &part, sizeof part);
}

/// Elements of A or B of all inputs but normal, exact in every type that may have them. Of normal
/// ones none: false.
template <class T>
bool make_integers(const Gemm& gemm, GemmOperand which, std::uint64_t row, std::uint64_t first_k,
                   std::span<T> to) {
  const std::uint64_t first = hash_base(gemm, which, row) + first_k * kHashStep;
  switch (gemm.inputs) {
    case GemmInputs::normal:
      return false;
    case GemmInputs::small_integers:
      make_small<T>(first, to.size(), to.data());
      return true;
    case GemmInputs::octal_digits:
      make_digits<T>(first, to.size(), to.data());
      return true;
    case GemmInputs::ones:
      std::fill(to.begin(), to.end(), T{1});
      return true;
    case GemmInputs::permutation:
      break;
  }
  if (which == GemmOperand::a) {
    make_bytes<T>(first, to.size(), to.data());
    return true;
  }
  std::fill(to.begin(), to.end(), T{0});
  const std::uint64_t k = permuted_k(gemm.seed, row);
  if (k >= first_k && k - first_k < to.size()) to[k - first_k] = T{1};
  return true;
}

}  // namespace

void make_operand(const Gemm& gemm, GemmOperand which, std::uint64_t row, std::uint64_t first_k,
                  std::span<float> to) {
  if (make_integers(gemm, which, row, first_k, to)) return;
  const std::uint64_t first = hash_base(gemm, which, row) + first_k * kHashStep;
  make_normals(first, to.size(), to.data());
  if (gemm.element == GemmElement::bf16)
    round_to_bf16(to.size(), to.data());
  else
    for (float& value : to) value = from_element(gemm.element, to_element(gemm.element, value));
}

void make_operand(const Gemm& gemm, GemmOperand which, std::uint64_t row, std::uint64_t first_k,
                  std::span<std::int16_t> to) {
  if (!make_integers(gemm, which, row, first_k, to))
    throw Error("gemm: normal inputs are no integers");
}

void read_elements(GemmOutput output, const std::uint8_t* bytes, std::span<float> to) {
  if (output == GemmOutput::bf16) return widen_bf16(bytes, to.size(), to.data());
  if (output == GemmOutput::f32) {
    if (!to.empty()) std::memcpy(to.data(), bytes, to.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes + 2 * i, sizeof bits);
    to[i] = from_f16(bits);
  }
}

bool has_non_finite(GemmOutput output, const std::uint8_t* bytes, std::size_t count) {
  if (output == GemmOutput::f32) return find_non_finite<std::uint32_t, 0x7f800000U>(bytes, count);
  if (output == GemmOutput::bf16)
    return find_non_finite<std::uint16_t, std::uint16_t{0x7f80}>(bytes, count);
  return find_non_finite<std::uint16_t, std::uint16_t{0x7c00}>(bytes, count);
}

TIDEMARK_WIDEST void dot_rows(std::span<const std::int16_t> a, const std::int16_t* b,
                              std::span<std::int32_t> sums) {
  for (std::size_t j = 0; j < sums.size(); ++j) {
    const std::int16_t* const column = b + j * a.size();
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += std::int32_t{a[k]} * column[k];
    sums[j] = sum;
  }
}

TIDEMARK_WIDEST void dot_rows(std::span<const float> a, const float* b, std::span<double> sums) {
  for (std::size_t j = 0; j < sums.size(); ++j)
    sums[j] = dot_product(a.data(), b + j * a.size(), a.size());
}

bool are_rounded(GemmOutput output, std::span<const std::int32_t> sums, const std::uint8_t* bytes) {
  if (output == GemmOutput::f32) return are_f32(sums, bytes);
  return output == GemmOutput::bf16 && are_bf16(sums, bytes);
}

TIDEMARK_WIDEST double sum_of_squares(std::span<const float> values) {
  return dot_product(values.data(), values.data(), values.size());
}

TIDEMARK_WIDEST void sum_products(const RowsAtOnce& rows, const Lanes* x,
                                  std::array<Lanes, kRowsAtOnce>& sums) {
  const auto& [r0, r1, r2, r3] = rows;
  for (std::size_t first = 0; first < kSignVectors; first += kPart) {
    Part s0, s1, s2, s3;
    take(s0, sums[0], first);
    take(s1, sums[1], first);
    take(s2, sums[2], first);
    take(s3, sums[3], first);
    for (std::size_t k = 0; k < r0.size(); ++k) {
      Part at_k;
      take(at_k, x[k], first);
      s0 += static_cast<double>(r0[k]) * at_k;
      s1 += static_cast<double>(r1[k]) * at_k;
      s2 += static_cast<double>(r2[k]) * at_k;
      s3 += static_cast<double>(r3[k]) * at_k;
    }
    keep(s0, sums[0], first);
    keep(s1, sums[1], first);
    keep(s2, sums[2], first);
    keep(s3, sums[3], first);
  }
}

TIDEMARK_WIDEST void spread_products(const RowsAtOnce& rows,
                                     const std::array<Lanes, kRowsAtOnce>& x, Lanes* to,
                                     double* squares) {
  const auto& [r0, r1, r2, r3] = rows;
  for (std::size_t first = 0; first < kSignVectors; first += kPart) {
    Part x0, x1, x2, x3;
    take(x0, x[0], first);
    take(x1, x[1], first);
    take(x2, x[2], first);
    take(x3, x[3], first);
    for (std::size_t k = 0; k < r0.size(); ++k) {
      Part at_k;
      take(at_k, to[k], first);
      at_k += static_cast<double>(r0[k]) * x0 + static_cast<double>(r1[k]) * x1;
      at_k += static_cast<double>(r2[k]) * x2 + static_cast<double>(r3[k]) * x3;
      keep(at_k, to[k], first);
    }
  }
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k)
      squares[k] += static_cast<double>(row[k]) * static_cast<double>(row[k]);
}

}  // namespace tidemark
