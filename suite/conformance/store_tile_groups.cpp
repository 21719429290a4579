// Groups of tile stores and the waits for them.
#include <algorithm>

#include "kernels/ops/program/checks.hpp"
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

TileStore slow(std::uint32_t stores) {
  TileStore store = store_of(tile(DataType::u8, {272, stores * 16}, {256, 16}, {16, 0}));
  store.stores = stores;
  return store;
}

TileStore small(std::uint32_t stores) {
  TileStore store = store_of(tile(DataType::u32, {24, 3, stores + 1}, {16, 2, 1}, {4, 1, 0}));
  store.stores = stores;
  return store;
}

// Commits with nothing to commit: in front of the stores, between them and behind the last, small
// tiles and tiles that take long enough to be caught on their way.
std::vector<Op> empty_group_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const StoreWait wait : {StoreWait::complete, StoreWait::read})
    for (std::uint32_t stores = 1; stores <= kMaxStores; ++stores) {
      const std::uint32_t everywhere = (2U << stores) - 1, behind_last = 1U << stores;
      for (const std::uint32_t empty : {1U, behind_last, everywhere - 1, everywhere})
        for (TileStore store : {slow(stores), small(stores)}) {
          if (stores == 1 && empty == everywhere - 1) continue;  // the same as behind the last
          store.empty_groups = empty;
          store.wait = wait;
          rows.emplace_back(store);
        }
    }
  return rows;
}

const Register kEmptyGroup{{
    .name = "store.tile.empty_group",
    .claim = "a commit with no store before it makes an empty group, which waits count like any "
             "other and never wait for",
    .cites = "PTX ISA 9.0, cp.async.bulk.commit_group and cp.async.bulk.wait_group",
    .rows = empty_group_rows,
}};

TileStore large(std::uint32_t stores, Swizzle swizzle) {
  const std::uint32_t inner = swizzle == Swizzle::none ? 256 : swizzle_bytes(swizzle);
  const std::uint32_t height = 4096 / inner;
  TileLoad box = tile(DataType::u8, {inner + 16, stores * height}, {inner, height}, {16, 0});
  box.map.swizzle = swizzle;
  TileStore store = store_of(box);
  store.stores = stores;
  return store;
}

// One to four stores, each a group of its own, waited for one by one from the oldest: from single
// chunks to tiles that take long enough to be caught on their way.
std::vector<Op> groups_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t stores = 1; stores <= kMaxStores; ++stores) {
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : {DataType::u8, DataType::u64}) {
        TileStore store = store_of(tile_of_rank(type, rank));
        store.stores = stores;  // the boxes of the younger groups soon lie outside
        store.at[rank - 1] = 0;
        rows.emplace_back(store);
      }
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
      rows.emplace_back(large(stores, swizzle));
    TileStore chunks = store_of(tile(DataType::u8, {16, 7}, {16, 1}, {0, 1}));
    chunks.stores = stores;
    rows.emplace_back(chunks);
    for (const Swizzle swizzle : kSwizzles)  // each store scatters the rows of one box a group
      for (const std::uint32_t wide : {1U, 2U}) {
        const GroupedMatrix matrix{.swizzle = swizzle, .rows = 19, .groups = 9, .padding = 48};
        TileStore grouped = store_of(atoms(matrix, 8, wide, 11));
        grouped.stores = stores;
        rows.emplace_back(grouped);
      }
  }
  return rows;
}

const Register kGroups{{
    .name = "store.tile.groups",
    .claim = "wait_group N returns when all but the N youngest groups of stores have completed, "
             "and what those wrote is visible to the waiting thread",
    .cites = "PTX ISA 9.0, cp.async.bulk.wait_group",
    .rows = groups_rows,
}};

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

// Another thread waits right behind the stores. Its wait covers groups of its own, and it has none:
// what it then finds in memory is a matter of time, noted and never judged. Judged is what the
// thread finds that did commit, and that the other's wait took nothing from it.
std::vector<Op> other_thread_rows(const RunContext&) {
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

const Register kOtherThread{{
    .name = "store.tile.other_thread",
    .claim = "groups belong to the thread that committed them, so that another thread's wait "
             "returns and takes nothing from the waits of that thread",
    .cites = "PTX ISA 9.0, cp.async.bulk.commit_group: a per-thread bulk async-group; "
             "cp.async.bulk.wait_group: waits for those of the executing thread",
    .rows = other_thread_rows,
    .observed = observed,
}};

TileStore reused(TileLoad box, std::uint32_t stores) {
  TileStore store = store_of(box);
  store.stores = stores;
  store.wait = StoreWait::read;
  return store;
}

// The shared tile of each group is overwritten as soon as wait_group.read returns.
std::vector<Op> read_reuse_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t stores = 1; stores <= kMaxStores; ++stores) {
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        TileLoad box = tile_of_rank(type, rank);
        box.at[rank - 1] = 0;
        rows.emplace_back(reused(box, stores));
      }
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      const std::uint32_t inner = swizzle == Swizzle::none ? 256 : swizzle_bytes(swizzle);
      const std::uint32_t height = 4096 / inner;
      TileLoad box = tile(DataType::u8, {inner, stores * height + 1}, {inner, height}, {0, 1});
      box.map.swizzle = swizzle;
      rows.emplace_back(reused(box, stores));
    }
  }
  return rows;
}

const Register kReadReuse{{
    .name = "store.tile.read_reuse",
    .claim = "once wait_group.read has returned, the shared tile can be overwritten and what was "
             "in it before is what gets stored",
    .cites = "PTX ISA 9.0, cp.async.bulk.wait_group, .read",
    .rows = read_reuse_rows,
}};

}  // namespace
}  // namespace tidemark
