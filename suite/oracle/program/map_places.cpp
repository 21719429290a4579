// Tensor maps that steps replace.
#include "suite/oracle/program/walk.hpp"

namespace tidemark {

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
