// Composes a program move by move. What each move may touch is kept in State, so that nothing is
// ever drawn that documents leave open.

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/ops/reduction.hpp"
#include "suite/case.hpp"
#include "suite/conformance/async.hpp"
#include "suite/conformance/load_store_bulk.hpp"
#include "suite/conformance/load_store_im2col.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

constexpr std::uint8_t kSource = 0, kTarget = 1;  // maps, and their regions
constexpr std::uint32_t kBoxes = 6;               // of the target, each stored to at most once
constexpr std::uint32_t kHighestBox = 6;          // rows along a dimension, so that rows stay quick
constexpr std::uint32_t kMostPixels = 60;
constexpr std::uint32_t kMostSnapshots = 4;
constexpr std::uint32_t kMostMoves = 12;
constexpr std::uint32_t kAsyncBytes = 64;  // behind the slots, that no copy of the async proxy uses
constexpr std::array<std::uint8_t, 16> kClusters = {1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 7, 8};

using Mask = std::uint16_t;  // of CTAs

// Loads that nobody has waited for yet.
struct Phase {
  Mask ctas = 0;  // whose barrier they complete on
  std::uint8_t barrier = 0;
  std::vector<std::uint32_t> slots;
  bool of_target = false;
};

// The stores of one thread of a CTA, by slot.
struct Groups {
  std::vector<std::uint32_t> open;
  std::vector<std::vector<std::uint32_t>> closed;  // whose slots are gone once they are read
};

// Tiles of another row and what threads do with them, behind the slots.
struct Guest {
  std::uint32_t offset = 0, bytes = 0;
  std::vector<Step> loads{}, work{};  // no work: there is no guest
};

// A warp reads columns of a tile, as it was loaded or in rows of all its groups.
TileRead random_read(std::uint64_t seed) {
  Draws draws(seed);
  const std::uint32_t rows = 8U << draws.below(3), row_bytes = 16U << draws.below(4);
  const DataType type = kTypeOfEachSize[draws.below(4)];
  TileRead read = atom_read(type, static_cast<Swizzle>(draws.below(4)), row_bytes, rows, 4);
  if (draws.below(2) == 0) read.placement = TilePlacement::unsplit;
  read.load.destination_offset = 128 * draws.below(8);
  const std::uint32_t columns = group_row_bytes(read.load.map) / kReadBytes * 4;
  read.first_column = draws.below(columns - kWarpLanes / rows + 1);
  return read;
}

class Composer {
 public:
  explicit Composer(std::uint64_t seed) : draws_(seed) {
    take_maps(seed);
    const std::uint32_t ctas = kClusters[draws_.below(kClusters.size())];
    slots_ = draws_.between(2, 3);
    slot_bytes_ = std::max(tile_span(source()), tile_span(target()));
    slot_bytes_ = (slot_bytes_ + 1023) / 1024 * 1024;
    program_.cluster = {ctas, 1, 1};
    shift_ = 128 * draws_.below(8);
    program_.window = 2 * kGuardBytes + shift_ + slots_ * slot_bytes_ + kAsyncBytes;
    program_.barriers = draws_.between(1, 3);
    program_.what = fmt::format("drawn from {:#x}", seed);
    groups_.resize(ctas);
    threads_[0] = draws_.below(kProgramThreads);
    threads_[1] = (threads_[0] + 1 + draws_.below(kProgramThreads - 1)) % kProgramThreads;
    if (draws_.below(8) == 0) invite(program_of(random_consumed(splitmix64(seed))));
    if (guest_.work.empty() && draws_.below(8) == 0)
      invite(program_of(random_read(splitmix64(seed))));
  }

  Program compose() {
    for (std::uint32_t b = 0; b < program_.barriers; ++b) init(static_cast<std::uint8_t>(b));
    sync();
    for (std::uint32_t moves = draws_.between(3, kMostMoves); moves > 0; --moves) move();
    while (!phases_.empty()) wait(0);
    for (std::uint32_t cta = 0; cta < groups_.size(); ++cta)
      for (std::uint32_t i = 0; i < threads_.size(); ++i) finish_stores(cta, i);
    if (draws_.below(8) == 0) mismatch();
    return std::move(program_);
  }

 private:
  const TensorMapSpec& source() const { return program_.maps[kSource].spec; }
  const TensorMapSpec& target() const { return program_.maps[kTarget].spec; }
  std::uint32_t ctas() const { return ctas_of(program_); }
  Mask all() const { return all_ctas(program_); }
  std::uint32_t offset_of(std::uint32_t slot) const {
    return kGuardBytes + shift_ + slot * slot_bytes_;
  }

  void take_maps(std::uint64_t seed) {
    TileLoad load = seed % 4 == 0   ? random_bulk_load(seed)
                    : seed % 5 == 0 ? random_im2col(seed)
                                    : random_tile(seed);
    const std::uint64_t other = splitmix64(seed);
    TileStore store = seed % 3 == 0   ? random_bulk_store(other)
                      : seed % 7 == 1 ? random_im2col_store(other)
                                      : random_store(other);
    for (std::uint32_t i = 1; i < kMaxRank; ++i) {
      load.map.box[i] = std::min(load.map.box[i], load.map.im2col ? kMostPixels : kHighestBox);
      store.map.box[i] = std::min(store.map.box[i], store.map.im2col ? kMostPixels : kHighestBox);
    }
    // One box behind another along the outermost dimension.
    const std::uint32_t outermost = store.map.rank - 1;
    outermost_step_ = store.map.box[outermost];
    if (store.map.im2col) {  // from the first pixel of an image on
      std::uint32_t pixels = 1;
      for (std::uint32_t k = 0; k < spatial_of(store.map); ++k)
        pixels *= pixels_along(store.map, k);
      store.map.box[1] = std::min(store.map.box[1], 2 * pixels);
      outermost_step_ = store.map.box[1] > pixels ? 2 : 1;
    }
    store.map.extent[outermost] = std::uint64_t{kBoxes} * outermost_step_;
    program_.regions = {region_of(load), program_of(store).regions[0]};
    program_.regions[kTarget].bytes = allocation_bytes(store.map, store.destination);
    program_.maps = {{.spec = load.map, .region = kSource}, {.spec = store.map, .region = kTarget}};
  }

  // What the guest has comes behind what is there; its barrier will be one of ours.
  void invite(const Program& guest) {
    const auto region = static_cast<std::uint8_t>(program_.regions.size());
    const auto map = static_cast<std::uint8_t>(program_.maps.size());
    guest_ = {.offset = (program_.window + 1023) / 1024 * 1024, .bytes = guest.window};
    program_.window = guest_.offset + guest_.bytes;
    program_.regions.insert(program_.regions.end(), guest.regions.begin(), guest.regions.end());
    for (const Map& each : guest.maps)
      program_.maps.push_back({.spec = each.spec, .region = region});
    program_.products = guest.products;
    for (Wgmma& product : program_.products) {
      product.a.offset += guest_.offset;
      product.b.offset += guest_.offset;
    }
    for (Step step : guest.steps) {
      const bool moves = step.verb == Verb::place_rows || step.verb == Verb::read_columns;
      step.map += map;
      step.offset += guest_.offset;
      if (moves) step.at[0] += static_cast<std::int32_t>(guest_.offset);
      if (step.verb == Verb::load) guest_.loads.push_back(step);
      if (moves || step.verb == Verb::wgmma) guest_.work.push_back(step);
    }
  }

  void add(Step step) { program_.steps.push_back(step); }
  bool coin() { return draws_.below(2) == 0; }
  Mask some_ctas() { return static_cast<Mask>(draws_.between(1, all())); }
  std::uint8_t some_barrier() { return static_cast<std::uint8_t>(draws_.below(program_.barriers)); }
  std::uint16_t some_thread() { return static_cast<std::uint16_t>(draws_.below(kProgramThreads)); }

  void sync() {
    if (ctas() > 1) add({.verb = Verb::cluster_sync, .ctas = all()});
  }

  void init(std::uint8_t barrier) {
    constexpr std::array<std::uint32_t, 5> kCounts = {1, 1, 2, 33, 256};
    counts_[barrier] = kCounts[draws_.below(kCounts.size())];
    add({.verb = Verb::init, .ctas = all(), .barrier = barrier, .count = counts_[barrier]});
  }

  void move() {
    switch (draws_.below(15)) {
      case 0:
      case 1:
      case 2:
        return load();
      case 3:
      case 4:
        return store();
      case 5:
        return phases_.empty() ? arrivals()
                               : wait(draws_.below(static_cast<std::uint32_t>(phases_.size())));
      case 6:
        return work();
      case 7:
        return wait_for_group();
      case 8:
        return coin() ? new_life() : arrivals();
      case 9:
        return send();
      case 10:
        return prefetch();
      case 11:
        return make_map();
      case 12:
        return write_async();
      case 13:
        return guest_.work.empty() ? look() : visit();
      default:
        return look();
    }
  }

  // Whether nothing in flight reads or writes the slot in any of these CTAs.
  bool is_free(std::uint32_t slot, Mask among) const {
    for (const Phase& phase : phases_)
      if ((phase.ctas & among) != 0 && holds(phase.slots, slot)) return false;
    for (std::uint32_t cta = 0; cta < ctas(); ++cta)
      for (const Groups& groups : groups_[cta])
        if ((among >> cta & 1U) != 0 && is_stored(groups, slot)) return false;
    return true;
  }
  static bool holds(const std::vector<std::uint32_t>& slots, std::uint32_t slot) {
    return std::find(slots.begin(), slots.end(), slot) != slots.end();
  }
  static bool is_stored(const Groups& groups, std::uint32_t slot) {
    return holds(groups.open, slot) ||
           std::any_of(groups.closed.begin(), groups.closed.end(),
                       [&](const auto& group) { return holds(group, slot); });
  }
  bool is_idle(std::uint8_t barrier) const {
    return std::none_of(phases_.begin(), phases_.end(),
                        [&](const Phase& phase) { return phase.barrier == barrier; });
  }

  std::array<std::int32_t, kMaxRank> some_place() {
    std::array<std::int32_t, kMaxRank> at{};
    for (std::uint32_t i = 0; i < source().rank; ++i) {
      const std::uint32_t step = i == 0 ? elements_in(16, source().type) : 1;
      if (source().bulk) {  // which has no bounds
        at[i] = static_cast<std::int32_t>(
            step *
            draws_.below(static_cast<std::uint32_t>(source().extent[i] - source().box[i]) / step +
                         1));
        continue;
      }
      const auto reach = static_cast<std::uint32_t>(source().extent[i]) + source().box[i];
      at[i] = static_cast<std::int32_t>(draws_.below(reach / step + 1) * step) -
              static_cast<std::int32_t>(source().box[i]);
    }
    return at;
  }
  // Any box of the source, or any pixels of it.
  Step of_source(Step step) {
    TileLoad load{.map = source(), .payload = {}};
    if (source().im2col)
      place_pixels(load, draws_);
    else
      load.at = some_place();
    step.at = load.at;
    step.im2col_offsets = load.im2col_offsets;
    return step;
  }
  std::array<std::int32_t, kMaxRank> box_of_target(std::uint32_t box) const {
    std::array<std::int32_t, kMaxRank> at{};
    for (std::uint32_t k = 0; target().im2col && k < spatial_of(target()); ++k)
      at[k + 1] = target().lower_corner[k];
    at[target().rank - 1] = static_cast<std::int32_t>(box * outermost_step_);
    return at;
  }

  // All arrivals of the phase but one, by threads of the CTA itself or of another one.
  void arrive_but_one(std::uint8_t barrier, Mask among, bool from_others) {
    const std::uint32_t count = counts_[barrier] - 1;
    if (count == 0) return;
    if (!from_others) return arrive_ourselves(barrier, among, count);
    for (std::uint32_t cta = 0; cta < ctas(); ++cta)
      if ((among >> cta & 1U) != 0)
        add({.verb = Verb::arrive,
             .ctas = static_cast<Mask>(1U << draws_.below(ctas())),
             .barrier = barrier,
             .of = static_cast<std::uint8_t>(cta),
             .count = count});
  }

  // Each by a thread, or all by one instruction, or some by one that counts what is pending.
  void arrive_ourselves(std::uint8_t barrier, Mask among, std::uint32_t count) {
    Step step{.verb = Verb::arrive, .ctas = among, .thread = 1, .barrier = barrier, .count = count};
    if (draws_.below(4) != 0) return add(step);
    step.thread = some_thread();
    step.verb = Verb::pending_count;
    step.count = draws_.between(1, count);
    add(step);
    if (step.count == count) return;
    step.verb = Verb::arrive_token;
    step.count = count - step.count;
    add(step);
  }

  void load() {
    const std::uint8_t barrier = some_barrier();
    // What was stored is loaded by the thread that saw it complete. No document says how tf32
    // rounds it, and a map of tf32 loads from its own source only numbers that need no rounding.
    const bool converts = target().type >= DataType::f32_ftz;
    const bool of_target = ctas() == 1 && coin() && stores_done() && !converts;
    const bool shared = ctas() > 1 && coin();
    Phase phase{.ctas = some_ctas(), .barrier = barrier, .slots = {}, .of_target = of_target};
    for (std::uint32_t slot = draws_.below(2); slot < slots_ && phase.slots.size() < 2; ++slot)
      if (is_free(slot, phase.ctas)) phase.slots.push_back(slot);
    if (phase.slots.empty() || !is_idle(barrier)) return;
    // Until here no CTA may be behind: in its window, or in a phase that an arrival would end.
    if (shared) sync();
    const std::uint8_t map = of_target ? kTarget : source_map();
    std::vector<Step> loads;
    for (const std::uint32_t slot : phase.slots) {
      Step load{.verb = Verb::load,
                .ctas = shared ? static_cast<Mask>(1U << draws_.below(ctas())) : phase.ctas,
                .thread = of_target ? last_storer_ : some_thread(),
                .barrier = barrier,
                .map = map,
                .hint = static_cast<CacheHint>(draws_.below(4)),
                .mask = shared ? phase.ctas : Mask{0},
                .offset = offset_of(slot)};
      if (of_target) load.at = box_of_target(draws_.below(kBoxes));
      loads.push_back(of_target ? load : of_source(load));
    }
    arm(phase, loads, shared && coin());
    phases_.push_back(std::move(phase));
    if (coin()) wait(phases_.size() - 1);
  }

  // The one that was encoded, or the one that the device made.
  std::uint8_t source_map() { return made_ != kSource && coin() ? made_ : kSource; }

  void make_map() {
    if (source().bulk || source().im2col || made_ != kSource) return;
    made_ = static_cast<std::uint8_t>(program_.maps.size());
    program_.maps.push_back({.spec = source(), .region = kSource, .from = kZeroed});
    program_.maps[made_].spec.l2_promotion = L2Promotion::none;
    Step step{.verb = Verb::replace,
              .ctas = static_cast<Mask>(1U << draws_.below(ctas())),
              .thread = some_thread(),
              .map = made_,
              .scope = static_cast<Scope>(ctas() > 1 ? draws_.between(1, 3) : draws_.below(4))};
    add(step);
    sync();
    step.verb = Verb::acquire;
    step.ctas = all();
    step.thread = some_thread();
    add(step);
  }

  void prefetch() {
    const bool of_target = coin();
    Step step{.verb = Verb::prefetch,
              .ctas = some_ctas(),
              .thread = some_thread(),
              .map = of_target ? kTarget : source_map()};
    if (of_target) step.at = box_of_target(draws_.below(kBoxes));
    add(of_target ? step : of_source(step));
  }

  // A slot of one CTA to a slot of another, or another one of its own. Until it is there, and known
  // to be, nothing else happens.
  void send() {
    const std::uint32_t from = draws_.below(ctas()), to = draws_.below(ctas());
    const std::uint32_t slot = draws_.below(slots_), place = draws_.below(slots_);
    const std::uint8_t barrier = some_barrier();
    const auto sender = static_cast<Mask>(1U << from);
    const Phase phase{.ctas = static_cast<Mask>(1U << to), .barrier = barrier, .slots = {place}};
    const bool unknown = source().fill == Fill::nan;  // which NaN
    if (unknown || (from == to && slot == place) || !is_idle(barrier) || !is_free(slot, sender) ||
        !is_free(place, phase.ctas))
      return;
    sync();
    const std::uint32_t bytes = 16 * draws_.between(1, slot_bytes_ / 16);
    Step step{.verb = Verb::send,
              .ctas = sender,
              .thread = some_thread(),
              .barrier = barrier,
              .of = static_cast<std::uint8_t>(to),
              .offset = offset_of(slot),
              .bytes = bytes,
              .at = {static_cast<std::int32_t>(offset_of(place) + slot_bytes_ - bytes)}};
    if (from != to && coin()) take_reduction(step);
    arm(phase, {step}, false);
    phases_.push_back(phase);
    wait(phases_.size() - 1);
    sync();
  }

  // Everything else has landed: where the descriptors of a product lead, nothing may.
  void visit() {
    while (!phases_.empty()) wait(0);
    const Phase phase{.ctas = some_ctas(), .barrier = some_barrier(), .slots = {}};
    add({.verb = Verb::poison, .ctas = phase.ctas, .offset = guest_.offset, .bytes = guest_.bytes});
    std::vector<Step> loads = guest_.loads;
    for (Step& load : loads) {
      load.ctas = phase.ctas;
      load.thread = some_thread();
      load.barrier = phase.barrier;
    }
    arm(phase, loads, false);
    phases_.push_back(phase);
    wait(phases_.size() - 1);
    for (Step work : guest_.work) {
      work.ctas = phase.ctas;
      work.thread = some_thread();
      add(work);
    }
  }

  // A part of the window by registers of one CTA or, where they only add up, of several.
  void write_async() {
    const std::uint8_t barrier = some_barrier();
    const std::uint32_t to = draws_.below(ctas());
    const Phase phase{.ctas = static_cast<Mask>(1U << to), .barrier = barrier, .slots = {}};
    if (ctas() == 1 || !is_idle(barrier)) return;
    const AsyncWidth& width =
        kAsyncWidths[draws_.below(static_cast<std::uint32_t>(std::size(kAsyncWidths)))];
    Step step{.verb = Verb::st_async,
              .ctas = static_cast<Mask>(1U << draws_.below(ctas())),
              .thread = some_thread(),
              .barrier = barrier,
              .of = static_cast<std::uint8_t>(to),
              .type = width.type,
              .bytes = width.bytes,
              .word = splitmix64(program_.steps.size())};
    if (coin()) {
      step.verb = Verb::red_async;
      take_reduction(step);
      const auto others = static_cast<Mask>(all() & ~phase.ctas);
      step.ctas = static_cast<Mask>(some_ctas() & others);
      if (step.ctas == 0 || !commutes(step.reduction, step.type))
        step.ctas = static_cast<Mask>(1U << std::countr_zero(others));
      step.count = std::min(draws_.between(1, 64), kProgramThreads - step.thread);
    }
    const std::uint32_t bytes = async_bytes(step), places = kAsyncBytes / bytes;
    step.at[0] = static_cast<std::int32_t>(offset_of(slots_) + bytes * draws_.below(places));
    sync();
    arm(phase, {step}, false);
    phases_.push_back(phase);
    wait(phases_.size() - 1);
    sync();
  }

  void take_reduction(Step& step) {
    const std::vector<SharedReduction> all = shared_reductions();
    const SharedReduction& how = all[draws_.below(static_cast<std::uint32_t>(all.size()))];
    step.reduction = how.reduction;
    step.type = how.type;
  }

  // By each CTA on its own barrier, or by others.
  void on_barriers(Step step, bool by_others) {
    const Mask among = step.ctas;
    if (!by_others) return add(step);
    for (std::uint32_t cta = 0; cta < ctas(); ++cta) {
      step.ctas = static_cast<Mask>(1U << draws_.below(ctas()));
      step.of = static_cast<std::uint8_t>(cta);
      if ((among >> cta & 1U) != 0) add(step);
    }
  }

  // Bytes that the copies bring to each CTA to which they go.
  std::uint32_t bytes_of(const std::vector<Step>& copies) const {
    std::uint32_t bytes = 0;
    for (const Step& copy : copies) {
      const bool many = copy.verb == Verb::red_async;
      const auto from = static_cast<std::uint32_t>(std::countr_zero(copy.ctas));
      bytes += landing_of(program_, copy, from).credited *
               (many ? static_cast<std::uint32_t>(std::popcount(copy.ctas)) : 1U);
    }
    return bytes;
  }

  // Expects the bytes of `loads` and issues them, in one of the orders that come to the same.
  void arm(const Phase& phase, const std::vector<Step>& loads, bool from_others) {
    const std::uint32_t bytes = bytes_of(loads);
    const Step last{.verb = Verb::arrive_expect_tx,
                    .ctas = phase.ctas,
                    .thread = some_thread(),
                    .barrier = phase.barrier,
                    .bytes = bytes};
    Step part = last, rest = last;
    part.verb = Verb::expect_tx;
    part.bytes = draws_.below(bytes + 1);
    rest.bytes = bytes - part.bytes;
    const bool split = coin(), issued_first = coin(), by_others = from_others && coin();
    if (split) on_barriers(part, by_others);
    if (split && by_others) sync();  // else the phase may end before it
    if (issued_first) program_.steps.insert(program_.steps.end(), loads.begin(), loads.end());
    if (!by_others && coin())
      add({.verb = Verb::test,
           .ctas = phase.ctas,
           .barrier = phase.barrier,
           .parity = kCurrentPhase});
    arrive_but_one(phase.barrier, phase.ctas, from_others);
    on_barriers(split ? rest : last, by_others);
    if (!issued_first) program_.steps.insert(program_.steps.end(), loads.begin(), loads.end());
  }

  void wait(std::size_t which) {
    const Phase phase = phases_[which];
    phases_.erase(phases_.begin() + static_cast<std::ptrdiff_t>(which));
    add({.verb = Verb::wait,
         .ctas = phase.ctas,
         .barrier = phase.barrier,
         .parity = kCurrentPhase,
         .stops = true,
         .ns = kMustCompleteNs});
    if (snapshots_ < kMostSnapshots && coin()) {
      ++snapshots_;
      add({.verb = Verb::snapshot, .ctas = phase.ctas});
    }
  }

  // A phase without copies: arrivals, one of them for good, and bytes that are taken off by hand.
  void arrivals() {
    const std::uint8_t barrier = some_barrier();
    if (!is_idle(barrier)) return;
    const Mask among = some_ctas();
    const bool from_others = ctas() > 1 && coin();
    if (from_others) sync();
    const std::uint32_t bytes = coin() ? draws_.below(70'000) : 0;
    const bool taken = bytes > 0 && coin();
    const Step by_hand{
        .verb = Verb::complete_tx, .ctas = among, .barrier = barrier, .bytes = bytes};
    if (taken) on_barriers(by_hand, from_others);
    if (among == all() && counts_[barrier] > 2 && coin()) {
      add({.verb = Verb::arrive_drop, .ctas = among, .barrier = barrier});
      --counts_[barrier];
    }
    arrive_but_one(barrier, among, from_others);
    add({.verb = Verb::test, .ctas = among, .barrier = barrier, .parity = kCurrentPhase});
    add({.verb = Verb::arrive_expect_tx,
         .ctas = among,
         .thread = some_thread(),
         .barrier = barrier,
         .bytes = bytes});
    if (bytes > 0 && !taken) on_barriers(by_hand, from_others);
    phases_.push_back({.ctas = among, .barrier = barrier, .slots = {}});
    wait(phases_.size() - 1);
  }

  // The barrier is plain memory for a while, and another one then.
  void new_life() {
    const std::uint8_t barrier = some_barrier();
    if (!phases_.empty() || !stores_done()) return;  // the checks poison the window
    sync();
    add({.verb = Verb::inval, .ctas = all(), .barrier = barrier});
    add({.verb = Verb::write,
         .ctas = all(),
         .thread = some_thread(),
         .barrier = barrier,
         .word = splitmix64(program_.steps.size())});
    add({.verb = Verb::read, .ctas = all(), .thread = some_thread(), .barrier = barrier});
    init(barrier);
    sync();
  }

  // The last phase of a barrier, with other bytes than come, or an arrival short. No CTA waits for
  // it; the checks behind the program count what is left.
  void mismatch() {
    const Mask among = some_ctas();
    const bool shared = ctas() > 1 && coin();
    const std::uint8_t barrier = some_barrier();
    const std::uint32_t bytes = tile_bytes(source());
    const std::array<std::uint32_t, 5> amounts = {0, bytes, draws_.below(bytes),
                                                  bytes + 1 + draws_.below(bytes), kTxCountMax};
    sync();
    arrive_but_one(barrier, among, false);
    add({.verb = coin() ? Verb::arrive_expect_tx : Verb::expect_tx,
         .ctas = among,
         .thread = some_thread(),
         .barrier = barrier,
         .bytes = amounts[draws_.below(amounts.size())]});
    sync();
    add(of_source({.verb = Verb::load,
                   .ctas = shared ? static_cast<Mask>(1U << draws_.below(ctas())) : among,
                   .thread = some_thread(),
                   .barrier = barrier,
                   .map = kSource,
                   .mask = shared ? among : Mask{0},
                   .offset = offset_of(draws_.below(slots_))}));
  }

  // What threads do to a slot by ordinary accesses.
  void work() {
    const Mask among = some_ctas();
    const std::uint32_t slot = draws_.below(slots_);
    if (!is_free(slot, among)) return;
    const bool counts = source().type == DataType::u32 || source().type == DataType::s32;
    const bool copies = source().type < DataType::f32_ftz && source().fill == Fill::zero;
    const bool dense = tile_span(source()) == tile_bytes(source()) && !source().im2col;
    Step step{.verb = draws_.below(4) == 0 ? Verb::poison : Verb::fill,
              .ctas = among,
              .map = kSource,
              .offset = offset_of(slot),
              .bytes = slot_bytes_};
    if (dense && copies && coin()) {
      step = {.verb = Verb::copy,
              .ctas = among,
              .map = kSource,
              .offset = offset_of(slot),
              .at = some_place()};
    } else if (dense && counts && coin()) {
      step = {.verb = Verb::add,
              .ctas = among,
              .map = kSource,
              .count = draws_.between(1, 9),
              .offset = offset_of(slot),
              .stride = draws_.below(5)};
    }
    add(step);
  }

  void store() {
    const std::uint32_t cta = draws_.below(ctas()), i = draws_.below(2);
    const auto mask = static_cast<Mask>(1U << cta);
    const std::uint32_t slot = draws_.below(slots_);
    const bool flying = std::any_of(phases_.begin(), phases_.end(), [&](const Phase& phase) {
      return phase.of_target || ((phase.ctas & mask) != 0 && holds(phase.slots, slot));
    });
    const bool unknown = source().fill == Fill::nan;  // which NaN
    if (flying || unknown || stored_ == kBoxes) return;
    const auto reduction = static_cast<Reduction>(draws_.below(kReductions));
    const bool whole = is_floating(target().type) || !reduces(reduction, target().type);
    last_storer_ = static_cast<std::uint16_t>(threads_[i]);
    add({.verb = Verb::store,
         .ctas = mask,
         .thread = last_storer_,
         .map = kTarget,
         .hint = whole ? static_cast<CacheHint>(draws_.below(4)) : CacheHint::none,
         .reduction = whole ? Reduction::none : reduction,
         .offset = offset_of(slot),
         .at = box_of_target(stored_++)});
    Groups& groups = groups_[cta][i];
    groups.open.push_back(slot);
    if (coin()) commit(cta, i);
  }

  void commit(std::uint32_t cta, std::uint32_t i) {
    Groups& groups = groups_[cta][i];
    add({.verb = Verb::commit,
         .ctas = static_cast<Mask>(1U << cta),
         .thread = static_cast<std::uint16_t>(threads_[i])});
    groups.closed.push_back(std::exchange(groups.open, {}));
  }

  void wait_for_group() {
    const std::uint32_t cta = draws_.below(ctas()), i = draws_.below(2);
    if (coin()) commit(cta, i);  // of nothing, too
    const auto closed = static_cast<std::uint32_t>(groups_[cta][i].closed.size());
    const std::uint32_t pending = draws_.below(closed + 1);
    return draws_.below(3) == 0 ? wait_for_reads(cta, i, pending)
                                : wait_for_groups(cta, i, pending);
  }

  // Of all groups but the `pending` youngest. A slot that no store reads any more is overwritten.
  void wait_for_reads(std::uint32_t cta, std::uint32_t i, std::uint32_t pending) {
    auto& closed = groups_[cta][i].closed;
    for (std::size_t k = 0; k + pending < closed.size(); ++k) closed[k].clear();
    const auto mask = static_cast<Mask>(1U << cta);
    const std::uint32_t slot = draws_.below(slots_);
    add({.verb = Verb::wait_group_read,
         .ctas = mask,
         .thread = static_cast<std::uint16_t>(threads_[i]),
         .map = kSource,
         .pending = pending,
         .offset = offset_of(slot),
         .bytes = is_free(slot, mask) ? slot_bytes_ : 0});
  }

  // All but the `pending` youngest. What the wait of the stores made sure of is read.
  void wait_for_groups(std::uint32_t cta, std::uint32_t i, std::uint32_t pending) {
    const std::uint64_t words = program_.regions[kTarget].bytes / 8;
    add({.verb = Verb::wait_group,
         .ctas = static_cast<Mask>(1U << cta),
         .thread = static_cast<std::uint16_t>(threads_[i]),
         .region = kTarget,
         .pending = pending,
         .word = 8 * draws_.below(static_cast<std::uint32_t>(words))});
    auto& closed = groups_[cta][i].closed;
    if (closed.size() > pending)
      closed.erase(closed.begin(), closed.end() - static_cast<std::ptrdiff_t>(pending));
  }

  void finish_stores(std::uint32_t cta, std::uint32_t i) {
    if (!groups_[cta][i].open.empty()) commit(cta, i);
    if (!groups_[cta][i].closed.empty()) wait_for_groups(cta, i, 0);
  }

  bool stores_done() const {
    return std::all_of(groups_.begin(), groups_.end(), [](const auto& of_cta) {
      return std::all_of(of_cta.begin(), of_cta.end(), [](const Groups& groups) {
        return groups.open.empty() && groups.closed.empty();
      });
    });
  }

  void look() {
    if (coin())
      return add({.verb = Verb::delay,
                  .ctas = some_ctas(),
                  .thread = some_thread(),
                  .ns = coin() ? 500U : kLandNs});
    if (draws_.below(4) == 0)
      return add({.verb = Verb::missing,
                  .ctas = some_ctas(),
                  .offset = offset_of(draws_.below(slots_)),
                  .bytes = slot_bytes_});
    const std::uint64_t words = program_.regions[kSource].bytes / 8;
    add({.verb = Verb::look,
         .ctas = some_ctas(),
         .thread = some_thread(),
         .region = kSource,
         .word = 8 * draws_.below(static_cast<std::uint32_t>(words))});
  }

  Draws draws_;
  Program program_;
  std::uint32_t slots_ = 0, slot_bytes_ = 0, shift_ = 0;  // bytes
  std::uint32_t outermost_step_ = 0;       // of the target, from one box that is stored to the next
  std::array<std::uint32_t, 3> counts_{};  // arrivals of each barrier
  std::vector<Phase> phases_;
  std::vector<std::array<Groups, 2>> groups_;  // of each CTA, by index into threads_
  std::array<std::uint32_t, 2> threads_{};
  Guest guest_;
  std::uint8_t made_ = kSource;  // the source's map, made of zeros; kSource: not yet
  std::uint16_t last_storer_ = 0;
  std::uint32_t stored_ = 0, snapshots_ = 0;
};

}  // namespace

Program random_program(std::uint64_t seed) { return Composer(seed).compose(); }

namespace {

// Programs drawn at random: what single families leave apart meets here. More of them at the higher
// levels; `run --level soak --seed S` draws others each time.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {32, 2000, 20000}, random_program);
}

const Register kRandom{{
    .name = "program.random",
    .claim = "loads, stores, reductions, barriers and accesses by threads leave what the documents "
             "say of each, in whatever order they meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5 cp.async.bulk.tensor, 9.7.13.15 mbarrier",
    .rows = random_rows,
}};

}  // namespace
}  // namespace tidemark
