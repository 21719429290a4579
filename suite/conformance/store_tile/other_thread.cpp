// Another thread waits right behind the stores. Its wait covers groups of its own, and it has none:
// what it then finds in memory is a matter of time, noted and never judged. Judged is what the
// thread finds that did commit, and that the other's wait took nothing from it.
#include <algorithm>

#include "kernels/ops/program/checks.hpp"
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

// Whether the other thread saw what the issuing thread reads later: of each word, all or nothing
// has landed.
std::string observed(const Op& op, const RunResult& result) {
  const Program program = checked_program(op);
  std::uint32_t words = 0, landed = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& look = program.steps[i];
    if (look.verb != Verb::look) continue;
    const auto later =
        std::find_if(program.steps.begin(), program.steps.end(), [&](const Step& step) {
          return step.verb == Verb::wait_group && step.region == look.region &&
                 step.word == look.word;
        });
    ++words;
    if (result.trace[i] == result.trace[static_cast<std::size_t>(later - program.steps.begin())])
      ++landed;
  }
  if (words == 0) return {};
  const char* const how_many = landed == 0 ? "none" : landed < words ? "some" : "all";
  return std::string("the wait of a thread that committed nothing returned when ") + how_many +
         " of the chunks looked at had landed";
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const StoreWait wait : {StoreWait::complete, StoreWait::read})
    for (std::uint32_t stores = 1; stores <= kMaxStores; ++stores)
      for (const std::uint32_t height : {1U, 4U, 32U}) {
        const TileLoad box =
            tile(DataType::u16, {136, std::uint64_t{stores} * height}, {128, height}, {8, 0});
        TileStore store = store_of(box);
        store.stores = stores;
        store.wait = wait;
        store.bystander = true;
        rows.emplace_back(store);
        store.empty_groups = (2U << stores) - 1;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCase{{
    .name = "store.tile.other_thread",
    .claim = "groups belong to the thread that committed them, so that another thread's wait "
             "returns and takes nothing from the waits of that thread",
    .cites = "PTX ISA 9.0, cp.async.bulk.commit_group: a per-thread bulk async-group; "
             "cp.async.bulk.wait_group: waits for those of the executing thread",
    .rows = rows,
    .observed = observed,
}};

}  // namespace
}  // namespace tidemark::suite
