// Loads and stores in the memory of another GPU.
#include "suite/conformance/peer_row.hpp"

namespace tidemark::suite {
namespace {

// Tile loads from the memory of another GPU of the same host.
std::vector<Op> load_rows(const RunContext& context) { return peer_rows(context, PeerWay::load); }

const Register kLoad{{
    .name = "peer.load",
    .claim =
        "a tensor map may point into the memory of another GPU that this one has access to, and a "
        "tile load brings the bytes that its owner wrote there",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .global; CUDA C++ Programming Guide "
             "13.1, peer-to-peer memory access and interprocess communication",
    .scope = CaseScope::all_gpus,
    .seconds = 2,
    .fewest_gpus = 2,
    .rows = load_rows,
}};

// Tile stores to the memory of another GPU of the same host, which looks for them itself.
std::vector<Op> store_rows(const RunContext& context) { return peer_rows(context, PeerWay::store); }

const Register kStore{{
    .name = "peer.store",
    .claim =
        "a tile store through a tensor map that points into the memory of another GPU is there "
        "for its owner once the kernel has ended, and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .global; CUDA C++ Programming Guide "
             "13.1, peer-to-peer memory access and interprocess communication",
    .scope = CaseScope::all_gpus,
    .seconds = 2,
    .fewest_gpus = 2,
    .rows = store_rows,
}};

}  // namespace
}  // namespace tidemark::suite
