// Runs the blocks of a tile round trip one after the other, each step by step. Loads go through the
// bulk engine; stores read shared memory when they are waited for, chunk by chunk in a drawn order.
#include "kernels/virtual/tile_round_trip.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/virtual/encode.hpp"
#include "kernels/virtual/tile_chunks.hpp"
#include "kernels/virtual/tile_memory.hpp"
#include "kernels/virtual/tile_round_trip_faults.hpp"

namespace tidemark::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Coordinates = std::array<std::int32_t, kMaxRank>;

constexpr std::uint32_t kWaitTries = 20000;           // a try delivers at least one chunk
constexpr std::int64_t kPlacedAddress = 1024 * 1024;  // of the window of the thread copy

// Everything that outlives a block.
struct VirtualGrid {
  const TileRoundTrip& trip;
  Fault fault;
  Bytes source;
  Bytes destination;  // unused in place
  Draw draw;

  Bytes& stored() { return trip.in_place ? source : destination; }
};

struct VirtualBlock {
  VirtualGrid& grid;
  BulkEngine engine;
  SharedWindow loaded;  // what loads fill
  SharedWindow placed;  // what the threads place, for thread_copy
  std::array<Mbarrier, kTripStages> barriers{};
  std::uint32_t block = 0;
  std::uint32_t tiles = 0;  // of this block
};

// A store that was issued and has not read its tile yet.
struct PendingStore {
  std::uint32_t number = 0;  // of the tile, in this block
  Bytes before;              // the window as it was before the threads' accesses
};

void require_sound(const TileRoundTrip& trip) {
  const std::uint32_t tiles = tiles_of(trip.load);
  if (tiles == 0 || tiles_of(trip.store) != tiles || tile_bytes(trip.from) != tile_bytes(trip.to))
    throw Error("tile round trip: loads and stores differ in number or in size");
  if (trip.ctas < 1 || trip.ctas > tiles || trip.stages < 1 || trip.stages > kTripStages ||
      trip.stores_per_group < 1 || trip.stores_per_group > trip.stages ||
      trip.issuer >= kTripThreads)
    throw Error(
        fmt::format("tile round trip: {} blocks, {} stages, {} stores a group, issuer {} are "
                    "outside the bounds",
                    trip.ctas, trip.stages, trip.stores_per_group, trip.issuer));
  const std::uint64_t shared = std::uint64_t{trip_windows(trip)} * trip_window_bytes(trip);
  if (shared > kSharedBytesMax)
    throw Error(fmt::format("tile round trip: windows of {} bytes do not fit shared memory ({})",
                            shared, kSharedBytesMax));
}

Coordinates tile_coordinates(const TileWalk& walk, std::uint32_t tile, bool last_first) {
  Coordinates at{};
  for (std::uint32_t n = 0; n < kMaxRank; ++n) {
    const std::uint32_t i = last_first ? kMaxRank - 1 - n : n;
    const std::uint32_t index = tile % walk.tiles[i];
    tile /= walk.tiles[i];
    at[i] = walk.at[i] + static_cast<std::int32_t>(index) * walk.step[i];
  }
  return at;
}

Coordinates load_coordinates(const TileRoundTrip& trip, std::uint32_t tile, Fault fault) {
  Coordinates at = tile_coordinates(trip.load, tile, fault == kFaultTripTileOrder);
  for (std::uint32_t i = 0; i < kMaxRank && fault == kFaultTripTileOffByOne; ++i) {
    if (trip.load.tiles[i] == 1) continue;
    at[i] += trip.load.step[i];
    break;
  }
  return at;
}

// What would end the run before a byte moves. All tiles share the inner alignment of the first two.
RunResult trip_preflight(const TileRoundTrip& trip) {
  for (const std::uint32_t tile : {0U, std::min(1U, trip.load.tiles[0] - 1)}) {
    RunResult result = preflight(
        {.map = trip.from, .at = tile_coordinates(trip.load, tile, false), .payload = {}});
    if (result.fault != DeviceFault::none) return result;
  }
  RunResult result;
  if (const std::string why = refusal_of(trip.to); !why.empty()) {
    result.fault = DeviceFault::encode_refused;
    result.code = kEncodeRefusedCode;
    result.note = "tensor map of the store refused: " + why;
    return result;
  }
  const std::int64_t inner = element_bytes(trip.to.type);
  for (std::uint32_t tile = 0; tile < tiles_of(trip.store); ++tile) {
    const Coordinates at = tile_coordinates(trip.store, tile, false);
    const bool before = std::any_of(at.begin(), at.end(), [](auto x) { return x < 0; });
    if (!before && at[0] * inner % kChunkBytes == 0) continue;
    result.fault = DeviceFault::sticky;
    result.code = kIllegalInstruction;
    result.note = "illegal instruction: a store starts off 16 bytes or before its tensor";
    return result;
  }
  return result;
}

Bytes trip_source(const TileRoundTrip& trip) {
  Bytes source(trip_allocation_bytes(trip.from));
  for (std::uint64_t i = 0; i < source.size() / 4; ++i) {
    const std::uint32_t word = trip_source_word(trip, i);
    std::memcpy(&source[4 * i], &word, 4);
  }
  return source;
}

Bytes poison(const Payload& payload, std::uint64_t size) {
  Bytes bytes(size);
  for (std::uint64_t i = 0; i < size; ++i) bytes[i] = poison_byte(payload, i);
  return bytes;
}

std::int64_t stage_address(const TileRoundTrip& trip, std::int64_t window, std::uint32_t number) {
  return window + kGuardBytes + std::int64_t{number % trip.stages} * trip_stage_bytes(trip);
}

// Where byte `linear` of a tile at `base` lies. PTX ISA 9.0, 5.5.7: address bits 4..6 are exchanged
// with bits 7..9.
std::int64_t place_in_shared(Swizzle swizzle, std::int64_t base, std::int64_t linear,
                             bool from_tile = false) {
  if (swizzle == Swizzle::none) return base + linear;
  const std::int64_t mask = swizzle_bytes(swizzle) / kChunkBytes - 1;
  const std::int64_t row = (from_tile ? linear : base + linear) >> 7;
  return (base + linear) ^ ((row & mask) << 4);
}

std::uint8_t* shared_bytes(SharedWindow& window, std::int64_t address) {
  return &window.bytes[static_cast<std::size_t>(address - window.address)];
}

std::uint32_t tile_of(const VirtualBlock& block, std::uint32_t number) {
  return block.block + number * block.grid.trip.ctas;
}

void issue_load(VirtualBlock& block, std::uint32_t number, BarrierLedger& ledger) {
  const TileRoundTrip& trip = block.grid.trip;
  const Fault fault = block.grid.fault;
  Mbarrier& barrier = block.barriers[number % trip.stages];
  ledger.complete_before_issue |= test_wait(barrier, number / trip.stages & 1U);
  const std::uint32_t stage = fault == kFaultTripStageShared ? 0 : number;
  const std::int64_t to = stage_address(trip, kWindowAddress, stage);
  const TileLoad load{.map = trip.from,
                      .at = load_coordinates(trip, tile_of(block, number), fault),
                      .payload = trip.payload};
  const TileGeometry tile = tile_geometry(load, to, fault);
  expect_tx(barrier, tile_bytes(trip.from));
  arrive_if_awaited(barrier);
  ledger.announced += tile_bytes(trip.from);
  block.engine.issue({.chunks = chunk_count(tile),
                      .chunk = [&source = block.grid.source, tile](
                                   std::uint32_t index) { return tile_chunk(tile, source, index); },
                      .destination = to,
                      .shared = &block.loaded,
                      .barrier = &barrier});
}

void add_to(std::uint8_t* element, DataType type, std::uint32_t amount) {
  if (type == DataType::f32) {
    float value = 0;
    std::memcpy(&value, element, 4);
    value += static_cast<float>(amount);
    std::memcpy(element, &value, 4);
    return;
  }
  std::uint32_t value = 0;
  std::memcpy(&value, element, 4);
  value += amount;
  std::memcpy(element, &value, 4);
}

void add_in_shared(VirtualBlock& block, std::uint32_t number) {
  const TileRoundTrip& trip = block.grid.trip;
  const Fault fault = block.grid.fault;
  const std::int64_t base = stage_address(trip, kWindowAddress, number);
  const Swizzle swizzle = fault == kFaultTripWorkSkipsSwizzle ? Swizzle::none : trip.from.swizzle;
  const std::uint32_t elements = tile_bytes(trip.from) / 4;
  const auto amount = [&](std::uint32_t i) { return trip.work == TileWork::add_one ? 1U : i; };
  for (std::uint32_t i = 0; i < elements; ++i)
    add_to(shared_bytes(block.loaded, place_in_shared(swizzle, base, 4 * i)), trip.from.type,
           amount(i));
  for (std::uint32_t i = elements; i < elements + 4 && fault == kFaultTripWorkReachesGuard; ++i)
    add_to(shared_bytes(block.loaded, base + 4 * i), trip.from.type, amount(i));
}

// The threads' own copy: out of the tensor by coordinates, zero outside, into the second window.
void copy_by_threads(VirtualBlock& block, std::uint32_t number) {
  const TileRoundTrip& trip = block.grid.trip;
  const Fault fault = block.grid.fault;
  const TensorMapSpec& map = trip.from;
  const std::uint32_t size = element_bytes(map.type);
  const std::int64_t base = stage_address(trip, kPlacedAddress, number);
  const Coordinates at = tile_coordinates(trip.load, tile_of(block, number), false);
  for (std::uint32_t linear = 0; linear < tile_bytes(map); linear += size) {
    std::uint32_t rest = linear / size;
    std::int64_t offset = kGuardBytes + map.base_offset;
    bool inside = true;
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      const std::uint32_t x = rest % tile_extent(map, i);
      rest /= tile_extent(map, i);
      const std::int64_t g = at[i] + std::int64_t{x} * (i == 0 ? 1 : map.element_stride[i]);
      inside = inside && g >= 0 && g < static_cast<std::int64_t>(map.extent[i]);
      offset += g * (i == 0 ? size : static_cast<std::int64_t>(map.stride[i - 1]));
    }
    std::uint8_t* const to = shared_bytes(
        block.placed,
        place_in_shared(map.swizzle, base, linear, fault == kFaultTripThreadCopySwizzle));
    if (inside)
      std::memcpy(to, &block.grid.source[static_cast<std::size_t>(offset)], size);
    else if (fault != kFaultTripThreadCopyPadding)
      std::memset(to, 0, size);
  }
}

// Where a chunk of a tile belongs in the stored tensor; negative where it lies outside.
std::int64_t store_offset(const TileRoundTrip& trip, const Coordinates& at, std::uint32_t linear,
                          Fault fault) {
  const TensorMapSpec& map = trip.to;
  const std::uint32_t size = element_bytes(map.type);
  std::uint32_t rest = linear / size;
  std::int64_t offset = kGuardBytes + map.base_offset;
  std::int64_t packed = size;
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const std::int64_t g = at[i] + static_cast<std::int64_t>(rest % map.box[i]);
    rest /= map.box[i];
    auto extent = static_cast<std::int64_t>(map.extent[i]);
    if (i > 0 && fault == kFaultTripStoreBeyondEnd) ++extent;
    if (i > 0 && fault == kFaultTripStoreShort) --extent;
    if (g >= extent) return -1;
    std::int64_t pitch = i == 0 ? size : static_cast<std::int64_t>(map.stride[i - 1]);
    if (fault == kFaultTripStorePacked) pitch = packed;
    offset += g * pitch;
    packed *= static_cast<std::int64_t>(map.extent[i]);
  }
  return offset;
}

void write_chunk(VirtualGrid& grid, std::int64_t offset, const std::uint8_t* from) {
  Bytes& to = grid.stored();
  if (offset < 0 || offset + kChunkBytes > static_cast<std::int64_t>(to.size())) return;
  std::memcpy(&to[static_cast<std::size_t>(offset)], from, kChunkBytes);
}

void deliver_store(VirtualBlock& block, PendingStore& store) {
  VirtualGrid& grid = block.grid;
  const TileRoundTrip& trip = grid.trip;
  const bool by_threads = trip.work == TileWork::thread_copy;
  SharedWindow& window = by_threads ? block.placed : block.loaded;
  const std::int64_t base = stage_address(trip, window.address, store.number);
  const Coordinates at = tile_coordinates(trip.store, tile_of(block, store.number), false);
  const Swizzle swizzle =
      grid.fault == kFaultTripStoreSwizzleIgnored ? Swizzle::none : trip.to.swizzle;
  const std::uint32_t chunks = tile_bytes(trip.to) / kChunkBytes;
  std::vector<std::uint32_t> order(chunks);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = chunks; i > 1; --i) std::swap(order[i - 1], order[below(grid.draw, i)]);
  for (const std::uint32_t index : order) {
    if (grid.fault == kFaultTripLastChunkNotStored && index + 1 == chunks) continue;
    const std::uint32_t linear = index * kChunkBytes;
    const std::int64_t place = place_in_shared(swizzle, base, linear);
    const bool stale = grid.fault == kFaultTripStoreBeforeFence && index % 2 == 1;
    const std::uint8_t* const from =
        stale ? &store.before[static_cast<std::size_t>(place - window.address)]
              : shared_bytes(window, place);
    write_chunk(grid, store_offset(trip, at, linear, grid.fault), from);
  }
}

// Step d: the group has read shared memory before the stages are loaded again.
void finish_group(VirtualBlock& block, std::vector<PendingStore>& group, BarrierLedger& ledger) {
  const bool early = block.grid.fault == kFaultTripStageReusedEarly;
  if (!early)
    for (PendingStore& store : group) deliver_store(block, store);
  for (const PendingStore& store : group)
    if (store.number + block.grid.trip.stages < block.tiles)
      issue_load(block, store.number + block.grid.trip.stages, ledger);
  if (early) block.engine.deliver_all();
  for (PendingStore& store : group)
    if (early) deliver_store(block, store);
  group.clear();
}

// Steps b to e. False where a phase did not complete.
bool run_tiles(VirtualBlock& block, BarrierLedger& ledger) {
  const TileRoundTrip& trip = block.grid.trip;
  for (std::uint32_t i = 0; i < std::min(trip.stages, block.tiles); ++i)
    issue_load(block, i, ledger);
  std::vector<PendingStore> group;
  for (std::uint32_t i = 0; i < block.tiles; ++i) {
    const Mbarrier& barrier = block.barriers[i % trip.stages];
    if (!wait_bounded(block.engine, barrier, i / trip.stages & 1U, kWaitTries)) {
      for (PendingStore& store : group) deliver_store(block, store);
      return false;
    }
    const bool by_threads = trip.work == TileWork::thread_copy;
    group.push_back({.number = i, .before = by_threads ? block.placed.bytes : block.loaded.bytes});
    if (by_threads) copy_by_threads(block, i);
    if (trip.work == TileWork::add_one || trip.work == TileWork::add_index) add_in_shared(block, i);
    if (group.size() == trip.stores_per_group || i + 1 == block.tiles)
      finish_group(block, group, ledger);
  }
  const std::uint32_t last = block.tiles - 1;
  block.engine.deliver_all();  // copying the windows out takes longer than any copy
  ledger.next_complete_early |=
      test_wait(block.barriers[last % trip.stages], (last / trip.stages + 1) & 1U);
  return true;
}

bool run_block(VirtualGrid& grid, std::uint32_t number, RunResult& result) {
  const TileRoundTrip& trip = grid.trip;
  VirtualBlock block{
      .grid = grid,
      .engine = BulkEngine(trip.payload.seed + number, grid.fault),
      .loaded = {.address = kWindowAddress, .bytes = poison(trip.payload, trip_window_bytes(trip))},
      .placed = {.address = kPlacedAddress, .bytes = poison(trip.payload, trip_window_bytes(trip))},
      .block = number,
      .tiles = (tiles_of(trip.load) - number + trip.ctas - 1) / trip.ctas};
  for (Mbarrier& barrier : block.barriers) barrier = init_mbarrier(1, grid.fault);
  const bool complete = run_tiles(block, result.ledger);
  block.engine.deliver_all();
  const std::size_t at = trip_allocation_bytes(trip.to) +
                         std::size_t{number} * trip_windows(trip) * trip_window_bytes(trip);
  std::copy(block.loaded.bytes.begin(), block.loaded.bytes.end(), &result.bytes[at]);
  if (trip_windows(trip) == 2)
    std::copy(block.placed.bytes.begin(), block.placed.bytes.end(),
              &result.bytes[at + trip_window_bytes(trip)]);
  return complete;
}

}  // namespace

RunResult run_virtual_tile_round_trip(const TileRoundTrip& trip, Fault fault) {
  require_sound(trip);
  RunResult result = trip_preflight(trip);
  if (result.fault != DeviceFault::none) return result;
  VirtualGrid grid{.trip = trip,
                   .fault = fault,
                   .source = trip_source(trip),
                   .destination = poison(trip.payload, trip_allocation_bytes(trip.to)),
                   .draw = {.state = splitmix64(trip.payload.seed ^ 0x57a7eULL)}};
  result.bytes.resize(trip_result_bytes(trip));
  result.ledger.complete = true;
  std::vector<std::uint32_t> order(trip.ctas);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = trip.ctas; i > 1; --i) std::swap(order[i - 1], order[below(grid.draw, i)]);
  for (const std::uint32_t block : order) result.ledger.complete &= run_block(grid, block, result);
  const Bytes& stored = grid.stored();
  std::copy_n(stored.begin(), std::min(stored.size(), trip_allocation_bytes(trip.to)),
              result.bytes.begin());
  if (!trip.in_place) result.surroundings = std::move(grid.source);
  if (!result.ledger.complete) {
    result.fault = DeviceFault::timeout;
    result.note = "the wait for the load of a tile ended by its bound";
  }
  return result;
}

}  // namespace tidemark::kernels
