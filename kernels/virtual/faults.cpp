// The list of all faults, put together from those of each operation.
#include "kernels/fault.hpp"

#include <algorithm>
#include <vector>

#include "kernels/virtual/gemm_faults.hpp"
#include "kernels/virtual/tile_consume_faults.hpp"
#include "kernels/virtual/tile_load_faults.hpp"

namespace tidemark {

std::span<const FaultInfo> faults() {
  static const std::vector<FaultInfo> all = [] {
    std::vector<FaultInfo> list(tile_load_faults().begin(), tile_load_faults().end());
    list.insert(list.end(), gemm_faults().begin(), gemm_faults().end());
    list.insert(list.end(), tile_consume_faults().begin(), tile_consume_faults().end());
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
