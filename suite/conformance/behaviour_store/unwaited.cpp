// Kernels that end while their stores may be in flight. No document says that the bytes are there
// when the kernel has ended, nor that shared memory stays readable until they are; what came is
// noted. Judged is that nothing else was written. The virtual device lets all land at the end.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/ops/program/checks.hpp"
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark::suite {
namespace {

struct Landed {
  std::uint64_t bytes = 0, right = 0, poison = 0;  // of the boxes
};

Landed landed(const TileStore& store, const RunResult& result) {
  const ProgramExpectation expected = predict(checked_program(store));
  Landed sum;
  const std::size_t bytes = std::min(expected.region_compare.size(), result.surroundings.size());
  for (std::size_t i = 0; i < bytes; ++i) {
    if (expected.region_compare[i] != Compare::recorded) continue;
    ++sum.bytes;
    if (result.surroundings[i] == expected.regions[i])
      ++sum.right;
    else if (result.surroundings[i] == poison_byte(store.payload, i))
      ++sum.poison;
  }
  return sum;
}

std::string observed(const Op& op, const RunResult& result) {
  const auto& store = std::get<TileStore>(op);
  const Landed sum = landed(store, result);
  const char* const when =
      store.wait == StoreWait::none ? "without any wait" : "behind wait_group.read alone";
  if (sum.right == sum.bytes)
    return fmt::format("kernel ended {}: all that it stored was there", when);
  const bool foreign = sum.right + sum.poison < sum.bytes;
  return fmt::format("kernel ended {}: {}", when,
                     foreign          ? "other bytes than it stored were there"
                     : sum.right == 0 ? "nothing that it stored was there"
                                      : "a part of what it stored was not there");
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const StoreWait wait : {StoreWait::none, StoreWait::only_read})
    for (std::uint32_t stores = 1; stores <= kMaxStores; ++stores)
      for (const std::uint32_t height : {1U, 8U, 64U}) {
        TileStore store = store_of(
            tile(DataType::u8, {272, std::uint64_t{stores} * height + 1}, {256, height}, {16, 1}));
        store.map.base_offset = 48;
        store.map.stride[0] += 32;
        store.stores = stores;
        store.wait = wait;
        store.held_to = HeldTo::record;
        rows.emplace_back(store);
        store.empty_groups = 1U << stores;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCase{{
    .name = "behaviour.store.unwaited",
    .claim = "a kernel that ends without waiting for its stores writes nothing outside their "
             "boxes, and whether the boxes are whole by then is noted",
    .cites = "recorded; PTX ISA 9.0, 9.7.9.25.5.2: what is outside a box is not accessed; no "
             "document says what becomes of stores that nobody waits for",
    .rows = rows,
    .observed = observed,
}};

}  // namespace
}  // namespace tidemark::suite
