// The program of a copy from or to the memory of another rank.
#include "kernels/ops/peer_tile.hpp"

#include "kernels/ops/program/checks.hpp"

namespace tidemark {

Program peer_program(const PeerTile& op) {
  Program program = op.way == PeerWay::load ? program_of(peer_load(op, next_rank(op)))
                                            : program_of(peer_store(op, op.rank));
  program.regions[0].source = MemorySource::peer;
  return with_checks(program);
}

}  // namespace tidemark
