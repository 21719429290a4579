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
constexpr std::uint8_t kMade = 2;                 // the source's map, made of zeros
constexpr std::uint32_t kBoxes = 6;               // of the target, each stored to at most once
constexpr std::uint32_t kHighestBox = 6;          // rows along a dimension, so that rows stay quick
constexpr std::uint32_t kMostPixels = 60;
constexpr std::uint32_t kMostSnapshots = 4;
constexpr std::uint32_t kMostMoves = 12;
constexpr std::uint32_t kAsyncBytes = 64;  // behind the slots, that no copy of the async proxy uses

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
  std::vector<std::vector<std::uint32_t>> closed;
};

class Composer {
 public:
  explicit Composer(std::uint64_t seed) : draws_(seed) {
    take_maps(seed);
    const std::uint32_t ctas = 1U << draws_.below(3);
    slots_ = draws_.between(2, 3);
    slot_bytes_ = std::max(tile_span(source()), tile_span(target()));
    slot_bytes_ = (slot_bytes_ + 1023) / 1024 * 1024;
    program_.cluster = {ctas, 1, 1};
    program_.window = 2 * kGuardBytes + slots_ * slot_bytes_ + kAsyncBytes;
    program_.barriers = draws_.between(1, 3);
    program_.what = fmt::format("drawn from {:#x}", seed);
    groups_.resize(ctas);
    threads_[0] = draws_.below(kProgramThreads);
    threads_[1] = (threads_[0] + 1 + draws_.below(kProgramThreads - 1)) % kProgramThreads;
  }

  Program compose() {
    for (std::uint32_t b = 0; b < program_.barriers; ++b) init(static_cast<std::uint8_t>(b));
    sync();
    for (std::uint32_t moves = draws_.between(3, kMostMoves); moves > 0; --moves) move();
    while (!phases_.empty()) wait(0);
    for (std::uint32_t cta = 0; cta < groups_.size(); ++cta)
      for (std::uint32_t i = 0; i < threads_.size(); ++i) finish_stores(cta, i);
    return std::move(program_);
  }

 private:
  const TensorMapSpec& source() const { return program_.maps[kSource].spec; }
  const TensorMapSpec& target() const { return program_.maps[kTarget].spec; }
  std::uint32_t ctas() const { return ctas_of(program_); }
  Mask all() const { return all_ctas(program_); }
  std::uint32_t offset_of(std::uint32_t slot) const { return kGuardBytes + slot * slot_bytes_; }

  void take_maps(std::uint64_t seed) {
    TileLoad load = seed % 4 == 0   ? random_bulk_load(seed)
                    : seed % 5 == 0 ? random_im2col(seed)
                                    : random_tile(seed);
    TileStore store =
        seed % 3 == 0 ? random_bulk_store(splitmix64(seed)) : random_store(splitmix64(seed));
    for (std::uint32_t i = 1; i < kMaxRank; ++i) {
      load.map.box[i] = std::min(load.map.box[i], load.map.im2col ? kMostPixels : kHighestBox);
      store.map.box[i] = std::min(store.map.box[i], kHighestBox);
    }
    // One box behind another along the outermost dimension.
    const std::uint32_t outermost = store.map.rank - 1;
    store.map.extent[outermost] = std::uint64_t{kBoxes} * store.map.box[outermost];
    program_.regions = {region_of(load), program_of(store).regions[0]};
    program_.regions[kTarget].bytes = allocation_bytes(store.map, store.destination);
    program_.maps = {{.spec = load.map, .region = kSource}, {.spec = store.map, .region = kTarget}};
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
    switch (draws_.below(14)) {
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
    at[target().rank - 1] = static_cast<std::int32_t>(box * target().box[target().rank - 1]);
    return at;
  }

  // All arrivals of the phase but one, by threads of the CTA itself or of another one.
  void arrive_but_one(std::uint8_t barrier, Mask among, bool from_others) {
    const std::uint32_t count = counts_[barrier] - 1;
    if (count == 0) return;
    if (!from_others)
      return add(
          {.verb = Verb::arrive, .ctas = among, .thread = 1, .barrier = barrier, .count = count});
    for (std::uint32_t cta = 0; cta < ctas(); ++cta)
      if ((among >> cta & 1U) != 0)
        add({.verb = Verb::arrive,
             .ctas = static_cast<Mask>(1U << draws_.below(ctas())),
             .barrier = barrier,
             .of = static_cast<std::uint8_t>(cta),
             .count = count});
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
    arm(phase, loads, tile_bytes(program_.maps[map].spec), shared && coin());
    phases_.push_back(std::move(phase));
    if (coin()) wait(phases_.size() - 1);
  }

  // The one that was encoded, or the one that the device made.
  std::uint8_t source_map() { return program_.maps.size() > kMade && coin() ? kMade : kSource; }

  void make_map() {
    if (source().bulk || source().im2col || program_.maps.size() > kMade) return;
    program_.maps.push_back({.spec = source(), .region = kSource, .from = kZeroed});
    program_.maps[kMade].spec.l2_promotion = L2Promotion::none;
    Step step{.verb = Verb::replace,
              .ctas = static_cast<Mask>(1U << draws_.below(ctas())),
              .thread = some_thread(),
              .map = kMade,
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
    arm(phase, {step}, bytes, false);
    phases_.push_back(phase);
    wait(phases_.size() - 1);
    sync();
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
    const auto writers = step.count * static_cast<std::uint32_t>(std::popcount(step.ctas));
    arm(phase, {step}, bytes * writers, false);
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

  // Expects the bytes of `loads` and issues them, in one of the orders that come to the same.
  void arm(const Phase& phase, const std::vector<Step>& loads, std::uint32_t box_bytes,
           bool from_others) {
    const auto bytes = static_cast<std::uint32_t>(loads.size() * box_bytes);
    const Step last{.verb = Verb::arrive_expect_tx,
                    .ctas = phase.ctas,
                    .thread = some_thread(),
                    .barrier = phase.barrier,
                    .bytes = bytes};
    Step part = last, rest = last;
    part.verb = Verb::expect_tx;
    part.bytes = draws_.below(bytes + 1);
    rest.bytes = bytes - part.bytes;
    const bool split = coin(), issued_first = coin();
    if (split) add(part);
    if (issued_first) program_.steps.insert(program_.steps.end(), loads.begin(), loads.end());
    if (coin())
      add({.verb = Verb::test,
           .ctas = phase.ctas,
           .barrier = phase.barrier,
           .parity = kCurrentPhase});
    arrive_but_one(phase.barrier, phase.ctas, from_others);
    add(split ? rest : last);
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
    if (bytes > 0 && coin())
      add({.verb = Verb::complete_tx, .ctas = among, .barrier = barrier, .bytes = bytes});
    const bool taken = bytes > 0 && program_.steps.back().verb == Verb::complete_tx;
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
    if (bytes > 0 && !taken)
      add({.verb = Verb::complete_tx, .ctas = among, .barrier = barrier, .bytes = bytes});
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

  // What threads do to a slot by ordinary accesses.
  void work() {
    const Mask among = some_ctas();
    const std::uint32_t slot = draws_.below(slots_);
    if (!is_free(slot, among)) return;
    const bool counts = source().type == DataType::u32 || source().type == DataType::s32;
    const bool copies = source().type < DataType::f32_ftz && source().fill == Fill::zero;
    const bool dense = tile_span(source()) == tile_bytes(source()) && !source().im2col;
    Step step{.verb = Verb::fill,
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
    wait_for_groups(cta, i, draws_.below(closed + 1));
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
    const std::uint64_t words = program_.regions[kSource].bytes / 8;
    add({.verb = Verb::look,
         .ctas = some_ctas(),
         .thread = some_thread(),
         .region = kSource,
         .word = 8 * draws_.below(static_cast<std::uint32_t>(words))});
  }

  Draws draws_;
  Program program_;
  std::uint32_t slots_ = 0, slot_bytes_ = 0;
  std::array<std::uint32_t, 3> counts_{};  // arrivals of each barrier
  std::vector<Phase> phases_;
  std::vector<std::array<Groups, 2>> groups_;  // of each CTA, by index into threads_
  std::array<std::uint32_t, 2> threads_{};
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
