// Large blocks of C go through page-locked memory into huge pages, small ones straight.
#include "kernels/cuda/gemm/read_back.hpp"

#include <sys/mman.h>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kLarge = std::uint64_t{8} << 20;  // worth page-locking memory first
constexpr std::uint64_t kHalf = std::uint64_t{2} << 20;   // small enough for a core's cache

/// Rows as they lie on the GPU.
struct DeviceRows {
  const std::byte* first = nullptr;
  std::uint64_t count = 0, bytes = 0, pitch = 0;  // of a row; from one row to the next
};

void start_copy(const DeviceRows& rows, void* to, cudaStream_t stream) {
  cuda_check(cudaMemcpy2DAsync(to, rows.bytes, rows.first, rows.pitch, rows.bytes, rows.count,
                               cudaMemcpyDeviceToHost, stream),
             "read rows of C back");
}

/// Asks for pages of 2 MiB where the capacity of `bytes` lies: mapping it by 4 KiB takes longer
/// than filling it. A kernel that has none goes on with small ones.
void want_huge_pages(std::vector<std::uint8_t>& bytes) {
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const std::uintptr_t last = (begin + bytes.capacity()) / kPage * kPage;
  if (first < last)
    static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
}

void read_large(const DeviceRows& rows, std::vector<std::uint8_t>& to, cudaStream_t stream) {
  const PinnedBuffer pinned(2 * kHalf);
  const std::array<Event, 2> arrived;
  const std::array<std::span<const std::byte>, 2> halves = {
      std::span(pinned.data(), kHalf), std::span(pinned.data() + kHalf, kHalf)};
  to.clear();
  to.reserve(rows.count * rows.bytes);
  want_huge_pages(to);
  append_rows(
      rows.count, rows.bytes, halves,
      [&](std::size_t half, std::uint64_t first, std::uint64_t count) {
        DeviceRows part = rows;
        part.first += first * rows.pitch;
        part.count = count;
        start_copy(part, pinned.data() + half * kHalf, stream);
        cuda_check(cudaEventRecord(arrived[half].get(), stream), "read rows of C back");
      },
      [&](std::size_t half) {
        cuda_check(cudaEventSynchronize(arrived[half].get()), "read rows of C back");
      },
      to);
}

}  // namespace

void read_back(const Gemm& gemm, const ResidentGemm& block, RunResult& result) {
  const cudaStream_t stream = block.stream.get();
  const std::uint64_t element = c_element_bytes(gemm.output);
  const DeviceRows c = {.first = block.local.c,
                        .count = block.local.m,
                        .bytes = block.local.n * element,
                        .pitch = block.local.ldc * element};
  DeviceRows padding = c;
  padding.first += c.bytes;
  padding.bytes = c.pitch - c.bytes;
  if (padding.bytes == 0) padding.count = 0;
  result.surroundings.resize(2 * kGuardBytes + padding.count * padding.bytes);
  // No kernel is left that could hang: copies of a healthy GPU end.
  if (c.count * c.bytes >= kLarge && c.bytes <= kHalf) {
    read_large(c, result.bytes, stream);
  } else {
    result.bytes.resize(c.count * c.bytes);
    if (!result.bytes.empty()) start_copy(c, result.bytes.data(), stream);
  }
  if (padding.count != 0) start_copy(padding, result.surroundings.data() + 2 * kGuardBytes, stream);
  cuda_check(cudaMemcpyAsync(result.surroundings.data(), block.c.data(), kGuardBytes,
                             cudaMemcpyDeviceToHost, stream),
             "read the guard before C");
  cuda_check(
      cudaMemcpyAsync(result.surroundings.data() + kGuardBytes, block.local.c + block.c_bytes(),
                      kGuardBytes, cudaMemcpyDeviceToHost, stream),
      "read the guard behind C");
  cuda_check(cudaStreamSynchronize(stream), "read C back");
}

}  // namespace tidemark
