// Copies rows that start on any element to rows that start on 128 bytes: memory is read and written
// 16 aligned bytes at a time, and the bytes are moved into place in registers.
#include <algorithm>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/engine/pack.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kBlocksAnSm = 4;
constexpr std::uint32_t kAtOnce = 4;  // chunks of a thread on their way: 64 KiB an SM
constexpr std::uint32_t kElements = sizeof(Chunk) / sizeof(std::uint16_t);

/// The chunks of one operand, as the threads walk them: every `threads`-th one.
struct Walk {
  const PackedRows& rows;
  std::uint32_t row_chunks = 0, row_step = 0, chunk_step = 0;
  std::uint64_t row = 0;
  std::uint32_t chunk = 0;

  __device__ Walk(const PackedRows& all, std::uint32_t thread, std::uint32_t threads)
      : rows(all),
        row_chunks(static_cast<std::uint32_t>((all.elements + kElements - 1) / kElements)),
        row_step(threads / row_chunks),
        chunk_step(threads % row_chunks),
        row(thread / row_chunks),
        chunk(thread % row_chunks) {}
  __device__ void advance() {
    row += row_step;
    chunk += chunk_step;
    if (chunk < row_chunks) return;
    chunk -= row_chunks;
    ++row;
  }
  __device__ const std::byte* from() const {
    return rows.from + row * rows.from_pitch * sizeof(std::uint16_t) + chunk * sizeof(Chunk);
  }
  __device__ Chunk* to() const {
    return reinterpret_cast<Chunk*>(rows.to + row * rows.to_pitch * sizeof(std::uint16_t)) + chunk;
  }
};

__device__ std::uint32_t misalignment(const std::byte* at) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % sizeof(Chunk));
}

__device__ Chunk load_chunk(const std::byte* aligned) {
  const uint4 loaded = __ldg(reinterpret_cast<const uint4*>(aligned));
  return {{loaded.x, loaded.y, loaded.z, loaded.w}};
}

/// One chunk. Where the 32 aligned bytes around it are not all the operand's own, they are not
/// read: its elements are, one by one.
__device__ void copy_chunk(const Walk& walk, const std::byte* end) {
  const std::byte* const from = walk.from();
  const std::byte* const aligned = from - misalignment(from);
  if (aligned >= walk.rows.from && aligned + 2 * sizeof(Chunk) <= end) {
    *walk.to() =
        realigned(load_chunk(aligned), load_chunk(aligned + sizeof(Chunk)), misalignment(from));
    return;
  }
  Chunk chunk{};
#pragma unroll
  for (std::uint32_t i = 0; i < kElements; ++i)
    if (from + 2 * i < end)
      chunk.word[i / 2] |= std::uint32_t{reinterpret_cast<const std::uint16_t*>(from)[i]}
                           << (i % 2 * 16);
  *walk.to() = chunk;
}

/// Thread `thread` of `threads` copies its chunks.
__device__ __forceinline__ void pack_rows(const PackedRows& rows, std::uint32_t thread,
                                          std::uint32_t threads) {
  if (rows.rows == 0) return;
  const std::byte* const end =
      rows.from + ((rows.rows - 1) * rows.from_pitch + rows.elements) * sizeof(std::uint16_t);
  Walk walk(rows, thread, threads);
  while (walk.row < rows.rows) {
    Walk last = walk;
#pragma unroll
    for (std::uint32_t i = 1; i < kAtOnce; ++i) last.advance();
    const std::byte* const first_read = walk.from() - misalignment(walk.from());
    // Two aligned chunks each; the last of them lie furthest.
    const bool inside = last.row < rows.rows && first_read >= rows.from &&
                        last.from() - misalignment(last.from()) + 2 * sizeof(Chunk) <= end;
    if (!inside) {
      copy_chunk(walk, end);
      walk.advance();
      continue;
    }
    Chunk low[kAtOnce];
    Chunk high[kAtOnce];
    Walk reader = walk;
#pragma unroll
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      const std::byte* const aligned = reader.from() - misalignment(reader.from());
      low[i] = load_chunk(aligned);
      // The neighbour's first 16 bytes: L1 has them, or has asked for them already.
      high[i] = load_chunk(aligned + sizeof(Chunk));
      reader.advance();
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      *walk.to() = realigned(low[i], high[i], misalignment(walk.from()));
      walk.advance();
    }
  }
}

__global__ void __launch_bounds__(kThreads, kBlocksAnSm) pack(PackedRows first, PackedRows second) {
  const std::uint32_t thread = blockIdx.x * kThreads + threadIdx.x;
  pack_rows(first, thread, gridDim.x * kThreads);
  pack_rows(second, thread, gridDim.x * kThreads);
}

}  // namespace

void launch_pack(const std::array<PackedRows, 2>& operands, std::uint32_t sm_budget,
                 cudaStream_t stream) {
  const std::uint64_t bytes = bytes_of(operands[0]) + bytes_of(operands[1]);
  if (bytes == 0) return;
  int device = 0;
  int multiprocessors = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "ask for the number of SMs");
  // Nothing makes blocks share an SM while another is free: a budget is one of blocks.
  const std::uint64_t most =
      sm_budget != 0 ? sm_budget : static_cast<std::uint64_t>(multiprocessors) * kBlocksAnSm;
  const std::uint64_t blocks = std::min(most, bytes / (kThreads * sizeof(Chunk)) + 1);
  pack<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(operands[0], operands[1]);
  cuda_check(cudaGetLastError(), "launch the kernel that packs rows");
}

}  // namespace tidemark
