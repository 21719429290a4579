// What makes a program sound: every operand names something that the program has.
#include "kernels/ops/program/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kLastAddress = std::uint64_t{1} << 45;    // of an island
constexpr std::uint64_t kLongestExtent = std::uint64_t{1} << 31;  // of a map that is replaced
constexpr std::uint32_t kLongestNs = 900'000'000;  // clocks of the waits are exact below a second

// Whether the sizes of a map mean something. A map that the driver refuses has no tile, and the
// program ends before its first step.
bool has_size(const TensorMapSpec& map) { return map.bulk || refusal_of_sizes(map).empty(); }

// A bulk copy has no bounds, no fill and no rule of its own for what is off 16 bytes.
std::string unsound_bulk(const TensorMapSpec& map) {
  const std::uint64_t size = element_bytes(map.type);
  if (map.rank != 1 || map.swizzle != Swizzle::none || map.fill != Fill::zero ||
      map.element_stride[0] != 1)
    return "a bulk map of several dimensions, with a swizzle, NaN fill or an element stride; take "
           "none of them";
  if (map.box[0] < 1 || map.box[0] > map.extent[0] || map.extent[0] > kDenseBytes)
    return fmt::format("a bulk map of {} elements out of {}; take 1 to all of them, up to {}",
                       map.box[0], map.extent[0], kDenseBytes);
  if (map.box[0] * size % 16 != 0 || map.extent[0] * size % 16 != 0 || map.base_offset % 16 != 0)
    return "a bulk map off 16 bytes; take multiples of them";
  return "";
}

std::string unsound_bulk_copy(const TensorMapSpec& map, const Step& step) {
  const std::int64_t size = element_bytes(map.type), at = step.at[0];
  if (at < 0 || at + map.box[0] > static_cast<std::int64_t>(map.extent[0]))
    return fmt::format("a bulk copy of {} elements from {} on, of {}", map.box[0], at,
                       map.extent[0]);
  if (at * size % 16 != 0 || (info_of(step.verb).tile && step.offset % 16 != 0))
    return fmt::format(
        "a bulk copy of element {} and byte {} of the window; take multiples of 16 "
        "bytes",
        at, step.offset);
  if (step.verb != Verb::store || step.reduction == Reduction::none) return "";
  // PTX ISA 9.0, 9.7.9.25.4.2: sums of f32 may flush subnormal numbers, and do not have to.
  if (!reduces(step.reduction, map.type) || map.type == DataType::f32)
    return fmt::format("a bulk reduction of {} that there is not", name_of(map.type));
  return step.hint == CacheHint::none ? "" : "a bulk reduction with a cache hint; take none";
}

std::string unsound_im2col_copy(const TensorMapSpec& map, const Region& region, const Step& step) {
  if (!region.islands.empty()) return "an im2col map of a region with islands";
  const bool has_offsets = step.verb != Verb::store;
  for (std::uint32_t i = 0; has_offsets && i < spatial_of(map); ++i)
    if (step.im2col_offsets[i] > highest_offset(map.rank))
      return fmt::format("im2col offset {} of a tensor of rank {}; take at most {}",
                         step.im2col_offsets[i], map.rank, highest_offset(map.rank));
  return "";
}

std::string unsound_copy(const Program& program, const Step& step) {
  if ((step.mask & ~all_ctas(program)) != 0)
    return fmt::format("multicast mask {:#x} of {} CTAs", step.mask, ctas_of(program));
  const TensorMapSpec& map = program.maps[step.map].spec;
  if (!has_size(map)) return "";
  if (map.bulk)
    if (std::string why = unsound_bulk_copy(map, step); !why.empty()) return why;
  const Region& region = program.regions[program.maps[step.map].region];
  if (map.im2col)
    if (std::string why = unsound_im2col_copy(map, region, step); !why.empty()) return why;
  if (is_interleaved(map) && !region.islands.empty())
    return "an interleaved map of a region with islands";
  if (info_of(step.verb).tile && std::uint64_t{step.offset} + tile_span(map) > program.window)
    return fmt::format("{} bytes from {} on in a window of {}", tile_span(map), step.offset,
                       program.window);
  if (region.islands.empty()) return "";
  const std::uint64_t missing = missing_byte(region.islands, map, step.at);
  if (missing != kNowhere)
    return fmt::format("a box that touches address {} of its region, where no island is", missing);
  return "";
}

// Threads find elements by the formula of the swizzle, in rows as wide as it.
std::string unsound_thread_work(const Program& program, const Step& step) {
  const TensorMapSpec& map = program.maps[step.map].spec;
  if (!has_size(map)) return "";
  const bool counts =
      map.type == DataType::u32 || map.type == DataType::s32 || map.type == DataType::f32;
  if (step.verb == Verb::add && !counts)
    return fmt::format("an add to {} elements; take u32, s32 or f32", name_of(map.type));
  if (step.verb == Verb::copy && (map.type >= DataType::f32_ftz || map.fill != Fill::zero))
    return "a copy by threads of a type that loads convert, or with NaN fill; take another";
  if (map.im2col) return "threads at the tile of an im2col map; take a tiled one";
  if (is_interleaved(map)) return "threads at the tile of an interleaved map; take another";
  if (tile_span(map) != tile_bytes(map))
    return "threads at a tile whose rows are narrower than its swizzle; take rows as wide";
  return "";
}

std::string unsound_read(const Program& program, const Step& step) {
  if (step.region == kNoRegion) return "";
  if (step.region >= program.regions.size())
    return fmt::format("region {} of {}", step.region, program.regions.size());
  if (!program.regions[step.region].islands.empty()) return "a word of a region with islands";
  const std::uint64_t bytes = program.regions[step.region].bytes;
  if (step.word % 8 != 0 || bytes < 8 || step.word > bytes - 8)
    return fmt::format("8 bytes at {} of a region of {}; take a multiple of 8", step.word, bytes);
  return "";
}

std::string unsound_send(const Program& program, const Step& step) {
  const std::int64_t at = step.at[0];
  if (step.bytes == 0) return "a send of 0 bytes; take 16 or more";
  if (at < 0 || at % 16 != 0 || at + step.bytes > program.window)
    return fmt::format("a send of {} bytes to byte {} of a window of {}; take multiples of 16",
                       step.bytes, at, program.window);
  if (step.reduction != Reduction::none && !reduces_in_shared(step.reduction, step.type))
    return fmt::format("a reduction of {} that shared memory does not have", name_of(step.type));
  return "";
}

// ptxas has no vector of more than 16 bytes, and no reduction beyond those of cp.reduce.async.bulk.
std::string unsound_async(const Program& program, const Step& step) {
  const std::uint32_t bytes = async_bytes(step), size = element_bytes(step.type);
  const std::int64_t at = step.at[0];
  if (step.verb == Verb::red_async && !reduces_in_shared(step.reduction, step.type))
    return fmt::format("a reduction of {} that shared memory does not have", name_of(step.type));
  if (step.verb == Verb::st_async && step.type != DataType::u32 && step.type != DataType::u64)
    return fmt::format("an st_async of {}; take u32 or u64", name_of(step.type));
  if (bytes != size && bytes != 2 * size && bytes != 4 * size)
    return fmt::format("{} bytes of {}; take 1, 2 or 4 elements", bytes, name_of(step.type));
  if (bytes > 16) return fmt::format("{} bytes at once; take at most 16", bytes);
  if (at < 0 || at % bytes != 0 || at + bytes > program.window)
    return fmt::format("{} bytes at byte {} of a window of {}; take a multiple of them", bytes, at,
                       program.window);
  return "";
}

// A read in columns, or a tile in rows of all groups: both in the window, and on bytes of their
// own.
std::string unsound_columns(const Program& program, const Step& step) {
  const TensorMapSpec& map = program.maps[step.map].spec;
  if (!has_size(map)) return "";
  const std::uint32_t rows = map.box[1], row_bytes = group_row_bytes(map);
  const bool fits = map.rank == 3 && (rows == 8 || rows == 16 || rows == 32) &&
                    row_bytes % kReadBytes == 0 && row_bytes <= 128 && !map.im2col && !map.bulk &&
                    !is_interleaved(map) && map.element_stride[1] == 1 &&
                    map.element_stride[2] == 1 && tile_span(map) == tile_bytes(map);
  if (!fits)
    return fmt::format(
        "columns of a box of rank {} with {} rows of {} bytes; take a tiled map of rank 3, 8, 16 "
        "or 32 rows, 16 to 128 bytes as wide as the swizzle, and element strides of 1",
        map.rank, rows, row_bytes);
  const std::uint32_t columns = columns_of(map);
  const std::uint64_t begin = step.offset, end = begin + std::uint64_t{rows} * columns * kReadBytes;
  const bool reads = step.verb == Verb::read_columns;
  if (reads && step.stride != 0 && step.stride != columns * kReadBytes)
    return fmt::format("rows of {} bytes; take 0 or {}", step.stride, columns * kReadBytes);
  const std::int64_t last = std::int64_t{step.at[1]} + (kWarpLanes - 1) / rows;
  if (reads && (step.at[1] < 0 || last >= columns))
    return fmt::format("the lanes read columns {} to {} of {}", step.at[1], last, columns);
  const std::int64_t to = step.at[0];
  const auto past = to + static_cast<std::int64_t>(reads ? kWarpLanes * kReadBytes : end - begin);
  const std::uint32_t pattern = map.swizzle == Swizzle::none ? 16 : 128;  // nothing leaves the area
  if (begin % pattern != 0 || end > program.window || to < 0 || to % (reads ? 16 : pattern) != 0 ||
      past > static_cast<std::int64_t>(program.window))
    return fmt::format("a tile of {} bytes from {} on and {} bytes from {} on in a window of {}",
                       end - begin, begin, past - to, to, program.window);
  if (to < static_cast<std::int64_t>(end) && static_cast<std::int64_t>(begin) < past)
    return "what is written lies where the tile is still read; take other bytes";
  return "";
}

// The operands of a step, and of what it leaves, in the window. Warps do not wait for each other
// between the last wgmma and their part of C.
std::string unsound_product(const Program& program, const Step& step) {
  if (step.product >= program.products.size())
    return fmt::format("product {} of {}", step.product, program.products.size());
  const Wgmma& product = program.products[step.product];
  const std::uint64_t begin = step.offset, end = begin + product_bytes(product);
  if (begin % 16 != 0 || end > program.window)
    return fmt::format("C of {} bytes from {} on in a window of {}; take a multiple of 16",
                       product_bytes(product), begin, program.window);
  for (const GemmOperand which : {GemmOperand::a, GemmOperand::b}) {
    const std::uint64_t from = operand_of(product, which).offset;
    const std::uint64_t to = from + operand_bytes(product, which);
    if (to > program.window)
      return fmt::format("a tile of {} bytes from {} on in a window of {}", to - from, from,
                         program.window);
    if (from < end && begin < to) return "C where a tile lies that is still read; take other bytes";
  }
  return "";
}

// Behind `leave` one thread is left.
std::string unsound_end(const Program& program) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& leave = program.steps[i];
    if (leave.verb != Verb::leave) continue;
    if (ctas_of(program) != 1) return fmt::format("step {}: leave in a cluster of several CTAs", i);
    for (std::size_t j = i + 1; j < program.steps.size(); ++j) {
      const Step& step = program.steps[j];
      const bool alone = step.verb == Verb::store || step.verb == Verb::commit ||
                         (step.verb == Verb::wait_group_read && step.bytes == 0);
      if (!alone || step.thread != leave.thread)
        return fmt::format("step {} is none that thread {} takes behind leave", j, leave.thread);
    }
    return "";
  }
  return "";
}

std::string unsound_change(const Program& program, const Step& step) {
  if (step.scope > Scope::sys) return "an unknown scope";
  if (step.verb == Verb::replace && program.maps[step.map].from == kEncoded)
    return fmt::format("map {} is made of no other", step.map);
  if (place_of_map(program, step.map) == kEncoded)
    return fmt::format("map {} is not in global memory", step.map);
  return "";
}

// What is not replaced stays: PTX ISA 9.0, 9.7.9.26 tensormap.replace, has no field for the
// promotion.
std::string unsound_from(const Program& program, std::size_t number) {
  const Map& map = program.maps[number];
  if (map.from == kEncoded) return "";
  if (map.from != kZeroed && map.from >= number)
    return fmt::format("made of map {}; take an earlier one", map.from);
  const TensorMapSpec from = map.from == kZeroed ? TensorMapSpec{} : program.maps[map.from].spec;
  // tensormap.replace is for tiled maps alone.
  if (map.spec.bulk || from.bulk || map.spec.im2col || from.im2col)
    return "made of a bulk or im2col map, or one itself; take tiled ones";
  if (is_interleaved(map.spec) || is_interleaved(from))
    return "made of an interleaved map, or one itself; take others";
  if (map.spec.l2_promotion != from.l2_promotion)
    return "of another L2 promotion than what it is made of; take the same";
  for (std::uint32_t i = 0; has_size(map.spec) && i < map.spec.rank; ++i)
    if (map.spec.extent[i] > kLongestExtent)
      return fmt::format("extent {} in dimension {}; take up to {}", map.spec.extent[i], i,
                         kLongestExtent);
  return "";
}

std::string unsound_step(const Program& program, const Step& step) {
  if (static_cast<std::uint32_t>(step.verb) >= kVerbs) return "an unknown verb";
  if (step.ctas == 0 || (step.ctas & ~all_ctas(program)) != 0)
    return fmt::format("CTA mask {:#x} of {} CTAs", step.ctas, ctas_of(program));
  const VerbInfo& verb = info_of(step.verb);
  if (verb.barrier && step.barrier >= program.barriers)
    return fmt::format("barrier {} of {}", step.barrier, program.barriers);
  if (step.of != kOwnCta && step.of >= ctas_of(program))
    return fmt::format("a barrier of CTA {} of {}", step.of, ctas_of(program));
  const bool several = info_of(step.verb).takers == Takers::count;
  const bool at_once = step.verb == Verb::arrive_token || step.verb == Verb::pending_count;
  if ((several || at_once || step.verb == Verb::init) && step.count < 1) return "a count of 0";
  if (step.thread + (several ? step.count - 1 : 0) >= kProgramThreads)
    return fmt::format("thread {} and {} arrivals of {} threads", step.thread, step.count,
                       kProgramThreads);
  if (step.count > kTxCountMax || step.pending > kTxCountMax || step.stride > kTxCountMax ||
      step.most > kTxCountMax)
    return fmt::format("a count beyond {}", kTxCountMax);
  if (step.verb == Verb::cluster_sync && step.ctas != all_ctas(program))
    return "a cluster_sync that not all CTAs take";
  if (step.hint > CacheHint::evict_last) return "an unknown cache hint";
  if (static_cast<std::uint32_t>(step.reduction) >= kReductions) return "an unknown reduction";
  if (step.parity > kLastPhase) return fmt::format("parity {}", step.parity);
  if (step.ns > kLongestNs) return fmt::format("{} ns, above {}", step.ns, kLongestNs);
  if (verb.tx_bytes && step.bytes > kTxCountMax)
    return fmt::format("{} bytes, beyond what a tx-count holds ({})", step.bytes, kTxCountMax);
  if (verb.range && (step.offset % 16 != 0 || step.bytes % 16 != 0))
    return fmt::format("{} bytes from {} on; take multiples of 16", step.bytes, step.offset);
  if (verb.range && (std::uint64_t{step.offset} + step.bytes > program.window))
    return fmt::format("{} bytes from {} on in a window of {}", step.bytes, step.offset,
                       program.window);
  if (verb.map && step.map >= program.maps.size())
    return fmt::format("map {} of {}", step.map, program.maps.size());
  if (verb.groups && step.pending > kGroupsPending)
    return fmt::format("{} groups pending, above {}", step.pending, kGroupsPending);
  if (verb.word) return unsound_read(program, step);
  if (step.verb == Verb::wgmma) return unsound_product(program, step);
  if (step.verb == Verb::place_rows || step.verb == Verb::read_columns)
    return unsound_columns(program, step);
  if (step.type > DataType::tf32_ftz) return "an unknown type";
  if (step.verb == Verb::send) return unsound_send(program, step);
  if (step.verb == Verb::replace || step.verb == Verb::acquire)
    return unsound_change(program, step);
  if (step.verb == Verb::st_async || step.verb == Verb::red_async)
    return unsound_async(program, step);
  if (step.verb == Verb::add || step.verb == Verb::copy)
    if (std::string why = unsound_thread_work(program, step); !why.empty()) return why;
  return verb.box || verb.tile ? unsound_copy(program, step) : "";
}

std::string unsound_map(const Program& program, const Map& map) {
  const TensorMapSpec& spec = map.spec;
  if (spec.type > DataType::tf32_ftz || spec.interleave > Interleave::b32 ||
      spec.swizzle > Swizzle::b128 || spec.l2_promotion > L2Promotion::b256 ||
      spec.fill > Fill::nan)
    return "an unknown type, interleave, swizzle, promotion or fill";
  if (map.region >= program.regions.size())
    return fmt::format("region {} of {}", map.region, program.regions.size());
  if (spec.bulk && spec.im2col) return "a map that is bulk and im2col";
  if (is_interleaved(spec) && (spec.bulk || spec.im2col))
    return "an interleaved map that is bulk or im2col; take a tiled one";
  if (spec.bulk)
    if (std::string why = unsound_bulk(spec); !why.empty()) return why;
  if (!has_size(map.spec) || !program.regions[map.region].islands.empty()) return "";
  const std::uint64_t end = kGuardBytes + map.spec.base_offset + tensor_bytes(map.spec);
  if (end > program.regions[map.region].bytes)
    return fmt::format("a tensor that ends at byte {} of a region of {}", end,
                       program.regions[map.region].bytes);
  return "";
}

std::string unsound_islands(const Region& region) {
  std::uint64_t end = 0, bytes = 0;
  for (const Island& island : region.islands) {
    if (island.at % 16 != 0 || island.bytes % 16 != 0 || island.bytes == 0 || island.at < end ||
        island.at > kLastAddress || island.bytes > kDenseBytes)
      return fmt::format("an island of {} bytes at {}; take multiples of 16, ascending",
                         island.bytes, island.at);
    end = island.at + island.bytes;
    bytes += island.bytes;
  }
  if (!region.islands.empty() && bytes != region.bytes)
    return fmt::format("islands of {} bytes in a region of {}", bytes, region.bytes);
  if (!region.islands.empty() && region.source != MemorySource::mapped)
    return "islands of memory that is not mapped; take the source mapped";
  return "";
}

}  // namespace

Landing landing_of(const Program& program, const Step& step, std::uint32_t cta) {
  if (step.verb == Verb::load) {
    const TensorMapSpec& map = program.maps[step.map].spec;
    return {.ctas = destinations_of(step, cta),
            .begin = step.offset,
            .end = step.offset + tile_span(map),
            .credited = tile_bytes(map)};
  }
  const bool is_async = step.verb == Verb::st_async || step.verb == Verb::red_async;
  if (step.verb != Verb::send && !is_async) return {};
  const auto begin = static_cast<std::uint32_t>(step.at[0]);
  const std::uint32_t bytes = is_async ? async_bytes(step) : step.bytes;
  return {.ctas = static_cast<std::uint16_t>(1U << (step.of == kOwnCta ? cta : step.of)),
          .begin = begin,
          .end = begin + bytes,
          .credited = bytes * (step.verb == Verb::red_async ? step.count : 1)};
}

std::uint8_t place_of_map(const Program& program, std::uint8_t map) {
  const std::vector<Map>& maps = program.maps;
  if (maps[map].from == kEncoded &&
      std::none_of(maps.begin(), maps.end(), [&](const Map& other) { return other.from == map; }))
    return kEncoded;
  while (maps[map].from < map) map = maps[map].from;
  return map;
}

void keep_islands(Region& region, std::vector<Island> islands) {
  region.bytes = 0;
  for (const Island& island : islands) region.bytes += island.bytes;
  region.islands = std::move(islands);
}

std::string unsound(const Program& program) {
  if (ctas_of(program) == 0)
    return fmt::format("program: a cluster of {} x {} x {} CTAs; take 1 to {}", program.cluster[0],
                       program.cluster[1], program.cluster[2], kProgramCtas);
  if (program.barriers > kProgramBarriers)
    return fmt::format("program: {} barriers; take at most {}", program.barriers, kProgramBarriers);
  if (program.window % 16 != 0)
    return fmt::format("program: a window of {} bytes; take a multiple of 16", program.window);
  for (std::size_t i = 0; i < program.regions.size(); ++i)
    if (program.regions[i].bytes % 16 != 0 || program.regions[i].source > MemorySource::peer ||
        program.regions[i].element > DataType::tf32_ftz ||
        !can_hold(program.regions[i].element, program.regions[i].numbers))
      return fmt::format(
          "program: region {}: {} bytes; take a multiple of 16, a known source, a known type, and "
          "numbers that its elements cannot hold",
          i, program.regions[i].bytes);
  for (std::size_t i = 0; i < program.regions.size(); ++i)
    if (program.regions[i].source == MemorySource::edge && program.regions[i].bytes > kEdgeBytes)
      return fmt::format("program: region {}: {} bytes that end at an edge; take at most {}", i,
                         program.regions[i].bytes, kEdgeBytes);
  for (std::size_t i = 0; i < program.regions.size(); ++i)
    if (const std::string why = unsound_islands(program.regions[i]); !why.empty())
      return fmt::format("program: region {}: {}", i, why);
  for (std::size_t i = 0; i < program.maps.size(); ++i)
    for (const std::string& why : {unsound_map(program, program.maps[i]), unsound_from(program, i)})
      if (!why.empty()) return fmt::format("program: map {}: {}", i, why);
  if (program.products.size() > kProgramProducts)
    return fmt::format("program: {} products; take at most {}", program.products.size(),
                       kProgramProducts);
  for (std::size_t i = 0; i < program.products.size(); ++i)
    if (const std::string_view why = shape_refusal(program.products[i]); !why.empty())
      return fmt::format("program: product {}: {}", i, why);
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (const std::string why = unsound_step(program, program.steps[i]); !why.empty())
      return fmt::format("program: step {}: {}", i, why);
  if (const std::string why = unsound_end(program); !why.empty())
    return fmt::format("program: {}", why);
  return "";
}

std::string stop_note(const Program& program, std::uint32_t step, std::uint32_t cta) {
  const Step& stopping = program.steps[step];
  return stopping.verb == Verb::meter
             ? fmt::format("step {}: the meter of barrier {} of CTA {} did not settle", step,
                           stopping.barrier, cta)
             : fmt::format("step {}: the wait of CTA {} on barrier {} ended by its bound", step,
                           cta, stopping.barrier);
}

}  // namespace tidemark
