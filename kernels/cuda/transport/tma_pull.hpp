// Shards from the memory of other GPUs by TMA, on a few SMs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tidemark::kernels {

/// A shard of another rank. All of it lies in device memory, `from` in that of the owner's GPU.
struct PulledShard {
  const std::byte* from = nullptr;  // as far beyond 16 bytes as `to`
  std::byte* to = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t* arrived = nullptr;  // gets PulledPanel::epoch when all bytes are there
  std::uint32_t* started = nullptr;  // where the owner says in which gather its rows are in place
  std::uint32_t* parts = nullptr;    // blocks that had their part of it, in all pulls; 0 at first
};

/// A panel, as one rank fetches it.
struct PulledPanel {
  const PulledShard* shards = nullptr;  // device memory, in the order in which they are fetched
  std::uint32_t count = 0;
  std::uint32_t* const* tell = nullptr;  // device memory: words of others that wait for this rank
  std::uint32_t others = 0;              // words
  std::uint32_t* moving = nullptr;       // PanelBuffer::moving; may be null
  std::uint32_t epoch = 0;               // PanelBuffer::epoch
  std::uint32_t gather = 0;              // what is told, and waited for
};

struct Pull {
  PulledPanel panels[2];             // one behind the other
  std::uint32_t* began = nullptr;    // device memory: blocks that began, in all pulls; 0 at first
  std::uint32_t* gave_up = nullptr;  // page-locked: 1 after a wait without an end
};

/// What an owner's word is when nobody is to wait for it any more.
inline constexpr std::uint32_t kNobodyWaits = 0x3f3f3f3f;

/// Loads the kernel: its first launch would do so, and could wait for what waits for it.
void prepare_pull();

/// Launches the kernel: sms_of(PanelRoute::tma_pull) blocks, an SM to each. It tells the others
/// that this rank has started, writes PanelBuffer::moving when all blocks have their SM, and
/// fetches shard by shard, all blocks the same one. Two minutes without a word of an owner, or a
/// word of kNobodyWaits, end it: what is not there then has no word in `arrived`.
void start_pull(const Pull& pull, cudaStream_t stream);

}  // namespace tidemark::kernels
