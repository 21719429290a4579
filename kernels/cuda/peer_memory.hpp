// Memory that another process on another GPU can open: what is told of it, and the opened mapping.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "kernels/cuda/buffer.hpp"

namespace tidemark {

/// What a rank tells all others of the memory that it offers. Travels as bytes.
struct PeerOffer {
  std::uint64_t seed = 0;   // of the row, so that ranks that are out of step notice
  std::uint64_t bytes = 0;  // of the allocation
  std::array<char, 64>
      host{};             // the kernel's boot id and NCCL_HOSTID: handles mean nothing elsewhere
  std::int32_t code = 0;  // cudaError_t of making the handle
  std::uint32_t stored = 0;
  cudaIpcMemHandle_t handle{};
};

/// Makes `buffer` hold at least `bytes` in whole 2 MiB, the unit in which the driver maps memory of
/// other processes: nothing else lies in what the neighbour sees. Nobody may have it open.
void grow_for_peers(DeviceBuffer& buffer, std::size_t bytes);

/// The offer of the allocation that starts at `data`. A handle that cannot be made is a code in it.
PeerOffer offer_of(const std::byte* data, std::uint64_t seed, std::size_t bytes = 0);

/// Why this rank cannot open what the other offers, as far as both offers tell; empty where they do
/// not.
std::string cannot_open(const PeerOffer& mine, const PeerOffer& theirs, std::uint32_t owner);

/// Another process's memory as this process sees it. Closed by the destructor at the latest, which
/// has to be before its owner frees it.
class PeerMapping {
 public:
  PeerMapping() = default;
  ~PeerMapping() { close(); }
  PeerMapping(const PeerMapping&) = delete;
  PeerMapping& operator=(const PeerMapping&) = delete;

  /// Opens the memory of `owner`. Returns why this GPU has no access to it, or nothing. Throws
  /// Error where it cannot be opened for another reason, StickyError where the GPU is lost.
  std::string open(const PeerOffer& theirs, std::uint32_t owner);
  void close() noexcept;
  /// Leaves the memory open for the rest of the process: closing waits for kernels that use it.
  void abandon() noexcept { data_ = nullptr; }
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

}  // namespace tidemark
