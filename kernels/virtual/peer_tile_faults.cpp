// What each fault of a copy between neighbours is called and does.
#include "kernels/virtual/peer_tile_faults.hpp"

#include <array>

namespace tidemark::kernels {
namespace {

constexpr FaultInfo peer_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::peer_tile, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    peer_fault(kFaultPeerOwnMemory, "peer_own_memory",
               "address: the tensor map points into this rank's own memory"),
    peer_fault(kFaultPeerTailStale, "peer_tail_stale",
               "visibility: the last 16 bytes of the tensor are seen as they stood before"),
    peer_fault(kFaultPeerAllStale, "peer_all_stale",
               "visibility: the whole allocation is seen as it stood before"),
    peer_fault(kFaultPeerGuardSkipped, "peer_guard_skipped",
               "address: the neighbour's allocation begins where its tensor should"),
});

}  // namespace

std::span<const FaultInfo> peer_tile_faults() { return kFaults; }

}  // namespace tidemark::kernels
