// The products of a tuning run, and how one is written on the command line.
#include "ci/lab/gemm/products.hpp"

#include <fmt/core.h>

#include <cstdio>

namespace tidemark {
namespace {

constexpr Shape kShapes[] = {{1024, 1024, 1024},    {2048, 2048, 2048}, {4096, 4096, 4096},
                             {6144, 6144, 6144},    {8192, 8192, 8192}, {12288, 12288, 12288},
                             {16384, 16384, 16384}, {8192, 8192, 1024}, {8192, 1024, 8192},
                             {4096, 14336, 4096},   {8192, 28672, 8192}};
constexpr Shape kTabled[] = {{512, 512, 512}, {1024, 1024, 8192}, {8192, 4096, 8192}};
constexpr Shape kSampled[] = {{11328, 1600, 4480},  {7480, 9392, 2056}, {14272, 4480, 9088},
                              {12072, 13000, 6896}, {3200, 6976, 8896}, {1632, 3016, 8544},
                              {5888, 6656, 2752},   {4304, 15808, 9720}};
constexpr Shape kFp8[] = {{4096, 4096, 4096}, {8192, 8192, 8192}, {4096, 14336, 4096}};
constexpr Shape kPitched[] = {{8192, 8192, 8192, 8193, 0, 0},
                              {8192, 8192, 8192, 0, 8193, 0},
                              {8192, 8192, 8192, 8193, 8193, 8193},
                              {8192, 8192, 8192, 8200, 8200, 8200},  // on 16 bytes, not on 128
                              {8191, 8185, 8184, 8184, 8184, 8185},
                              {4095, 14337, 4097, 4097, 4097, 14337}};

}  // namespace

std::span<const Shape> usual_products() { return kShapes; }
std::span<const Shape> other_tabled_products() { return kTabled; }
std::span<const Shape> sampled_products() { return kSampled; }
std::span<const Shape> fp8_products() { return kFp8; }
std::span<const Shape> pitched_products() { return kPitched; }

std::string name_of(const Shape& shape) {
  std::string name = fmt::format("{} x {} x {}", shape.m, shape.n, shape.k);
  if (is_pitched(shape)) name += fmt::format(" ld {},{},{}", shape.lda, shape.ldb, shape.ldc);
  if (shape.a_major == Major::mn) name += ", A M-major";
  if (shape.b_major == Major::mn) name += ", B N-major";
  if (shape.element != GemmElement::bf16) name += fmt::format(", {}", name_of(shape.element));
  return name;
}

Shape shape_of(const std::string& text) {
  Shape shape;
  int read = -1;
  const int fields = std::sscanf(text.c_str(), "%lux%lux%lu%n:%lu,%lu,%lu%n", &shape.m, &shape.n,
                                 &shape.k, &read, &shape.lda, &shape.ldb, &shape.ldc, &read);
  const bool whole = (fields == 3 || fields == 6) && read >= 0 &&
                     static_cast<std::size_t>(read) == text.size() &&
                     text.find_first_not_of("0123456789x:,") == std::string::npos;
  if (!whole)
    throw UsageError("--product is '" + text +
                     "': give MxNxK or MxNxK:LDA,LDB,LDC, where 0 is rows on 16 bytes");
  return shape;
}

void require_sound(const Shape& shape) {
  if (shape.m == 0 || shape.n == 0 || shape.k == 0)
    throw UsageError("a size is 0: give M N K, each at least 1");
  const auto shorter = [](std::uint64_t leading, std::uint64_t row) {
    return leading != 0 && leading < row;
  };
  const std::uint64_t row_a = shape.a_major == Major::k ? shape.k : shape.m;
  const std::uint64_t row_b = shape.b_major == Major::k ? shape.k : shape.n;
  if (shorter(shape.lda, row_a) || shorter(shape.ldb, row_b) || shorter(shape.ldc, shape.n))
    throw UsageError("a leading dimension is shorter than a row of " + name_of(shape) +
                     ": rows of A and B have K elements unless M or N is said to come first, rows "
                     "of C have N");
  if (!is_fp8(shape.element)) return;
  if (shape.a_major != Major::k || shape.b_major != Major::k)
    throw UsageError("fp8 is multiplied K-major only: leave out --a-m-major and --b-n-major");
  if (shape.lda % 16 != 0 || shape.ldb % 16 != 0)
    throw UsageError("rows of fp8 start on 16 bytes: give multiples of 16 for lda and ldb of " +
                     name_of(shape));
}

}  // namespace tidemark
