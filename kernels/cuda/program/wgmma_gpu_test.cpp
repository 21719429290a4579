// wgmma of programs on a real GPU against products written out here, one loop a test; neither the
// suite's oracle nor the virtual device judges. The sweep prints which forms of the descriptor do
// what.
#include "kernels/ops/tile_consume.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

class WgmmaOnGpu : public GpuTest {};

using Bytes = std::vector<std::uint8_t>;

/// Both operands K-major from the start of matrices that are as large as the tiles.
TileConsume k_major(MmaType type, Swizzle swizzle, std::uint32_t n, std::uint32_t k) {
  return {.type = type,
          .n = n,
          .k = k,
          .a = {.major = Major::k, .swizzle = swizzle, .read_as = swizzle},
          .b = {.major = Major::k, .swizzle = swizzle, .read_as = swizzle},
          .extent = {64, n, k},
          .payload = {.seed = 21}};
}

TileConsume mn_major(MmaType type, Swizzle swizzle, std::uint32_t n, std::uint32_t k) {
  TileConsume op = k_major(type, swizzle, n, k);
  op.a.major = op.b.major = Major::mn;
  return op;
}

/// The 64-bit word of hash that holds byte `offset` of the source, shifted to it.
std::uint64_t hash_at(std::uint64_t offset) {
  return source_word({.seed = 21}, offset / 8) >> (8 * (offset % 8));
}

RunResult run(Device& device, const TileConsume& op) {
  const Program program = with_checks(program_of(op));
  return device.run_programs({&program, 1}).front();
}

template <class Number>
Number c_at(const TileConsume& op, const RunResult& result, std::size_t element) {
  Number value{};
  std::memcpy(&value, &result.bytes.at(product_offset(wgmma_of(op)) + 4 * element), 4);
  return value;
}

TEST_F(WgmmaOnGpu, KMajorBf16In128ByteRows) {
  // A is 64 rows of 64 elements, 144 bytes apart; B, 32 such rows, starts 10240 bytes behind A.
  const TileConsume op = k_major(MmaType::bf16, Swizzle::b128, 32, 64);

  const RunResult result = run(*make_cuda_device(), op);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  for (std::uint64_t m = 0; m < 64; ++m)
    for (std::uint64_t n = 0; n < 32; ++n) {
      int sum = 0;
      for (std::uint64_t k = 0; k < 64; ++k) {
        const int a = static_cast<int>(hash_at(1024 + 144 * m + 2 * k) & 15) - 8;
        const int b = static_cast<int>(hash_at(1024 + 10240 + 144 * n + 2 * k) & 15) - 8;
        sum += a * b;
      }
      ASSERT_EQ(c_at<float>(op, result, 32 * m + n), static_cast<float>(sum))
          << "K-major 128B bf16: C[" << m << "][" << n << "]";
    }
}

TEST_F(WgmmaOnGpu, MnMajorF16In128ByteRows) {
  // A is 32 rows (k) of 64 elements, 144 bytes apart; B, 32 rows of 128, 272 bytes apart, starts
  // 5632 bytes behind A.
  const TileConsume op = mn_major(MmaType::f16, Swizzle::b128, 128, 32);

  const RunResult result = run(*make_cuda_device(), op);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  for (std::uint64_t m = 0; m < 64; ++m)
    for (std::uint64_t n = 0; n < 128; ++n) {
      int sum = 0;
      for (std::uint64_t k = 0; k < 32; ++k) {
        const int a = static_cast<int>(hash_at(1024 + 144 * k + 2 * m) & 15) - 8;
        const int b = static_cast<int>(hash_at(1024 + 5632 + 272 * k + 2 * n) & 15) - 8;
        sum += a * b;
      }
      ASSERT_EQ(c_at<float>(op, result, 128 * m + n), static_cast<float>(sum))
          << "MN-major 128B f16: C[" << m << "][" << n << "]";
    }
}

TEST_F(WgmmaOnGpu, KMajorS8WithoutASwizzle) {
  // A is 64 rows of 64 elements, 80 bytes apart; B, 16 such rows, starts 6144 bytes behind A.
  const TileConsume op = k_major(MmaType::s8, Swizzle::none, 16, 64);

  const RunResult result = run(*make_cuda_device(), op);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  for (std::uint64_t m = 0; m < 64; ++m)
    for (std::uint64_t n = 0; n < 16; ++n) {
      std::int32_t sum = 0;
      for (std::uint64_t k = 0; k < 64; ++k)
        sum += static_cast<std::int8_t>(hash_at(1024 + 80 * m + k) & 255) *
               static_cast<std::int8_t>(hash_at(1024 + 6144 + 80 * n + k) & 255);
      ASSERT_EQ(c_at<std::int32_t>(op, result, 16 * m + n), sum)
          << "K-major unswizzled s8: C[" << m << "][" << n << "]";
    }
}

TEST_F(WgmmaOnGpu, AnotherSwizzleInTheDescriptorGivesAnotherResult) {
  const TileConsume right = k_major(MmaType::bf16, Swizzle::b128, 32, 64);
  TileConsume wrong = right;
  wrong.a.read_as = Swizzle::b64;
  const auto device = make_cuda_device();
  const RunResult product = run(*device, right);

  const RunResult other = run(*device, wrong);

  EXPECT_EQ(other.fault, DeviceFault::none) << other.note;
  EXPECT_NE(other.bytes, product.bytes);
  EXPECT_EQ(run(*device, right).bytes, product.bytes) << "the GPU stays usable";
}

constexpr Swizzle kSwizzles[] = {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128};

/// "A k 128/128+0 @384": major-ness, swizzle written / read, base offset, destination offset.
std::string words(const char* name, const WgmmaOperand& operand) {
  return std::string(name) + (operand.major == Major::k ? " k " : " mn ") +
         std::to_string(swizzle_bytes(operand.swizzle)) + "/" +
         std::to_string(swizzle_bytes(operand.read_as)) + "+" +
         std::to_string(operand.base_offset) + " @" + std::to_string(operand.offset);
}

std::string words(const TileConsume& op) {
  return std::string(name_of(op.type)) + " n" + std::to_string(op.n) + " k" + std::to_string(op.k) +
         "  " + words("A", op.a) + "  " + words("B", op.b);
}

std::size_t differing_elements(const TileConsume& op, const Bytes& a, const Bytes& b) {
  const Wgmma product = wgmma_of(op);
  const std::size_t begin = product_offset(product), end = begin + product_bytes(product);
  if (a.size() != b.size() || a.size() < end) return a.size() + b.size();
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; i += 4)
    if (std::memcmp(&a[i], &b[i], 4) != 0) ++count;
  return count;
}

/// Runs `op` on the GPU and prints how it compares with what the address formula gives on the host.
/// True where both agree.
bool sweep(Device& gpu, const TileConsume& op) {
  const RunResult seen = run(gpu, op);
  const RunResult formula = run_virtual_program(with_checks(program_of(op)), kNoFault);
  const std::size_t wrong = differing_elements(op, seen.bytes, formula.bytes);
  const bool agrees = seen.fault == DeviceFault::none && wrong == 0;
  std::printf("  %-5s %5zu  %s %s\n", agrees ? "ok" : "DIFF", wrong, words(op).c_str(),
              seen.note.c_str());
  return agrees;
}

// What an H200 makes of every form whose meaning is documented: to be zero differences throughout.
TEST_F(WgmmaOnGpu, SweepOfEveryTypeSwizzleAndMajor) {
  const auto gpu = make_cuda_device();
  std::printf("  verdict, elements that differ from the address formula, form\n");
  for (const MmaType type : {MmaType::f16, MmaType::bf16, MmaType::tf32, MmaType::e4m3,
                             MmaType::e5m2, MmaType::s8, MmaType::u8})
    for (const Swizzle swizzle : kSwizzles) {
      const TileConsume op = k_major(type, swizzle, 32, 256 / element_bytes(type));
      EXPECT_TRUE(sweep(*gpu, op)) << words(op);
      if (element_bytes(type) != 2) continue;
      for (const int mn : {1, 2, 3}) {
        TileConsume turned = k_major(type, swizzle, 128, 64);
        if ((mn & 1) != 0) turned.a.major = Major::mn;
        if ((mn & 2) != 0) turned.b.major = Major::mn;
        EXPECT_TRUE(sweep(*gpu, turned)) << words(turned);
      }
    }
}

TEST_F(WgmmaOnGpu, SweepOfDestinationsOff1024) {
  const auto gpu = make_cuda_device();
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t phase = 1; phase < 8; ++phase) {
      TileConsume rows = k_major(MmaType::bf16, swizzle, 16, 64);
      rows.a.offset = 128 * phase;
      EXPECT_TRUE(sweep(*gpu, rows)) << words(rows);
      TileConsume columns = mn_major(MmaType::bf16, swizzle, 64, 32);
      columns.b.offset = 128 * phase;
      EXPECT_TRUE(sweep(*gpu, columns)) << words(columns);
    }
}

// Printed, not judged: some lead behind both tiles, where shared memory holds other poison than the
// virtual device has there. consume.mismatch and consume.base_offset judge those that do not.
TEST_F(WgmmaOnGpu, SweepOfDescriptorsThatSaySomethingElse) {
  const auto gpu = make_cuda_device();
  for (const Swizzle written : kSwizzles)
    for (const Swizzle read_as : kSwizzles) {
      TileConsume op = k_major(MmaType::bf16, written, 16, 64);
      op.a.read_as = read_as;
      (void)sweep(*gpu, op);
    }
  for (std::uint32_t base = 0; base < 8; ++base)
    for (const std::uint32_t phase : {0U, base}) {
      TileConsume op = k_major(MmaType::bf16, Swizzle::b128, 16, 64);
      op.a.base_offset = base;
      op.a.offset = 128 * phase;
      (void)sweep(*gpu, op);
      TileConsume columns = mn_major(MmaType::bf16, Swizzle::b128, 64, 32);
      columns.a.base_offset = base;
      columns.a.offset = 128 * phase;
      (void)sweep(*gpu, columns);
    }
  EXPECT_EQ(run(*gpu, k_major(MmaType::bf16, Swizzle::b128, 16, 64)).fault, DeviceFault::none);
}

}  // namespace
}  // namespace tidemark
