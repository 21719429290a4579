// Bulk stores of plain bytes, and stores in im2col mode.
#include "suite/case.hpp"
#include "suite/conformance/bulk.hpp"
#include "suite/conformance/im2col.hpp"
#include "suite/conformance/store.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// Legal bulk stores and reductions drawn at random over all that they can vary.
std::vector<Op> bulk_random_rows(const RunContext& context) {
  return drawn_rows(context, {32, 1000, 4000}, random_bulk_store);
}

const Register kBulkRandom{{
    .name = "store.bulk.random",
    .claim = "any legal bulk store or bulk reduction does what the documents say, however its "
             "features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk; 9.7.9.25.4.2 cp.reduce.async.bulk",
    .rows = bulk_random_rows,
}};

// Bulk stores of every size class, from and to every address on 16 bytes.
std::vector<Op> bulk_sizes_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t bytes : {16U, 32U, 48U, 112U, 128U, 144U, 1008U, 4096U, 4112U, 65552U})
    rows.emplace_back(store_of(bulk_load(DataType::u8, bytes, 0)));
  for (std::uint32_t step = 1; step < 8; ++step) {
    rows.emplace_back(store_of(bulk_load(DataType::u32, 272, 16 * step)));
    TileLoad from = bulk_load(DataType::u16, 272, 16);
    from.destination_offset = 16 * step;
    rows.emplace_back(store_of(from));
  }
  for (const CacheHint hint :
       {CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last})
    for (const MemorySource destination :
         {MemorySource::async, MemorySource::pinned, MemorySource::mapped}) {
      TileStore store = store_of(bulk_load(DataType::u64, 1040, 32));
      store.hint = hint;
      store.destination = destination;
      rows.emplace_back(store);
    }
  return rows;
}

const Register kBulkSizes{{
    .name = "store.bulk.sizes",
    .claim = "a bulk store writes so many consecutive bytes, any multiple of 16, from and to any "
             "address on 16, and nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk",
    .rows = bulk_sizes_rows,
}};

// Legal stores by im2col maps drawn at random over all that they can vary.
std::vector<Op> im2col_random_rows(const RunContext& context) {
  return drawn_rows(context, {64, 1000, 4000}, random_im2col_store);
}

const Register kIm2colRandom{{
    .name = "store.im2col.random",
    .claim =
        "a store by an im2col map writes the pixels of its bounding boxes one after the other, "
        "image after image, and nothing else",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode, 9.7.9.25.5.2 cp.async.bulk.tensor, .im2col_no_offs",
    .rows = im2col_random_rows,
}};

}  // namespace
}  // namespace tidemark
