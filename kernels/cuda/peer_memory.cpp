// CUDA Runtime API, device management: cudaIpcGetMemHandle, cudaIpcOpenMemHandle.
#include "kernels/cuda/peer_memory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "kernels/cuda/check.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kUnit = std::size_t{2} << 20;

std::array<char, 64> host_id() {
  std::array<char, 64> id{};
  std::string text;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text);
  // What NCCL takes for its host's name: ranks that it holds to be on different hosts are that.
  if (const char* const named = std::getenv("NCCL_HOSTID")) text += named;
  text.copy(id.data(), id.size() - 1);
  return id;
}

/// What CUDA answers where two GPUs cannot reach each other's memory.
bool is_no_access(cudaError_t code) {
  return code == cudaErrorPeerAccessUnsupported || code == cudaErrorMapBufferObjectFailed ||
         code == cudaErrorTooManyPeers || code == cudaErrorNotSupported;
}

}  // namespace

void grow_for_peers(DeviceBuffer& buffer, std::size_t bytes) {
  if (buffer.size() >= bytes) return;
  buffer = DeviceBuffer();
  buffer = DeviceBuffer((bytes + kUnit - 1) / kUnit * kUnit);
}

PeerOffer offer_of(const std::byte* data, std::uint64_t seed, std::size_t bytes) {
  PeerOffer offer{.seed = seed, .bytes = bytes, .host = host_id()};
  const cudaError_t code = cudaIpcGetMemHandle(&offer.handle, const_cast<std::byte*>(data));
  if (is_sticky(code)) cuda_check(code, "make a handle for other processes");
  if (code != cudaSuccess) (void)cudaGetLastError();  // else the next launch would be blamed for it
  offer.code = static_cast<std::int32_t>(code);
  return offer;
}

std::string cannot_open(const PeerOffer& mine, const PeerOffer& theirs, std::uint32_t owner) {
  if (theirs.seed != mine.seed)
    throw Error(
        fmt::format("rank {} is at another row of the case: ranks that ran the same rows so far "
                    "cannot get there; look for a rank of another version",
                    owner));
  if (theirs.host != mine.host) return fmt::format("rank {} is on another host", owner);
  if (theirs.code == 0) return {};
  return fmt::format("rank {} cannot share its memory: {}", owner,
                     cudaGetErrorString(static_cast<cudaError_t>(theirs.code)));
}

std::string PeerMapping::open(const PeerOffer& theirs, std::uint32_t owner) {
  void* data = nullptr;
  const cudaError_t code =
      cudaIpcOpenMemHandle(&data, theirs.handle, cudaIpcMemLazyEnablePeerAccess);
  if (code == cudaSuccess) {
    data_ = static_cast<std::byte*>(data);
    return {};
  }
  (void)cudaGetLastError();
  if (is_no_access(code))
    return fmt::format("this GPU has no access to the memory of that of rank {}: {}", owner,
                       cudaGetErrorString(code));
  cuda_check(
      code, fmt::format("open the memory of rank {} (ranks have to share one IPC namespace)", owner)
                .c_str());
  return {};
}

void PeerMapping::close() noexcept {
  if (data_ != nullptr) (void)cudaIpcCloseMemHandle(std::exchange(data_, nullptr));
}

}  // namespace tidemark
