// Predicts and compares copies between neighbours: the copy is one of TileLoad or TileStore, but
// what it reads, what it leaves and what this rank sees of its own memory belong to three ranks.
#include <algorithm>
#include <utility>

#include "suite/oracle/compare.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark::suite {
namespace {

// Adds `words` to what is said of wrong bytes.
void add_words(std::vector<Miscompare>& found, std::string_view words) {
  for (Miscompare& miscompare : found)
    if (miscompare.what == "byte") miscompare.text += words;
}

std::vector<std::uint8_t> all_snapshots(const ProgramExpectation& expected) {
  std::vector<std::uint8_t> bytes;
  for (const ExpectedSnapshot& snapshot : expected.snapshots)
    bytes.insert(bytes.end(), snapshot.window.bytes.begin(), snapshot.window.bytes.end());
  return bytes;
}

// What the program would leave if it read the memory of rank `owner`.
ProgramExpectation predict_from(const PeerTile& op, std::uint32_t owner) {
  Program program = peer_program(op);
  program.payload = peer_load(op, owner).payload;
  return predict(program);
}

std::vector<Miscompare> compare_load(const PeerTile& op, const Expectation& expected,
                                     const RunResult& result, std::uint32_t row) {
  const Program program = peer_program(op);
  ProgramExpectation from_neighbour = predict(program);
  for (std::size_t i = 0; i < from_neighbour.snapshots.size(); ++i)
    std::copy_n(expected.bytes.begin() + static_cast<std::ptrdiff_t>(i * program.window),
                program.window, from_neighbour.snapshots[i].window.bytes.begin());
  // The windows are explained by the memory that they came from; this rank's own is compared apart.
  RunResult loaded = result;
  loaded.surroundings = from_neighbour.regions;
  std::vector<Miscompare> found = compare(program, from_neighbour, loaded, row);
  if (!found.empty() && result.bytes == all_snapshots(predict_from(op, op.rank)))
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
    Expectation expectation;
    expectation.bytes = all_snapshots(predict(peer_program(op)));
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
