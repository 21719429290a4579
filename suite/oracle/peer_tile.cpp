// Predicts and compares copies between neighbours.
#include "suite/oracle/peer_tile.hpp"

namespace tidemark {
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

// The program of this rank on memory that rank `owner` filled.
Program program_on(const PeerTile& op, std::uint32_t owner) {
  Program program = peer_program(op);
  if (op.way == PeerWay::load) program.payload = rank_payload(op, owner);
  return program;
}

}  // namespace

PeerExpectation predict(const PeerTile& op) {
  PeerTile before = op;
  before.rank = previous_rank(op);
  const Program into_mine = program_on(before, op.rank);
  return {.copy = predict(program_on(op, next_rank(op))),
          .before = into_mine,
          .memory = predict(into_mine)};
}

std::vector<Miscompare> compare(const PeerTile& op, const PeerExpectation& expected,
                                const RunResult& result, std::uint32_t row) {
  // The windows are explained by the memory that they came from; this rank's own is compared apart.
  RunResult copied = result;
  copied.surroundings = expected.copy.regions;
  std::vector<Miscompare> found = compare(peer_program(op), expected.copy, copied, row);
  const bool loads = op.way == PeerWay::load;
  if (loads && !found.empty() && result.bytes == all_snapshots(predict(program_on(op, op.rank))))
    add_words(found, "; it is what this rank's own memory holds");
  std::vector<Miscompare> of_memory;
  compare_regions(expected.before, expected.memory, result, row, of_memory);
  if (!loads && result.surroundings == expected.copy.regions)
    add_words(of_memory, "; it is what this rank itself stored");
  for (Miscompare& miscompare : of_memory) found.push_back(std::move(miscompare));
  return found;
}

}  // namespace tidemark
