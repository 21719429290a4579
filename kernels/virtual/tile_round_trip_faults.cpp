// What each fault of a tile round trip is called and does.
#include "kernels/virtual/tile_round_trip_faults.hpp"

#include <array>

namespace tidemark::kernels {
namespace {

constexpr FaultInfo trip_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::tile_round_trip, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    trip_fault(kFaultTripTileOffByOne, "trip_tile_off_by_one",
               "walk: the first dimension with several tiles is loaded from one tile further"),
    trip_fault(kFaultTripTileOrder, "trip_tile_order",
               "walk: loads count the tiles with the last dimension fastest"),
    trip_fault(kFaultTripStageShared, "trip_stage_shared",
               "stages: the loads of all stages land in the first"),
    trip_fault(kFaultTripWorkReachesGuard, "trip_work_reaches_guard",
               "work: four elements behind the tile are worked on, too"),
    trip_fault(kFaultTripWorkSkipsSwizzle, "trip_work_skips_swizzle",
               "work: elements are looked for where they would lie without a swizzle"),
    trip_fault(kFaultTripThreadCopySwizzle, "trip_thread_copy_swizzle",
               "thread copy: the phase of the swizzle counts from the tile, not from the address"),
    trip_fault(kFaultTripThreadCopyPadding, "trip_thread_copy_padding",
               "thread copy: what lies outside the tensor stays as it was"),
    trip_fault(kFaultTripStoreBeforeFence, "trip_store_before_fence",
               "store: every second chunk is read as it was before the threads' accesses"),
    trip_fault(kFaultTripStageReusedEarly, "trip_stage_reused_early",
               "store: a stage that is loaded again is read behind that load"),
    trip_fault(kFaultTripStoreSwizzleIgnored, "trip_store_swizzle_ignored",
               "store: chunks are taken from where they would lie without a swizzle"),
    trip_fault(kFaultTripLastChunkNotStored, "trip_last_chunk_not_stored",
               "store: the last chunk of a tile is not written"),
    trip_fault(kFaultTripStorePacked, "trip_store_packed",
               "store: rows are written packed, whatever the strides say"),
    trip_fault(kFaultTripStoreBeyondEnd, "trip_store_beyond_end",
               "store: dimensions 1 and up reach one index too far"),
    trip_fault(kFaultTripStoreShort, "trip_store_short",
               "store: dimensions 1 and up end one index early"),
});

}  // namespace

std::span<const FaultInfo> tile_round_trip_faults() { return kFaults; }

}  // namespace tidemark::kernels
