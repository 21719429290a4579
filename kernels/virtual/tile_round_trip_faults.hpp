// The steps of a tile round trip that can be told to be wrong; its loads can go wrong as tile loads
// do.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark::kernels {

// Walk: which tile is meant.
inline constexpr Fault kFaultTripTileOffByOne{700};
inline constexpr Fault kFaultTripTileOrder{701};
inline constexpr Fault kFaultTripStageShared{702};
// Work: what the threads do to the tile.
inline constexpr Fault kFaultTripWorkReachesGuard{710};
inline constexpr Fault kFaultTripWorkSkipsSwizzle{711};
inline constexpr Fault kFaultTripThreadCopySwizzle{712};
inline constexpr Fault kFaultTripThreadCopyPadding{713};
// Store: what goes back to memory, and when.
inline constexpr Fault kFaultTripStoreBeforeFence{720};
inline constexpr Fault kFaultTripStageReusedEarly{721};
inline constexpr Fault kFaultTripStoreSwizzleIgnored{722};
inline constexpr Fault kFaultTripLastChunkNotStored{723};
inline constexpr Fault kFaultTripStorePacked{724};
inline constexpr Fault kFaultTripStoreBeyondEnd{725};
inline constexpr Fault kFaultTripStoreShort{726};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> tile_round_trip_faults();

}  // namespace tidemark::kernels
