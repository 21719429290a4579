// Every mask of a cluster of four blocks, from every issuer, in the mask or not.
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) { return all_masks_and_issuers(4); }

const Register kCase{{
    .name = "multicast.mask4",
    .claim = "in a cluster of four blocks a multicast serves the blocks of each of the 15 masks "
             "and no other, whichever block issues it",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .multicast::cluster and ctaMask",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
