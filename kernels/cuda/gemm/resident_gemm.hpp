// What one Gemm owns on the GPU while it runs, and the steps that need no waiting.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"
#include "kernels/ops/gemm.hpp"

namespace tidemark::kernels {

/// Bytes of a rank's row in the panel that is gathered as a barrier.
inline constexpr std::uint64_t kBarrierRowBytes = 16;

/// Panels, C between its guards, and what the engine wants to be told. Operands that are not plain
/// panels lie between kGuardBytes of NaN.
struct ResidentGemm {
  Stream stream;
  DeviceBuffer a, b, c, workspace, barrier;
  EngineWords words;
  LocalGemm local;
  ReadyRung rung;      // GemmEngine::fast where a rung is named and the block is not empty
  ReadyEngine engine;  // GemmEngine::fast without a rung, likewise

  /// Of the encoder of the kernel that is to run.
  CUresult encoded() const { return rung.code != CUDA_SUCCESS ? rung.code : engine.code; }
  std::uint64_t c_bytes() const { return local.m * local.ldc * c_element_bytes(local.output); }
};

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

/// Launches the engine on the block's stream; nothing for an empty block.
void launch_engine(const Gemm& gemm, const ResidentGemm& block);

/// Which engine ran, how rows were padded, and what was done where they start off 16 bytes.
std::string engine_note(const Gemm& gemm);

}  // namespace tidemark::kernels
