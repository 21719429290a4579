// The kernel that packs rows, on the GPU: rows of every length from every element on.
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/engine/pack.hpp"
#include "kernels/cuda/gpu_test.hpp"

namespace tidemark {
namespace {

/// Rows of elements that count on, with NaN between and around them, as they are once packed.
void expect_packed(std::uint64_t rows, std::uint64_t elements, std::uint64_t pitch,
                   std::uint64_t before) {
  SCOPED_TRACE(testing::Message() << rows << " rows of " << elements << ", pitch " << pitch
                                  << ", from element " << before);
  const Stream stream;
  const std::uint64_t length = (rows - 1) * pitch + elements;
  std::vector<std::uint16_t> from(before + length + 64, 0xffff);
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t i = 0; i < elements; ++i)
      from[before + row * pitch + i] = static_cast<std::uint16_t>((row * 257 + i) % 60000);
  const std::uint64_t to_pitch = (elements + 63) / 64 * 64;
  const DeviceBuffer source(from.size() * 2);
  const DeviceBuffer target(rows * to_pitch * 2);
  cuda_check(cudaMemcpyAsync(source.data(), from.data(), source.size(), cudaMemcpyHostToDevice,
                             stream.get()),
             "write rows");
  cuda_check(cudaMemsetAsync(target.data(), 0xff, target.size(), stream.get()), "poison");
  launch_pack({.from = source.data() + 2 * before,
               .to = target.data(),
               .rows = rows,
               .elements = elements,
               .from_pitch = pitch,
               .to_pitch = to_pitch},
              {}, 0, stream.get());
  std::vector<std::uint16_t> packed(rows * to_pitch);
  cuda_check(cudaMemcpyAsync(packed.data(), target.data(), target.size(), cudaMemcpyDeviceToHost,
                             stream.get()),
             "read packed rows");
  cuda_check(cudaStreamSynchronize(stream.get()), "pack rows");
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t i = 0; i < elements; ++i)
      ASSERT_EQ(packed[row * to_pitch + i], (row * 257 + i) % 60000) << row << ", " << i;
}

class PackGpu : public GpuTest {};

TEST_F(PackGpu, RowsOfEveryLengthAndStart) {
  for (std::uint64_t elements = 1; elements <= 20; ++elements)
    for (std::uint64_t more = 0; more < 8; ++more)
      expect_packed(19, elements, elements + more, more);
}

TEST_F(PackGpu, OneRow) { expect_packed(1, 100003, 100003, 0); }

TEST_F(PackGpu, ManyShortRows) { expect_packed(300007, 3, 5, 1); }

TEST_F(PackGpu, MoreThanTheGridTakesAtOnce) { expect_packed(4099, 4097, 4099, 0); }

}  // namespace
}  // namespace tidemark
