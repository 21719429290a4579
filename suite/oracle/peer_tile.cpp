// Predicts and compares copies between neighbours: the copy is one of TileLoad or TileStore, but
// what it reads, what it leaves and what this rank sees of its own memory belong to three ranks.
#include <utility>

#include "suite/oracle/compare.hpp"

namespace tidemark::suite {
namespace {

// Adds `words` to what is said of wrong bytes.
void add_words(std::vector<Miscompare>& found, std::string_view words) {
  for (Miscompare& miscompare : found)
    if (miscompare.what == "byte") miscompare.text += words;
}

std::vector<Miscompare> compare_load(const PeerTile& op, const Expectation& expected,
                                     const RunResult& result, std::uint32_t row) {
  const TileLoad from_neighbour = peer_load(op, next_rank(op));
  // The window is explained by the memory that it came from; this rank's own is compared apart.
  Expectation window = expected;
  window.surroundings = predict(from_neighbour).surroundings;
  RunResult loaded = result;
  loaded.surroundings = window.surroundings;
  std::vector<Miscompare> found = compare(from_neighbour, window, loaded, row);
  if (!found.empty() && result.bytes == predict(peer_load(op, op.rank)).bytes)
    add_words(found, "; it is what this rank's own memory holds");
  compare_source(expected, result, row, found);
  return found;
}

std::vector<Miscompare> compare_store(const PeerTile& op, const Expectation& expected,
                                      const RunResult& result, std::uint32_t row) {
  // This rank's memory, as the rank before stored into it.
  const TileStore into_mine = peer_store(op, previous_rank(op));
  Expectation memory = predict(into_mine);
  RunResult received = result;
  received.surroundings = memory.surroundings;
  received.stored = memory.stored;
  memory.bytes = expected.bytes;
  std::vector<Miscompare> found = compare(into_mine, memory, received, row);
  // This rank's own store: its window, and what its thread read in the neighbour's memory.
  const TileStore mine = peer_store(op, op.rank);
  Expectation sent = predict(mine);
  if (!found.empty() && result.bytes == sent.bytes)
    add_words(found, "; it is what this rank itself stored");
  RunResult own = result;
  own.bytes = sent.bytes;
  sent.surroundings = expected.surroundings;
  sent.stored = expected.stored;
  for (Miscompare& miscompare : compare(mine, sent, own, row))
    found.push_back(std::move(miscompare));
  return found;
}

}  // namespace

Expectation predict(const PeerTile& op) {
  if (op.way == PeerWay::load) {
    Expectation expectation = predict(peer_load(op, next_rank(op)));
    expectation.surroundings = predict(peer_load(op, op.rank)).surroundings;
    return expectation;
  }
  Expectation expectation = predict(peer_store(op, previous_rank(op)));
  Expectation own = predict(peer_store(op, op.rank));
  expectation.surroundings = std::move(own.surroundings);
  expectation.stored = own.stored;
  return expectation;
}

std::vector<Miscompare> compare(const PeerTile& op, const Expectation& expected,
                                const RunResult& result, std::uint32_t row) {
  return op.way == PeerWay::load ? compare_load(op, expected, result, row)
                                 : compare_store(op, expected, result, row);
}

}  // namespace tidemark::suite
