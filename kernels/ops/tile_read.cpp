// Warp reads as programs.
#include "kernels/ops/tile_read.hpp"

namespace tidemark {

Program program_of(const TileRead& read) {
  const TensorMapSpec& map = read.load.map;
  const bool unsplit = read.placement == TilePlacement::unsplit;
  const std::uint32_t loaded = kGuardBytes + read.load.destination_offset;
  const std::uint32_t area = (window_bytes(read.load) + 1023) / 1024 * 1024;
  const std::uint32_t tile = (tile_bytes(map) + 15) / 16 * 16;
  const std::uint32_t lanes = (unsplit ? area + tile : area) + kGuardBytes;
  const auto to = static_cast<std::int32_t>(lanes);
  Program program{.window = lanes + kWarpLanes * kReadBytes + kGuardBytes,
                  .barriers = 1,
                  .regions = {region_of(read.load)},
                  .maps = {{.spec = map}},
                  .steps = {{.verb = Verb::init},
                            {.verb = Verb::arrive_expect_tx, .bytes = tile_bytes(map)},
                            {.verb = Verb::load, .offset = loaded, .at = read.load.at},
                            {.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs}},
                  .payload = read.load.payload};
  if (unsplit)
    program.steps.push_back(
        {.verb = Verb::place_rows, .offset = loaded, .at = {static_cast<std::int32_t>(area)}});
  program.steps.push_back({.verb = Verb::read_columns,
                           .offset = unsplit ? area : loaded,
                           .stride = pitch_of(read),
                           .at = {to, static_cast<std::int32_t>(read.first_column)}});
  program.steps.push_back({.verb = Verb::snapshot});
  return program;
}

}  // namespace tidemark
