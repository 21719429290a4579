// Tile loads from the memory of another GPU of the same host.
#include "suite/conformance/peer_row.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) { return peer_rows(context, PeerWay::load); }

const Register kCase{{
    .name = "peer.load",
    .claim =
        "a tensor map may point into the memory of another GPU that this one has access to, and a "
        "tile load brings the bytes that its owner wrote there",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .global; CUDA C++ Programming Guide "
             "13.1, peer-to-peer memory access and interprocess communication",
    .scope = CaseScope::all_gpus,
    .seconds = 2,
    .fewest_gpus = 2,
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
