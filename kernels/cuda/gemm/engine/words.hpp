// The words in device memory that launches of the engine leave for each other.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/gemm/engine/placement.hpp"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"

namespace tidemark::kernels {

/// The first word tells of a lost wait (timed_out_wait(); 0: none). Two sets follow by which the
/// clusters of a launch share out tiles: how many clusters have taken one, then how many tiles each
/// GPC has given. Launches take the sets in turn, since one may begin while the one before it still
/// runs; the one before that has ended by then (engine_kernel.cuh). Each leaves its set zero.
/// Launches recorded in a graph take the sets in the order in which they are recorded: an even
/// number of them, or the next launch may begin while the graph's last one has its set. 19 MB in
/// all, most of them for the sums of stream-K.
class EngineWords {
 public:
  static constexpr std::uint32_t kSet = 1 + kMostGpcs;
  static constexpr std::uint32_t kGiven = kMostSms * kEngineConsumerWarps;
  static constexpr std::uint32_t kCount = 1 + 2 * kSet + kGiven;

  EngineWords() = default;
  /// On the current device. Waits for `stream`: a launch that begins early uses the words before
  /// it waits for anything.
  explicit EngineWords(cudaStream_t stream);

  /// As they are made, on `stream`: for whoever goes on with them after a lost wait. A launch that
  /// gave up may have left words of given() that are not zero.
  void clear(cudaStream_t stream) const;

  std::uint32_t* data() const { return words_.as<std::uint32_t>(); }
  /// Of a launch with TileShape::stream_k: kEngineConsumerWarps words a block, each of a warp that
  /// has left its sums in sums(). Who takes them leaves zero.
  std::uint32_t* given() const { return data() + 1 + 2 * kSet; }
  /// kGivenBytes a block.
  float* sums() const { return sums_.as<float>(); }
  /// The set of the next launch.
  std::uint32_t* set() const { return data() + 1 + (second_ ? kSet : 0); }
  /// A launch has been started with set(). Const as writing to data() is: it is about the words.
  void turn() const { second_ = !second_; }

 private:
  DeviceBuffer words_, sums_;
  mutable bool second_ = false;
};

}  // namespace tidemark::kernels
