// What copies in flight leave when they have landed, and who may know it.
#include <algorithm>
#include <cstring>

#include "suite/oracle/contents.hpp"
#include "suite/oracle/place.hpp"
#include "suite/oracle/program/walk.hpp"

namespace tidemark {
namespace {

void put(const std::vector<std::uint8_t>& bytes, Part part, ExpectedWindow& window) {
  std::copy(bytes.begin(), bytes.end(), &window.bytes[part.begin]);
  overwrite(window, part);
}

void reduce(const Sent& send, Part part, ExpectedWindow& window) {
  for (std::uint32_t done = 0; done < send.bytes.size(); done += 16) {
    const std::size_t bytes = std::min<std::size_t>(16, send.bytes.size() - done);
    std::array<std::uint8_t, 16> comes{}, memory{};  // one element may be less
    std::copy_n(&send.bytes[done], bytes, comes.begin());
    std::copy_n(&window.bytes[part.begin + done], bytes, memory.begin());
    reduce_chunk(send.reduction, send.type, comes.data(), memory.data());
    std::copy_n(memory.begin(), bytes, &window.bytes[part.begin + done]);
  }
}

void land_send(const Sent& send, Part part, ExpectedCta& cta) {
  if (send.reduction == Reduction::none)
    put(send.bytes, part, cta.window);
  else
    reduce(send, part, cta.window);
  if (send.verb != Verb::send) cta.unfenced.push_back(part);
}

// What stood there of products and lanes is gone.
void forget_results(ExpectedWindow& window, Part part) {
  std::erase_if(window.products, [&](const auto& old) { return overlap(old.part, part); });
  std::erase_if(window.lanes, [&](const auto& old) { return overlap(old.part, part); });
}

}  // namespace

void overwrite(ExpectedWindow& window, Part part) {
  if (!window.compare.empty())
    std::fill_n(&window.compare[part.begin], part.end - part.begin, Compare::exact);
  forget_results(window, part);
}

void land(BarrierState& barrier) {
  barrier.tx -= std::exchange(barrier.flying, 0);
  advance(barrier);
}

void land_everywhere(Walk& walk) {
  for (ExpectedCta& cta : walk.ctas)
    for (BarrierState& barrier : cta.barriers) land(barrier);
}

Memory memory_of(const Walk& walk, std::size_t region) {
  return {walk.regions[region], walk.program.regions[region].islands};
}

void keep_tile(ExpectedWindow& window, const TileLoad& tile) {
  forget_results(window, part_of(tile));
  const auto begin = [](const TileLoad& at) { return tile_start(at); };
  const auto end = [&](const TileLoad& at) { return begin(at) + tile_span(at.map); };
  std::erase_if(window.tiles, [&](const TileLoad& older) {
    return begin(tile) <= begin(older) && end(older) <= end(tile);
  });
  window.tiles.push_back(tile);
}

void see_boxes(const Walk& walk, ExpectedCta& cta, BarrierState& barrier) {
  std::vector<Flight> left;
  for (Flight& flight : barrier.flights) {
    if (!flight.phase_done) {
      left.push_back(flight);
      continue;
    }
    if (flight.send == kNone)
      pull_tile(flight.load, memory_of(walk, flight.region), cta.window.bytes, cta.window.compare);
    else
      land_send(walk.sends[flight.send], part_of(flight.load), cta);
    cta.touched.push_back(part_of(flight.load));
    keep_tile(cta.window, flight.load);
  }
  barrier.flights = std::move(left);
}

void see_sends(Walk& walk, const BarrierState& barrier) {
  for (const Flight& flight : barrier.flights) {
    if (flight.send == kNone || !flight.phase_done) continue;
    Sent& send = walk.sends[flight.send];
    send.seen = true;
    send.over = send.from == send.to;
  }
}

}  // namespace tidemark
