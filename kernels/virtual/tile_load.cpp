// Runs one tile load as a single thread block would, step by step.
#include "kernels/virtual/tile_load.hpp"

#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/virtual/encode.hpp"
#include "kernels/virtual/tile_chunks.hpp"
#include "kernels/virtual/tile_load_faults.hpp"

namespace tidemark {
namespace {

constexpr std::int32_t kIllegalInstruction = 715, kMisalignedAddress = 716;  // cudaError_t
constexpr std::uint64_t kSourceBytesMax = std::uint64_t{1} << 30;
constexpr std::int64_t kWindowAddress = 4096;  // on 1024: the 128-byte swizzle repeats there
constexpr std::uint32_t kWaitTries = 20000;    // a try delivers a chunk, and 227 KiB are 14528
constexpr std::uint32_t kMeterSlack = 4096;    // announced beyond the tile

// Everything of the thread block that the steps share.
struct VirtualBlock {
  const TileLoad& load;
  TileGeometry tile;
  SharedWindow shared;
  std::vector<std::uint8_t> source;
  BulkEngine engine;
  Fault fault;
};

RunResult faulted(DeviceFault fault, std::int32_t code, std::string note) {
  RunResult result;
  result.fault = fault;
  result.code = code;
  result.note = std::move(note);
  return result;
}

// What would end the run before a byte moves, if anything.
RunResult preflight(const TileLoad& load) {
  if (const std::string why = refusal_of(load.map); !why.empty())
    return faulted(DeviceFault::encode_refused, kEncodeRefusedCode, "tensor map refused: " + why);
  if (static_cast<std::int64_t>(load.at[0]) * element_bytes(load.map.type) % kChunkBytes != 0)
    return faulted(DeviceFault::sticky, kIllegalInstruction,
                   fmt::format("illegal instruction: inner coordinate {} of {} is off 16 bytes",
                               load.at[0], name_of(load.map.type)));
  if (load.destination_offset % 128 != 0)
    return faulted(DeviceFault::sticky, kMisalignedAddress,
                   fmt::format("misaligned address: destination offset {} is no multiple of 128",
                               load.destination_offset));
  return {};
}

void refuse_oversize(const TileLoad& load) {
  const TensorMapSpec& map = load.map;
  std::uint64_t tile = element_bytes(map.type);
  double tensor = static_cast<double>(map.extent[0]) * element_bytes(map.type);  // 2^72 at most
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    tile *= tile_extent(map, i);
    if (i > 0)
      tensor += static_cast<double>(map.extent[i] - 1) * static_cast<double>(map.stride[i - 1]);
  }
  const std::uint64_t window = tile + load.destination_offset + 2 * std::uint64_t{kGuardBytes};
  if (window > kSharedBytesMax)
    throw Error(
        fmt::format("tile load: a window of {} bytes (tile {}) does not fit shared memory "
                    "({}); take a smaller box",
                    window, tile, kSharedBytesMax));
  if (tensor + map.base_offset > static_cast<double>(kSourceBytesMax))
    throw Error(
        fmt::format("tile load: a tensor that spans {:.0f} bytes; the virtual device holds "
                    "{}; take smaller extents or strides",
                    tensor, kSourceBytesMax));
}

std::vector<std::uint8_t> make_source(const TileLoad& load) {
  std::vector<std::uint8_t> source(source_allocation_bytes(load));
  for (std::uint64_t i = 0; i < source.size() / 4; ++i) {
    const std::uint32_t word = source_element_word(load, i);
    std::memcpy(&source[4 * i], &word, 4);
  }
  return source;
}

SharedWindow make_window(const TileLoad& load) {
  SharedWindow window{.address = kWindowAddress,
                      .bytes = std::vector<std::uint8_t>(window_bytes(load))};
  std::uint64_t offset = 0;
  for (std::uint8_t& byte : window.bytes) byte = poison_byte(load.payload, offset++);
  return window;
}

void issue(VirtualBlock& block, Mbarrier& barrier) {
  const auto chunk = [&block](std::uint32_t index) {
    Chunk fetched = tile_chunk(block.tile, block.source, index);
    if (block.fault == kFaultSourceOverwritten && index == 0)
      std::memcpy(&block.source[kGuardBytes - kChunkBytes], fetched.bytes.data(), kChunkBytes);
    return fetched;
  };
  block.engine.issue({.chunks = chunk_count(block.tile),
                      .chunk = chunk,
                      .destination = block.tile.destination,
                      .shared = &block.shared,
                      .barrier = &barrier});
}

// Announces and issues an exact copy and waits for it.
bool copy_and_wait(VirtualBlock& block, Mbarrier& barrier, std::uint32_t parity) {
  arrive_expect_tx(barrier, tile_bytes(block.load.map));
  issue(block, barrier);
  return wait_bounded(block.engine, barrier, parity, kWaitTries);
}

// Announces more than a copy can credit, lets it finish, and counts single bytes until the phase
// flips: the rest of the announcement is what the copy has credited.
std::uint64_t credited_bytes(VirtualBlock& block) {
  Mbarrier barrier = init_mbarrier(1, block.fault);
  const std::uint32_t announced = tile_bytes(block.load.map) + kMeterSlack;
  arrive_expect_tx(barrier, announced);
  issue(block, barrier);
  block.engine.deliver_all();
  std::uint32_t steps = 0;
  for (; steps < announced && !test_wait(barrier, 0); ++steps) complete_tx(barrier, 1);
  return announced - steps;
}

}  // namespace

RunResult run_virtual_tile_load(const TileLoad& load, Fault fault) {
  RunResult result = preflight(load);
  if (result.fault != DeviceFault::none) return result;
  refuse_oversize(load);

  const std::int64_t destination = kWindowAddress + kGuardBytes + load.destination_offset;
  VirtualBlock block{.load = load,
                     .tile = tile_geometry(load, destination, fault),
                     .shared = make_window(load),
                     .source = make_source(load),
                     .engine = BulkEngine(load.payload.seed, fault),
                     .fault = fault};
  Mbarrier barrier = init_mbarrier(1, fault);
  BarrierLedger& ledger = result.ledger;
  ledger.announced = tile_bytes(load.map);
  ledger.complete_before_issue = test_wait(barrier, 0);
  ledger.complete = copy_and_wait(block, barrier, 0);
  result.bytes = block.shared.bytes;  // at once: what has not landed by now comes too late
  block.engine.deliver_all();         // reading back takes longer than any copy
  if (ledger.complete) {
    ledger.next_complete_early = test_wait(barrier, 1);
    ledger.next_complete = copy_and_wait(block, barrier, 1);
    block.engine.deliver_all();
  }
  ledger.credited = credited_bytes(block);
  result.surroundings = std::move(block.source);
  if (!ledger.complete || !ledger.next_complete) {
    result.fault = DeviceFault::timeout;
    result.note = fmt::format("the wait for phase {} ended by its bound", ledger.complete ? 1 : 0);
  }
  return result;
}

Measurement measure_virtual_tile_load(const TileLoad& load, const Timing& timing, Fault fault) {
  using Clock = std::chrono::steady_clock;
  Measurement measurement;
  for (std::uint32_t i = 0; i < timing.warmups + timing.samples; ++i) {
    const Clock::time_point begin = Clock::now();
    const RunResult result = run_virtual_tile_load(load, fault);
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - begin;
    if (result.fault != DeviceFault::none) {
      measurement.fault = result.fault;
      measurement.code = result.code;
      measurement.note = result.note;
      return measurement;
    }
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    if (i >= timing.warmups)
      measurement.samples.push_back(
          {.at_unix_s = now.count(), .total_ns = elapsed.count(), .exchange_ns = 0});
  }
  return measurement;
}

}  // namespace tidemark
