// The list of all faults, put together from those of each operation.
#include "kernels/fault.hpp"

#include <algorithm>
#include <vector>

#include "kernels/virtual/copies/faults/im2col_faults.hpp"
#include "kernels/virtual/copies/faults/interleave_faults.hpp"
#include "kernels/virtual/copies/faults/multicast_load_faults.hpp"
#include "kernels/virtual/copies/faults/program_faults.hpp"
#include "kernels/virtual/copies/faults/tile_load_faults.hpp"
#include "kernels/virtual/copies/faults/tile_store_faults.hpp"
#include "kernels/virtual/gemm/gemm_multiply.hpp"
#include "kernels/virtual/peer_tile.hpp"
#include "kernels/virtual/program/program_columns.hpp"
#include "kernels/virtual/program/program_wgmma.hpp"
#include "kernels/virtual/stress.hpp"

namespace tidemark {

std::span<const FaultInfo> faults() {
  static const std::vector<FaultInfo> all = [] {
    std::vector<FaultInfo> list;
    for (const auto some :
         {tile_load_faults(), im2col_faults(), interleave_faults(), gemm_faults(),
          tile_store_faults(), multicast_load_faults(), program_faults(), tile_consume_faults(),
          tile_read_faults(), peer_tile_faults(), stress_faults()})
      list.insert(list.end(), some.begin(), some.end());
    // Those of programs have values on either side of those of consumers.
    std::sort(list.begin(), list.end(),
              [](const FaultInfo& a, const FaultInfo& b) { return a.fault < b.fault; });
    return list;
  }();
  return all;
}

Fault fault_named(std::string_view name) {
  const auto all = faults();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const FaultInfo& info) { return info.name == name; });
  return found == all.end() ? kNoFault : found->fault;
}

}  // namespace tidemark
