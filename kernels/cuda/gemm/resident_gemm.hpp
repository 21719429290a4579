// What one Gemm owns on the GPU while it runs, and the steps that need no waiting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {

/// Bytes of a rank's row in the panel that is gathered as a barrier.
inline constexpr std::uint64_t kBarrierRowBytes = 16;

/// What a product beside the exchange of its panels keeps in device memory.
struct ResidentArrivals {
  DeviceBuffer words;  // one a shard: of A, then of B; of own shards kOwnShard
  DeviceBuffer order;  // Arrivals::order
  DeviceBuffer waited_ns;
  std::uint32_t* a() const { return words.as<std::uint32_t>(); }
  std::uint32_t* b = nullptr;
};

/// Panels, C between its guards, and what the engine wants to be told. Operands that are not plain
/// panels lie between kGuardBytes of NaN.
struct ResidentGemm {
  Stream stream;
  DeviceBuffer a, b, c, workspace, barrier;
  EngineWords words;
  LocalGemm local;
  ReadyRung rung;      // GemmEngine::fast where a rung is named and the block is not empty
  ReadyEngine engine;  // GemmEngine::fast without a rung, likewise; all rows are there
  ReadyEngine beside;  // the same beside the exchange, where runs_beside()
  ResidentArrivals arrivals;
  std::uint32_t epoch = 0;  // of the last gather of the panels
  PinnedBuffer started;     // a word: products that the host has let start (StartSignal)
  std::uint32_t held = 0;   // and those that it has queued

  /// Of the encoder of the kernel that is to run.
  CUresult encoded() const { return rung.code != CUDA_SUCCESS ? rung.code : engine.code; }
  std::uint64_t c_bytes() const { return local.m * local.ldc * c_element_bytes(local.output); }
};

/// Bytes from one row of a panel to the next.
std::uint64_t panel_row_bytes(const Gemm& gemm);

/// Whether the product runs beside the exchange of its panels. The same on all ranks.
bool runs_beside(const Gemm& gemm);

/// Allocates the block and starts, on its stream, to fill it: own shards (all rows without a
/// transport), NaN where the transport is to bring something, poisoned C, a cleared time-out word.
/// Throws Error for a Gemm that makes no sense (layout_refusal(), a block outside C, shards that do
/// not cover their panel) and where the machine fails. encoded() says whether the tensor maps were
/// refused.
std::unique_ptr<ResidentGemm> make_resident(const Gemm& gemm);

/// Starts, on the block's stream, to poison C, the workspace and the shards of other ranks as
/// make_resident() left them; the guards stay as they are. The transport must have nothing in
/// flight: call it before the barrier behind which the others may send again, and wait for the
/// stream first.
void poison_again(const Gemm& gemm, const ResidentGemm& block);

/// Launches the engine on the block's stream; nothing for an empty block. All rows have to be
/// there.
void launch_engine(const Gemm& gemm, const ResidentGemm& block);

/// The same while the gather of block.epoch goes on, of a block that runs_beside().
void launch_beside(const Gemm& gemm, const ResidentGemm& block);

/// Time that one block of the launch_beside() before this call has waited for rows, the mean of all
/// blocks in ns; 0 for an empty block. Waits for the block's stream, which has to be idle.
double waited_for_rows_ns(const ResidentGemm& block);

/// Which engine ran, how rows were padded, and what was done where they start off 16 bytes.
std::string engine_note(const Gemm& gemm);

}  // namespace tidemark
