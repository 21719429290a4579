// Copies into windows as they are issued, by the async proxy and out of registers, and the tensor
// maps that steps replace.
#include <algorithm>
#include <cstring>
#include <utility>

#include "suite/oracle/contents.hpp"
#include "suite/oracle/program/walk.hpp"

namespace tidemark {
namespace {

// Whether it makes no difference which of two lands first. Each element is reduced at once.
bool add_up(const Sent& a, Part at, const Sent& b, Part bt) {
  if (a.verb != b.verb || a.reduction != b.reduction || a.type != b.type) return false;
  if (commutes(a.reduction, a.type)) return true;
  // Of inc and dec those that have the same bound.
  return a.reduction != Reduction::none && at.begin == bt.begin && a.bytes == b.bytes;
}

bool add_up(const Walk& walk, const Sent* comes, Part part, const Flight& flight) {
  return comes != nullptr && flight.send != kNone &&
         add_up(*comes, part, walk.sends[flight.send], part_of(flight.load));
}

// Every byte of the window is another one behind a store or a send that may still read it, and is
// not kept before one that may still write it, unless it adds up with `comes`.
void refuse_overwriting(const Walk& walk, std::uint32_t rank, std::uint32_t offset,
                        std::uint32_t bytes, const Sent* comes = nullptr) {
  if (walk.stores.reads(rank, offset, bytes))
    walk.refuse("a store may still read what is overwritten; wait for its group");
  const Part part{offset, offset + bytes};
  for (const Sent& send : walk.sends)
    if (!send.over && send.from == rank && overlap(part, send.source))
      walk.refuse("a send may still read what is overwritten; wait for its phase, and meet");
  for (const BarrierState& barrier : walk.ctas[rank].barriers)
    for (const Flight& flight : barrier.flights)
      if (flight.send != kNone && overlap(part, part_of(flight.load)) &&
          !add_up(walk, comes, part, flight))
        walk.refuse("a send may still write what is overwritten; wait for its phase");
}

// Between CTAs only their meetings order anything: that they have initialized the barrier, and are
// done with what is overwritten.
void refuse_unmet(const Walk& walk, const Sent& send, const BarrierState& barrier, Part place) {
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
void issue_send(Walk& walk, const Step& step, Sent issued, std::uint32_t credit) {
  walk.sends.push_back(std::move(issued));  // whose own source is not to be overwritten, either
  const Sent& send = walk.sends.back();
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

}  // namespace

void touch(Walk& walk, std::uint32_t rank, std::uint32_t offset, std::uint32_t bytes) {
  refuse_overwriting(walk, rank, offset, bytes);
  ExpectedCta& cta = walk.ctas[rank];
  cta.touched.push_back({offset, offset + bytes});
  // Each thread has a fence.proxy.async behind it, of which other CTAs do not know yet.
  cta.touched.insert(cta.touched.end(), cta.unfenced.begin(), cta.unfenced.end());
  cta.unfenced.clear();
}

void refuse_landing(const Walk& walk, std::uint32_t rank, std::uint32_t offset, std::uint32_t bytes,
                    const Sent* comes) {
  const Part part{offset, offset + bytes};
  for (const BarrierState& barrier : walk.ctas[rank].barriers)
    for (const Flight& flight : barrier.flights)
      if (overlap(part, part_of(flight.load)) && !add_up(walk, comes, part, flight))
        walk.refuse("a load may still write what is taken here; wait for its phase");
}

void refuse_unfenced(const Walk& walk, std::uint32_t rank, std::uint32_t offset,
                     std::uint32_t bytes) {
  for (const Part& part : walk.ctas[rank].unfenced)
    if (overlap({offset, offset + bytes}, part))
      walk.refuse("st.async or red.async wrote here; fill or poison something first, which fences");
}

void refuse_unknown(const Walk& walk, std::uint32_t rank, std::uint32_t offset,
                    std::uint32_t bytes) {
  const auto& compare = walk.ctas[rank].window.compare;
  if (!compare.empty() && std::any_of(&compare[offset], &compare[offset] + bytes,
                                      [](Compare how) { return how != Compare::exact; }))
    walk.refuse("no document says which bytes a box left there, and so what is stored here");
}

void refuse_unstored(const Walk& walk, const TileLoad& load, std::uint8_t region) {
  if (walk.stores.may_write(region, load))
    walk.refuse("a store may still write what is read here; wait for its group");
}

void refuse_unread(const Walk& walk, const Step& store) {
  const Map& map = walk.program.maps[store.map];
  for (const ExpectedCta& cta : walk.ctas)
    for (const BarrierState& barrier : cta.barriers)
      for (const Flight& flight : barrier.flights)
        if (flight.region == map.region && may_overlap(flight.load, {map.spec, store.at, 0}))
          walk.refuse("a load may still read what is stored to; wait for its phase");
}

void issue(Walk& walk, const Step& step, std::uint32_t issuer) {
  use_map(walk, step, issuer);
  const TileLoad load = tile_of(walk.program, step);
  // Here, and not where it lands: a wait is not why.
  walk.refuse_where([&] { refuse_undocumented(load); });
  if (load.map.interleave != Interleave::none && step.mask != 0)
    walk.refuse("a multicast by an interleaved map, which is not measured");
  refuse_unstored(walk, load, walk.program.maps[step.map].region);
  for (std::uint32_t rank = 0; rank < walk.ctas.size(); ++rank) {
    if ((destinations_of(step, issuer) >> rank & 1U) == 0) continue;
    BarrierState& barrier = walk.ctas[rank].barriers[step.barrier];
    require_alive(walk, step, barrier);
    refuse_overwriting(walk, rank, step.offset, tile_span(load.map));
    refuse_unfenced(walk, rank, step.offset, tile_span(load.map));
    const bool alone = barrier.flying == 0 && step.mask == 0;  // as it was measured
    barrier.step = alone ? credit_step(load) : std::min(barrier.step, 16U);
    barrier.flying += tile_bytes(load.map);
    barrier.flights.push_back({.load = load,
                               .region = walk.program.maps[step.map].region,
                               .place = place_of_map(walk.program, step.map)});
    advance(barrier);
  }
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
  const Sent send{.verb = step.verb,
                  .from = from,
                  .to = to,
                  .reduction = reduces ? step.reduction : Reduction::none,
                  .type = step.type,
                  .source = {},
                  .bytes = std::move(bytes)};
  for (std::uint32_t i = 0; i < (reduces ? step.count : 1); ++i) issue_send(walk, step, send, 4);
}

void prefetch(Walk& walk, const Step& step, std::uint32_t rank) {
  use_map(walk, step, rank);
  const TensorMapSpec& map = walk.program.maps[step.map].spec;
  if (map.interleave != Interleave::none)
    walk.refuse("a prefetch by an interleaved map, which is not measured");
  if (std::int64_t{step.at[0]} * element_bytes(map.type) % 16 != 0)
    walk.refuse("an inner coordinate off 16 bytes");
}

// Tensor maps that steps replace.

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
  for (const ExpectedCta& cta : walk.ctas)
    for (const BarrierState& barrier : cta.barriers)
      for (const Flight& flight : barrier.flights)
        if (flight.place == number)
          walk.refuse("a load may still read the map; wait for its phase");
  if (walk.stores.reads_map(number))
    walk.refuse("a store may still read the map; wait for its group");
  if (place.prefetched) walk.refuse("a prefetch may still read the map; have none");
  place = {.holds = step.map, .changer = rank, .changed = walk.step, .released = step.scope};
}

}  // namespace tidemark
