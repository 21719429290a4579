// Tile stores to the memory of another GPU of the same host, which looks for them itself.
#include "suite/conformance/peer_row.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) { return peer_rows(context, PeerWay::store); }

const Register kCase{{
    .name = "peer.store",
    .claim =
        "a tile store through a tensor map that points into the memory of another GPU is there "
        "for its owner once the kernel has ended, and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .global; CUDA C++ Programming Guide "
             "13.1, peer-to-peer memory access and interprocess communication",
    .scope = CaseScope::all_gpus,
    .seconds = 2,
    .fewest_gpus = 2,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
