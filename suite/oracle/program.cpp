// Follows a program with the state that the documents allow it to have: each barrier with what is
// announced, what has certainly come and what is in flight, each window with what has certainly
// landed. Never orders what nothing orders.
#include "suite/oracle/program.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/ops/program_json.hpp"
#include "suite/oracle/contents.hpp"
#include "suite/oracle/reduction.hpp"
#include "suite/oracle/thread_work.hpp"

namespace tidemark::suite {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// A box that was issued and that no thread of the CTA has yet seen to land.
struct Flight {
  TileLoad load;  // of a send: its elements as a box
  std::size_t region = kNone;
  std::uint8_t place = kEncoded;  // of its map in global memory
  std::size_t send = kNone;       // in Walk::sends
  bool phase_done = false;        // the phase that it completes on is over
};

struct BarrierState {
  bool alive = false;
  std::uint32_t count = 0, pending = 0;  // arrivals a phase, and of this one
  std::uint32_t phase = 0;               // phases that certainly are complete
  bool open = false;                     // one more may be: nothing says in which pieces bytes come
  bool counted = true;                   // false: the parity of `phase` is not known any more
  std::optional<std::uint32_t> seen = 0;  // phases that the CTA has seen complete; none: open
  std::int64_t tx = 0;                    // bytes announced less bytes that certainly came
  std::int64_t flying = 0;                // bytes of copies in flight
  std::uint32_t step = 16;                // bytes that their credit is a multiple of
  std::vector<Flight> flights;
  std::uint64_t word = 0;    // as plain memory
  std::size_t begun_at = 0;  // the step that initialized it
};

// Bytes of a window.
struct Part {
  std::uint32_t begin = 0, end = 0;
};

bool overlap(Part a, Part b) { return a.begin < b.end && b.begin < a.end; }

Part part_of(const TileLoad& load) {
  const std::uint32_t begin = kGuardBytes + load.destination_offset;
  return {begin, begin + tile_span(load.map)};
}

struct CtaState {
  std::vector<BarrierState> barriers;
  ExpectedWindow window;
  std::vector<Part> touched{};   // by its threads, since the CTAs last met
  std::vector<Part> unfenced{};  // by st.async or red.async, since its threads last fenced
  bool stopped = false;
};

// From the window or the registers of one CTA to the window of another, or its own.
struct Send {
  Verb verb = Verb::send;
  std::uint32_t from = 0, to = 0;
  Reduction reduction = Reduction::none;
  DataType type = DataType::u8;
  Part source;  // empty: registers
  std::vector<std::uint8_t> bytes;
  bool seen = false;  // to land, by the CTA that it went to
  bool over = false;  // and the sender knows
};

// A word of a region that threads read, since the CTAs of the cluster last met.
struct RegionRead {
  std::uint32_t rank = 0;
  std::uint8_t region = 0;
  std::uint64_t byte = 0;
  std::size_t trace = 0;  // where the word stands
};

// A place of tensor maps in global memory. PTX ISA 9.0, 9.7.9.26 tensormap.replace,
// tensormap.cp_fenceproxy and fence.proxy.tensormap; CUDA C++ Programming Guide 13.0, 10.30.
struct MapPlace {
  std::uint8_t holds = kZeroed;          // the number of a map, unless it is zeros
  std::uint32_t changer = 0;             // CTA that replaced it last
  std::optional<std::size_t> changed{};  // at this step; none: the host wrote it
  Scope released = Scope::sys;
  std::uint32_t acquired = 0;  // CTAs, as a mask
  std::uint32_t touched = 0;   // by CTAs since all last met, as a mask
  bool prefetched = false;     // by: nobody is told when the map was read
};

struct Walk {
  const Program& program;
  ProgramExpectation expected;
  std::vector<std::vector<std::uint8_t>> regions;
  std::vector<CtaState> ctas;
  Stores stores;
  std::vector<RegionRead> reads{};
  std::vector<Send> sends{};
  std::vector<MapPlace> places{};    // by place_of_map()
  std::optional<std::size_t> met{};  // the step at which the CTAs last met
  std::size_t step = 0;              // its number

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(
        fmt::format("program: step {} ({}): {}", step, name_of(program.steps[step].verb), why));
  }
};

void complete(BarrierState& barrier) {
  ++barrier.phase;
  barrier.pending = barrier.count;
  for (Flight& flight : barrier.flights) flight.phase_done = true;
}

// The phase completes when everything in flight has landed, and not before.
bool will_complete(const BarrierState& barrier) {
  return barrier.pending == 0 && barrier.flying > 0 && barrier.tx == barrier.flying;
}

// After an arrival, an announcement or a credit. PTX ISA 9.0, 9.7.13.15.6.
void advance(BarrierState& barrier) {
  if (barrier.pending > 0) return;
  if (barrier.flying == 0) {
    if (barrier.tx == 0 && !barrier.open) complete(barrier);
    return;
  }
  // More comes than is announced: if a piece ends where the count is zero the phase is over early.
  if (barrier.tx >= 0 && barrier.tx < barrier.flying && barrier.tx % barrier.step == 0)
    barrier.open = true;
}

// Time went by: what was in flight has come.
void land(BarrierState& barrier) {
  barrier.tx -= std::exchange(barrier.flying, 0);
  advance(barrier);
}

void land_everywhere(Walk& walk) {
  for (CtaState& cta : walk.ctas)
    for (BarrierState& barrier : cta.barriers) land(barrier);
}

Memory memory_of(const Walk& walk, std::size_t region) {
  return {walk.regions[region], walk.program.regions[region].islands};
}

// A tile that lies where an older one did takes its place.
void keep_tile(ExpectedWindow& window, const TileLoad& tile) {
  const auto begin = [](const TileLoad& at) { return at.destination_offset; };
  const auto end = [&](const TileLoad& at) { return begin(at) + tile_span(at.map); };
  std::erase_if(window.tiles, [&](const TileLoad& older) {
    return begin(tile) <= begin(older) && end(older) <= end(tile);
  });
  window.tiles.push_back(tile);
}

void put(const std::vector<std::uint8_t>& bytes, Part part, ExpectedWindow& window) {
  std::copy(bytes.begin(), bytes.end(), &window.bytes[part.begin]);
  if (!window.compare.empty())
    std::fill(&window.compare[part.begin], &window.compare[part.end], Compare::exact);
}

void reduce(const Send& send, Part part, ExpectedWindow& window) {
  for (std::uint32_t done = 0; done < send.bytes.size(); done += 16) {
    const std::size_t bytes = std::min<std::size_t>(16, send.bytes.size() - done);
    std::array<std::uint8_t, 16> comes{}, memory{};  // one element may be less
    std::copy_n(&send.bytes[done], bytes, comes.begin());
    std::copy_n(&window.bytes[part.begin + done], bytes, memory.begin());
    reduce_chunk(send.reduction, send.type, comes.data(), memory.data());
    std::copy_n(memory.begin(), bytes, &window.bytes[part.begin + done]);
  }
}

void land_send(const Send& send, Part part, CtaState& cta) {
  if (send.reduction == Reduction::none)
    put(send.bytes, part, cta.window);
  else
    reduce(send, part, cta.window);
  if (send.verb != Verb::send) cta.unfenced.push_back(part);
}

// Every thread of the CTA saw a phase complete: it may read what the copies of that phase wrote.
// Others may write there when they have met it since.
void see_boxes(const Walk& walk, CtaState& cta, BarrierState& barrier) {
  std::vector<Flight> left;
  for (Flight& flight : barrier.flights) {
    if (!flight.phase_done) {
      left.push_back(flight);
      continue;
    }
    if (flight.send == kNone)
      pull_tile(flight.load, memory_of(walk, flight.region), cta.window.bytes, cta.window.compare);
    else
      land_send(walk.sends[flight.send], part_of(flight.load), cta);
    cta.touched.push_back(part_of(flight.load));
    keep_tile(cta.window, flight.load);
  }
  barrier.flights = std::move(left);
}

// What such a phase says of the sends that it waited for. A CTA knows at once of those from itself.
void see_sends(Walk& walk, const BarrierState& barrier) {
  for (const Flight& flight : barrier.flights) {
    if (flight.send == kNone || !flight.phase_done) continue;
    Send& send = walk.sends[flight.send];
    send.seen = true;
    send.over = send.from == send.to;
  }
}

// The parity that a step names; none where only the device knows it.
std::optional<std::uint32_t> parity_of(const Step& step, const BarrierState& barrier) {
  if (step.parity < kCurrentPhase) {
    if (!barrier.counted) return {};
    return step.parity;
  }
  if (!barrier.seen) return {};
  return (*barrier.seen & 1U) ^ (step.parity == kLastPhase ? 1U : 0U);
}

bool is_complete(const BarrierState& barrier, std::uint32_t parity) {
  return (barrier.phase & 1U) != parity;
}

constexpr ExpectedTrace kOpen{.value = 0, .judged = 0};

ExpectedTrace test(const Step& step, const BarrierState& barrier) {
  const auto parity = parity_of(step, barrier);
  if (!parity || barrier.open || will_complete(barrier)) return kOpen;
  return {.value = is_complete(barrier, *parity) ? 1U : 0U};
}

// A wait whose outcome is open: all that is known afterwards is that time went by.
ExpectedTrace open_wait(BarrierState& barrier) {
  const bool completes = will_complete(barrier);
  land(barrier);
  if (!completes || barrier.seen != barrier.phase) barrier.seen.reset();
  return kOpen;
}

ExpectedTrace wait(Walk& walk, const Step& step, CtaState& cta, BarrierState& barrier) {
  const auto parity = parity_of(step, barrier);
  if (!parity || barrier.open || step.ns < kLandNs) return open_wait(barrier);
  // The phase of the other parity may end while the wait begins, and be taken for this one.
  if (is_complete(barrier, *parity) && will_complete(barrier)) return open_wait(barrier);
  const bool waits = !is_complete(barrier, *parity);
  if (waits) land(barrier);
  if (!is_complete(barrier, *parity)) {
    cta.stopped = step.stops;
    return {.value = 0};
  }
  barrier.seen = barrier.phase;
  see_sends(walk, barrier);
  see_boxes(walk, cta, barrier);
  return {.value = 1};
}

// How many bytes the meter has to take off for the phase to complete; none where it cannot.
bool settles(const Step& step, const BarrierState& barrier) {
  const std::int64_t left = barrier.tx + step.bytes - step.stride;
  return barrier.tx == 0 || (left >= 0 && left <= step.most);
}

ExpectedTrace meter(const Walk& walk, const Step& step, CtaState& cta, BarrierState& barrier) {
  const bool racing = barrier.open || will_complete(barrier);
  land(barrier);
  const auto parity = parity_of(step, barrier);
  const bool ended = parity && is_complete(barrier, *parity);
  if (!barrier.open && (ended ? step.count : step.pending) != barrier.pending)
    walk.refuse(fmt::format("the phase waits for {} arrivals; {} come", barrier.pending,
                            ended ? step.count : step.pending));
  const bool settled = settles(step, barrier);
  const auto residue = static_cast<std::int32_t>(barrier.tx);
  ExpectedTrace trace{.value = meter_trace(ended, settled, residue)};
  if (racing || !parity)
    trace = {.value = trace.value & ~kMeterComplete, .judged = ~kMeterComplete};
  barrier.counted = barrier.counted && !barrier.open;
  barrier.open = false;
  barrier.tx = 0;
  cta.stopped = !settled;
  complete(barrier);
  barrier.seen = barrier.phase;
  return trace;
}

void init(const Walk& walk, const Step& step, BarrierState& barrier) {
  if (barrier.alive) walk.refuse("the barrier is in use; invalidate it first");
  barrier = {.alive = true,
             .count = step.count,
             .pending = step.count,
             .flights = {},
             .begun_at = walk.step};
}

void arrive(const Walk& walk, const Step& step, BarrierState& barrier, std::uint32_t arrivals) {
  if (barrier.open) walk.refuse("an arrival on a phase that may have ended");
  if (arrivals > barrier.pending)
    walk.refuse(fmt::format("{} arrivals where the phase waits for {}", arrivals, barrier.pending));
  if (step.verb == Verb::arrive_expect_tx) barrier.tx += step.bytes;
  barrier.pending -= arrivals;
  advance(barrier);
}

void require_alive(const Walk& walk, const Step& step, const BarrierState& barrier) {
  const bool plain = step.verb == Verb::init || step.verb == Verb::write || step.verb == Verb::read;
  if (!plain && !barrier.alive) walk.refuse("the barrier is not initialized");
  if (plain && barrier.alive && step.verb != Verb::init)
    walk.refuse("the barrier is in use; invalidate it first");
}

// A CTA may copy by a map in global memory that it has acquired.
void use_map(Walk& walk, const Step& step, std::uint32_t rank) {
  const std::uint8_t number = place_of_map(walk.program, step.map);
  if (number == kEncoded) return;
  MapPlace& place = walk.places[number];
  if (place.holds != step.map) walk.refuse("the map is not there; replace it before, not behind");
  if ((place.acquired >> rank & 1U) == 0)
    walk.refuse("the CTA has not acquired the map since it was written");
  place.touched |= 1U << rank;
  place.prefetched = place.prefetched || step.verb == Verb::prefetch;
}

// Only a meeting of the CTAs orders the one behind the other, and only a scope that has both.
void acquire(Walk& walk, const Step& step, std::uint32_t rank) {
  MapPlace& place = walk.places[place_of_map(walk.program, step.map)];
  if (place.holds != step.map) walk.refuse("the map is not there; replace it before");
  if (!place.changed && step.scope != Scope::sys)
    walk.refuse("the host wrote the map; acquire it at scope sys");
  if (place.changed && place.changer != rank) {
    if (!walk.met || *place.changed > *walk.met)
      walk.refuse("the CTAs have not met since the map was replaced; have a cluster_sync");
    if (step.scope == Scope::cta || place.released == Scope::cta)
      walk.refuse("another CTA replaced the map; take a scope that has both");
  }
  place.acquired |= 1U << rank;
  place.touched |= 1U << rank;
}

void replace(Walk& walk, const Step& step, std::uint32_t rank) {
  const std::uint8_t number = place_of_map(walk.program, step.map);
  MapPlace& place = walk.places[number];
  if (place.holds != walk.program.maps[step.map].from)
    walk.refuse("what the map is made of is not there");
  if (place.holds == kZeroed && step.in_place)
    walk.refuse("documents have zeros become a map in shared memory only; replace it there");
  if (place.holds != kZeroed) {
    const DataType from = walk.program.maps[place.holds].spec.type;
    if ((from == DataType::tf32 || from == DataType::tf32_ftz) &&
        from != walk.program.maps[step.map].spec.type)
      walk.refuse(
          "GPUs leave something of tf32 in a map whose type is replaced; make it of another");
  }
  if ((place.touched & ~(1U << rank)) != 0)
    walk.refuse("another CTA may still use the map; have a cluster_sync");
  if (place.changed && place.changer != rank && (!walk.met || *place.changed > *walk.met))
    walk.refuse("the CTAs have not met since the map was replaced; have a cluster_sync");
  for (const CtaState& cta : walk.ctas)
    for (const BarrierState& barrier : cta.barriers)
      for (const Flight& flight : barrier.flights)
        if (flight.place == number)
          walk.refuse("a load may still read the map; wait for its phase");
  if (walk.stores.reads_map(number))
    walk.refuse("a store may still read the map; wait for its group");
  if (place.prefetched) walk.refuse("a prefetch may still read the map; have none");
  place = {.holds = step.map, .changer = rank, .changed = walk.step, .released = step.scope};
}

// Whether it makes no difference which of two lands first. Each element is reduced at once.
bool add_up(const Send& a, Part at, const Send& b, Part bt) {
  if (a.verb != b.verb || a.reduction != b.reduction || a.type != b.type) return false;
  if (commutes(a.reduction, a.type)) return true;
  // Of inc and dec those that have the same bound.
  return a.reduction != Reduction::none && at.begin == bt.begin && a.bytes == b.bytes;
}

bool add_up(const Walk& walk, const Send* comes, Part part, const Flight& flight) {
  return comes != nullptr && flight.send != kNone &&
         add_up(*comes, part, walk.sends[flight.send], part_of(flight.load));
}

// Every byte of the window is another one behind a store or a send that may still read it, and is
// not kept before one that may still write it, unless it adds up with `comes`.
void refuse_overwriting(const Walk& walk, std::uint32_t rank, std::uint32_t offset,
                        std::uint32_t bytes, const Send* comes = nullptr) {
  if (walk.stores.reads(rank, offset, bytes))
    walk.refuse("a store may still read what is overwritten; wait for its group");
  const Part part{offset, offset + bytes};
  for (const Send& send : walk.sends)
    if (!send.over && send.from == rank && overlap(part, send.source))
      walk.refuse("a send may still read what is overwritten; wait for its phase, and meet");
  for (const BarrierState& barrier : walk.ctas[rank].barriers)
    for (const Flight& flight : barrier.flights)
      if (flight.send != kNone && overlap(part, part_of(flight.load)) &&
          !add_up(walk, comes, part, flight))
        walk.refuse("a send may still write what is overwritten; wait for its phase");
}

// Threads write to this part of their window.
void touch(Walk& walk, std::uint32_t rank, std::uint32_t offset, std::uint32_t bytes) {
  refuse_overwriting(walk, rank, offset, bytes);
  CtaState& cta = walk.ctas[rank];
  cta.touched.push_back({offset, offset + bytes});
  // Each thread has a fence.proxy.async behind it, of which other CTAs do not know yet.
  cta.touched.insert(cta.touched.end(), cta.unfenced.begin(), cta.unfenced.end());
  cta.unfenced.clear();
}

// What a load or a send that nobody saw to land may still write has no certain value.
void refuse_landing(const Walk& walk, std::uint32_t rank, std::uint32_t offset, std::uint32_t bytes,
                    const Send* comes = nullptr) {
  const Part part{offset, offset + bytes};
  for (const BarrierState& barrier : walk.ctas[rank].barriers)
    for (const Flight& flight : barrier.flights)
      if (overlap(part, part_of(flight.load)) && !add_up(walk, comes, part, flight))
        walk.refuse("a load may still write what is taken here; wait for its phase");
}

// st.async and red.async are performed in the generic proxy: PTX ISA 9.2, 9.7.9.12 and 9.7.13.7.
void refuse_unfenced(const Walk& walk, std::uint32_t rank, std::uint32_t offset,
                     std::uint32_t bytes) {
  for (const Part& part : walk.ctas[rank].unfenced)
    if (overlap({offset, offset + bytes}, part))
      walk.refuse("st.async or red.async wrote here; fill or poison something first, which fences");
}

// Nor have bytes that no document names.
void refuse_unknown(const Walk& walk, std::uint32_t rank, std::uint32_t offset,
                    std::uint32_t bytes) {
  const auto& compare = walk.ctas[rank].window.compare;
  if (!compare.empty() && std::any_of(&compare[offset], &compare[offset] + bytes,
                                      [](Compare how) { return how != Compare::exact; }))
    walk.refuse("no document says which bytes a box left there, and so what is stored here");
}

// Nor has memory that a store may still write.
void refuse_unstored(const Walk& walk, const TileLoad& load, std::uint8_t region) {
  if (walk.stores.may_write(region, load))
    walk.refuse("a store may still write what is read here; wait for its group");
}

void refuse_unread(const Walk& walk, const Step& store) {
  const Map& map = walk.program.maps[store.map];
  for (const CtaState& cta : walk.ctas)
    for (const BarrierState& barrier : cta.barriers)
      for (const Flight& flight : barrier.flights)
        if (flight.region == map.region && may_overlap(flight.load, {map.spec, store.at, 0}))
          walk.refuse("a load may still read what is stored to; wait for its phase");
}

// PTX ISA 9.0, 9.7.9.25.5.2: a multicast writes to the same offset in each CTA of the mask, and
// credits the mbarrier at the same offset in each, in full.
void issue(Walk& walk, const Step& step, std::uint32_t issuer) {
  use_map(walk, step, issuer);
  const TileLoad load = tile_of(walk.program, step);
  refuse_unstored(walk, load, walk.program.maps[step.map].region);
  for (std::uint32_t rank = 0; rank < walk.ctas.size(); ++rank) {
    if ((destinations_of(step, issuer) >> rank & 1U) == 0) continue;
    BarrierState& barrier = walk.ctas[rank].barriers[step.barrier];
    require_alive(walk, step, barrier);
    refuse_overwriting(walk, rank, step.offset, tile_span(load.map));
    refuse_unfenced(walk, rank, step.offset, tile_span(load.map));
    barrier.step = barrier.flying == 0 ? credit_step(load) : std::min(barrier.step, 16U);
    barrier.flying += tile_bytes(load.map);
    barrier.flights.push_back({.load = load,
                               .region = walk.program.maps[step.map].region,
                               .place = place_of_map(walk.program, step.map)});
    advance(barrier);
  }
}

// Between CTAs only their meetings order anything: that they have initialized the barrier, and are
// done with what is overwritten.
void refuse_unmet(const Walk& walk, const Send& send, const BarrierState& barrier, Part place) {
  if (send.from == send.to) return;
  if (!walk.met || barrier.begun_at > *walk.met)
    walk.refuse("the CTAs have not met since the barrier was initialized; have a cluster_sync");
  for (const Part& touched : walk.ctas[send.to].touched)
    if (overlap(touched, place))
      walk.refuse("the CTAs have not met since this part of the window was used; have one");
}

// PTX ISA 9.0, cp.async.bulk, st.async, red.async: the source is read, the destination written, and
// the barrier there credited with all bytes, some time before its phase completes. `credit`: bytes
// that every credit is a multiple of.
void issue_send(Walk& walk, const Step& step, Send issued, std::uint32_t credit) {
  walk.sends.push_back(std::move(issued));  // whose own source is not to be overwritten, either
  const Send& send = walk.sends.back();
  BarrierState& barrier = walk.ctas[send.to].barriers[step.barrier];
  const auto begin = static_cast<std::uint32_t>(step.at[0]);
  const auto bytes = static_cast<std::uint32_t>(send.bytes.size());
  refuse_overwriting(walk, send.to, begin, bytes, &send);
  refuse_landing(walk, send.to, begin, bytes, &send);
  if (send.verb == Verb::send) refuse_unfenced(walk, send.to, begin, bytes);
  if (send.reduction != Reduction::none) refuse_unknown(walk, send.to, begin, bytes);
  refuse_unmet(walk, send, barrier, {begin, begin + bytes});
  const std::uint32_t elements = bytes / element_bytes(send.type);
  const TensorMapSpec box{
      .type = send.type, .rank = 1, .extent = {elements}, .box = {elements}, .bulk = true};
  barrier.step = barrier.flying == 0 ? credit : std::min(barrier.step, credit);
  barrier.flying += bytes;
  barrier.flights.push_back({.load = {.map = box,
                                      .destination_offset = begin - kGuardBytes,
                                      .payload = walk.program.payload},
                             .send = walk.sends.size() - 1});
  advance(barrier);
}

void send(Walk& walk, const Step& step, std::uint32_t from) {
  refuse_landing(walk, from, step.offset, step.bytes);
  refuse_unknown(walk, from, step.offset, step.bytes);
  refuse_unfenced(walk, from, step.offset, step.bytes);
  const std::uint8_t* const source = &walk.ctas[from].window.bytes[step.offset];
  const bool reduces = step.reduction != Reduction::none;
  // The examples of PTX ISA 9.2, 9.7.9.25.4.1 call the form strictly remote. Plain copies to
  // oneself are measured.
  if (reduces && (step.of == kOwnCta || step.of == from))
    walk.refuse("a reduction by a CTA of its own window; have another one send");
  issue_send(walk, step,
             {.from = from,
              .to = step.of == kOwnCta ? from : step.of,
              .reduction = step.reduction,
              .type = reduces ? step.type : DataType::u8,
              .source = {step.offset, step.offset + step.bytes},
              .bytes = {source, source + step.bytes}},
             16);
}

// No document says whether a vector is credited at once. PTX ISA 9.2: a cluster of one CTA has no
// st.async (9.7.9.12), and no CTA a red.async to itself (9.7.13.7).
void send_registers(Walk& walk, const Step& step, std::uint32_t from) {
  const std::uint32_t to = step.of == kOwnCta ? from : step.of;
  if (walk.ctas.size() == 1) walk.refuse("a cluster of one CTA; take more");
  if (step.verb == Verb::red_async && to == from)
    walk.refuse("a reduction by a CTA of its own window; have another one reduce");
  std::vector<std::uint8_t> bytes(async_bytes(step));
  for (std::uint32_t i = 0; i < bytes.size() / 4; ++i) {
    const std::uint32_t word = async_word(walk.program.payload, step, i);
    std::memcpy(&bytes[std::size_t{4} * i], &word, 4);
  }
  const bool reduces = step.verb == Verb::red_async;
  const Send send{.verb = step.verb,
                  .from = from,
                  .to = to,
                  .reduction = reduces ? step.reduction : Reduction::none,
                  .type = step.type,
                  .source = {},
                  .bytes = std::move(bytes)};
  for (std::uint32_t i = 0; i < (reduces ? step.count : 1); ++i) issue_send(walk, step, send, 4);
}

// Changes nothing, where the instruction is one that documents allow.
void prefetch(Walk& walk, const Step& step, std::uint32_t rank) {
  use_map(walk, step, rank);
  const TensorMapSpec& map = walk.program.maps[step.map].spec;
  if (std::int64_t{step.at[0]} * element_bytes(map.type) % 16 != 0)
    walk.refuse("an inner coordinate off 16 bytes");
}

void meet(Walk& walk) {
  walk.met = walk.step;
  walk.reads.clear();
  for (CtaState& cta : walk.ctas) cta.touched.clear();
  for (MapPlace& place : walk.places) place.touched = 0;
  for (Send& send : walk.sends) send.over = send.over || send.seen;
}

// These bytes are no longer those of a box.
void forget_tiles(ExpectedWindow& window, const Step& step) {
  if (!window.compare.empty())
    std::fill_n(&window.compare[step.offset], step.bytes, Compare::exact);
  if (step.bytes != window.bytes.size()) return;
  window.compare.clear();
  window.tiles.clear();
}

void poison(Walk& walk, const Step& step, std::uint32_t rank) {
  touch(walk, rank, step.offset, step.bytes);
  ExpectedWindow& window = walk.ctas[rank].window;
  const Poison& poison = poison_of(walk.program.payload.inverted);
  const std::uint32_t end = step.offset + step.bytes;
  for (std::uint32_t at = step.offset; at < end;) {
    const std::uint32_t in_period = at % kPoisonPeriod;
    const std::uint32_t run = std::min(end - at, kPoisonPeriod - in_period);
    std::memcpy(&window.bytes[at], &poison[in_period], run);
    at += run;
  }
  const std::uint8_t twist = poison_twist(rank);
  for (std::uint32_t at = step.offset; twist != 0 && at < end; ++at) window.bytes[at] ^= twist;
  forget_tiles(window, step);
}

// The window holds source words, or their complement.
void fill(Walk& walk, const Step& step, std::uint32_t rank, std::uint32_t flip) {
  touch(walk, rank, step.offset, step.bytes);
  ExpectedWindow& window = walk.ctas[rank].window;
  const DataType type = walk.program.maps[step.map].spec.type;
  for (std::uint32_t at = step.offset; at < step.offset + step.bytes; at += 4) {
    const std::uint32_t word = source_element_word(walk.program.payload, type, at / 4) ^ flip;
    std::memcpy(&window.bytes[at], &word, 4);
  }
  window.filled = true;
  forget_tiles(window, step);
}

// What the threads do to a tile by ordinary accesses.
void work(Walk& walk, const Step& step, std::uint32_t rank) {
  const TileLoad tile = tile_of(walk.program, step);
  const std::uint8_t region = walk.program.maps[step.map].region;
  const std::uint32_t bytes = tile_span(tile.map);
  touch(walk, rank, step.offset, bytes);
  refuse_landing(walk, rank, step.offset, bytes);
  ExpectedWindow& window = walk.ctas[rank].window;
  if (step.verb == Verb::add) return add_to_tile(tile, step, window.bytes);
  refuse_unstored(walk, tile, region);
  pull_tile(tile, memory_of(walk, region), window.bytes, window.compare);
  keep_tile(window, tile);
}

void store(Walk& walk, const Step& step, std::uint32_t rank) {
  const Map& map = walk.program.maps[step.map];
  use_map(walk, step, rank);
  refuse_landing(walk, rank, step.offset, tile_span(map.spec));
  refuse_unfenced(walk, rank, step.offset, tile_span(map.spec));
  refuse_unread(walk, step);
  refuse_unknown(walk, rank, step.offset, tile_span(map.spec));
  walk.stores.issue(step, {rank, step.thread}, walk.ctas[rank].window.bytes,
                    walk.regions[map.region]);
  // The steps of another CTA before this one are not before it in time.
  for (const RegionRead& read : walk.reads)
    if (read.rank != rank && walk.stores.is_of_last(read.region, read.byte))
      walk.expected.trace[read.trace] = kOpen;
}

ExpectedTrace read_region(Walk& walk, const Step& step, std::uint32_t rank) {
  if (step.region == kNoRegion) return {};
  walk.reads.push_back({.rank = rank,
                        .region = step.region,
                        .byte = step.word,
                        .trace = walk.step * ctas_of(walk.program) + rank});
  if (!walk.stores.is_certain({rank, step.thread}, step.region, step.word)) return kOpen;
  std::uint64_t word = 0;
  std::memcpy(&word, &walk.regions[step.region][step.word], sizeof(word));
  return {.value = word};
}

// One step on memory through the groups of a thread.
ExpectedTrace take_of_groups(Walk& walk, const Step& step, std::uint32_t rank) {
  const Issuer issuer{rank, step.thread};
  switch (step.verb) {
    case Verb::store:
      store(walk, step, rank);
      return {};
    case Verb::commit:
      walk.stores.commit(issuer);
      return {};
    case Verb::wait_group_read:
      walk.stores.wait(issuer, step.pending, false);
      fill(walk, step, rank, ~0U);
      return {};
    case Verb::wait_group:
      walk.stores.wait(issuer, step.pending, true);
      return read_region(walk, step, rank);
    default:
      return read_region(walk, step, rank);
  }
}

// Any of them may have come.
void record_reductions(const Walk& walk, const CtaState& cta, std::vector<Compare>& compare) {
  for (const BarrierState& barrier : cta.barriers)
    for (const Flight& flight : barrier.flights) {
      if (flight.send == kNone || walk.sends[flight.send].reduction == Reduction::none) continue;
      compare.resize(cta.window.bytes.size(), Compare::exact);
      const Part part = part_of(flight.load);
      std::fill(&compare[part.begin], &compare[part.begin] + (part.end - part.begin),
                Compare::recorded);
    }
}

void snapshot(Walk& walk, std::uint32_t rank) {
  walk.ctas[rank].touched.push_back({0, walk.program.window});
  const CtaState& cta = walk.ctas[rank];
  ExpectedSnapshot taken{
      .step = static_cast<std::uint32_t>(walk.step), .cta = rank, .window = cta.window};
  const bool flying = std::any_of(cta.barriers.begin(), cta.barriers.end(),
                                  [](const auto& barrier) { return !barrier.flights.empty(); });
  if (flying) {
    CtaState landed = cta;
    for (BarrierState& barrier : landed.barriers) {
      for (Flight& flight : barrier.flights) flight.phase_done = true;
      see_boxes(walk, landed, barrier);
    }
    auto& compare = taken.window.compare;
    compare.resize(landed.window.compare.size(), Compare::exact);
    for (std::size_t i = 0; i < compare.size(); ++i)  // either what was there, or some NaN
      if (compare[i] != landed.window.compare[i]) compare[i] = Compare::recorded;
    taken.window.other = std::move(landed.window.bytes);
    record_reductions(walk, cta, compare);
  }
  walk.expected.snapshots.push_back(std::move(taken));
}

// One step on a barrier, by CTA `rank`. Returns what it leaves in the trace.
ExpectedTrace take_on_barrier(Walk& walk, const Step& step, std::uint32_t rank) {
  CtaState& cta = walk.ctas[rank];
  BarrierState& own = cta.barriers[step.barrier];
  BarrierState& named = step.of == kOwnCta ? own : walk.ctas[step.of].barriers[step.barrier];
  if (step.verb != Verb::load) require_alive(walk, step, named);
  switch (step.verb) {
    case Verb::init:
      init(walk, step, own);
      return {};
    case Verb::inval:
      own.alive = false;
      return {};
    case Verb::arrive:
      arrive(walk, step, named, step.count);
      return {};
    case Verb::arrive_expect_tx:
      arrive(walk, step, named, 1);
      return {};
    case Verb::expect_tx:
      named.tx += step.bytes;
      return {};
    case Verb::complete_tx:
      own.tx -= step.bytes;
      advance(own);
      return {};
    case Verb::test:
      return test(step, own);
    case Verb::wait:
      return wait(walk, step, cta, own);
    case Verb::meter:
      return meter(walk, step, cta, own);
    case Verb::load:
      issue(walk, step, rank);
      return {};
    case Verb::send:
      send(walk, step, rank);
      return {};
    case Verb::st_async:
    case Verb::red_async:
      send_registers(walk, step, rank);
      return {};
    case Verb::write:
      own.word = step.word;
      return {};
    case Verb::read:
      return {.value = own.word};
    default:
      walk.refuse("the oracle does not know this verb");
  }
}

ExpectedTrace take(Walk& walk, const Step& step, std::uint32_t rank) {
  switch (step.verb) {
    case Verb::cluster_sync:
      meet(walk);
      return {};
    case Verb::prefetch:
      prefetch(walk, step, rank);
      return {};
    case Verb::replace:
      replace(walk, step, rank);
      return {};
    case Verb::acquire:
      acquire(walk, step, rank);
      return {};
    case Verb::delay:
      if (step.ns >= kLandNs) land_everywhere(walk);
      return {};
    case Verb::poison:
      poison(walk, step, rank);
      return {};
    case Verb::missing:
      return kOpen;
    case Verb::store:
    case Verb::commit:
    case Verb::wait_group:
    case Verb::wait_group_read:
    case Verb::look:
      return take_of_groups(walk, step, rank);
    case Verb::fill:
      fill(walk, step, rank, 0);
      return {};
    case Verb::add:
    case Verb::copy:
      work(walk, step, rank);
      return {};
    case Verb::leave:
      return {};
    case Verb::snapshot:
      snapshot(walk, rank);
      return {};
    default:
      return take_on_barrier(walk, step, rank);
  }
}

Walk begin(const Program& program) {
  if (const std::string why = unsound(program); !why.empty()) throw Error(why);
  Walk walk{
      .program = program, .expected = {}, .regions = {}, .ctas = {}, .stores = Stores(program)};
  for (const kernels::Region& region : program.regions)
    walk.regions.push_back(contents(program, region));
  walk.places.resize(program.maps.size());
  for (std::size_t i = 0; i < program.maps.size(); ++i)
    if (program.maps[i].from == kEncoded) walk.places[i].holds = static_cast<std::uint8_t>(i);
  walk.ctas.resize(ctas_of(program));
  for (CtaState& cta : walk.ctas) {
    cta.barriers.resize(program.barriers);
    cta.window.bytes.resize(program.window);
  }
  walk.expected.trace.resize(program.steps.size() * ctas_of(program));
  return walk;
}

// The regions behind the program. What nobody waited for may have landed or not.
void take_regions(Walk& walk) {
  ProgramExpectation& expected = walk.expected;
  expected.stores = walk.stores.boxes();
  const bool open = std::any_of(expected.stores.begin(), expected.stores.end(),
                                [](const StoredBox& stored) { return !stored.complete; });
  if (open && walk.program.held_to != HeldTo::record)
    throw Error(
        "program: it ends without the wait for its stores, and no document says that they land; "
        "have what becomes of the boxes recorded");
  for (std::size_t i = 0; i < walk.regions.size(); ++i) {
    const auto& region = walk.regions[i];
    expected.regions.insert(expected.regions.end(), region.begin(), region.end());
    for (std::uint64_t at = 0; open && at < region.size(); at += 16)
      expected.region_compare.insert(expected.region_compare.end(), 16,
                                     walk.stores.has_landed(static_cast<std::uint8_t>(i), at)
                                         ? Compare::exact
                                         : Compare::recorded);
  }
}

}  // namespace

std::uint32_t credit_step(const TileLoad& load) {
  const TensorMapSpec& map = load.map;
  const std::uint32_t size = element_bytes(map.type);
  if (map.im2col) return 16;              // more is not measured
  std::uint64_t start = map.base_offset;  // allocations and guards are multiples of 32
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const std::uint64_t pitch = i == 0 ? size : map.stride[i - 1];
    const std::uint32_t step = i == 0 ? 1 : map.element_stride[i];
    const std::int64_t behind = std::int64_t{load.at[i]} + map.box[i];
    const bool rows_apart = i > 0 && map.box[i] > step && step * pitch % 32 != 0;
    if (load.at[i] < 0 || behind > static_cast<std::int64_t>(map.extent[i]) || rows_apart)
      return 16;
    start += static_cast<std::uint64_t>(load.at[i]) * pitch;
  }
  return start % 32 == 0 && map.box[0] * size % 32 == 0 ? 32 : 16;
}

TileLoad tile_of(const Program& program, const Step& step) {
  const Map& map = program.maps[step.map];
  return {.map = map.spec,
          .at = step.at,
          .im2col_offsets = step.im2col_offsets,
          .destination_offset = step.offset - kGuardBytes,
          .hint = step.hint,
          .source = program.regions[map.region].source,
          .held_to = program.held_to,
          .payload = program.payload};
}

ProgramExpectation predict(const Program& program) {
  Walk walk = begin(program);
  for (; walk.step < program.steps.size(); ++walk.step) {
    const Step& step = program.steps[walk.step];
    for (std::uint32_t rank = 0; rank < ctas_of(program); ++rank) {
      const bool goes_on = !walk.ctas[rank].stopped || step.verb == Verb::snapshot;
      if (takes(step, rank) && goes_on)
        walk.expected.trace[walk.step * ctas_of(program) + rank] = take(walk, step, rank);
    }
  }
  take_regions(walk);
  return std::move(walk.expected);
}

}  // namespace tidemark::suite
