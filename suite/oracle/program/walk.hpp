// The state in which the oracle follows a program, as the documents allow it: each barrier with
// what is announced, what has certainly come and what is in flight, each window with what has
// certainly landed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Nothing is said of the trace.
inline constexpr ExpectedTrace kOpen{.value = 0, .judged = 0};

/// A box that was issued and that no thread of the CTA has yet seen to land.
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
  std::uint64_t word = 0;                   // as plain memory
  std::size_t begun_at = 0;                 // the step that initialized it
  std::optional<std::size_t> counted_at{};  // the step that counted its pending arrivals last
  std::optional<std::size_t> others_at{};   // that at which another CTA came last
  std::uint32_t others_in = 0;              // in this phase
  std::uint32_t others_from = 0;            // first since the CTAs met, in this phase
};

inline bool overlap(Part a, Part b) { return a.begin < b.end && b.begin < a.end; }

inline Part part_of(const TileLoad& load) {
  const std::uint32_t begin = kGuardBytes + load.destination_offset;
  return {begin, begin + tile_span(load.map)};
}

struct ExpectedCta {
  std::vector<BarrierState> barriers;
  ExpectedWindow window;
  std::vector<Part> touched{};   // by its threads, since the CTAs last met
  std::vector<Part> unfenced{};  // by st.async or red.async, since its threads last fenced
  bool stopped = false;
};

/// From the window or the registers of one CTA to the window of another, or its own.
struct Sent {
  Verb verb = Verb::send;
  std::uint32_t from = 0, to = 0;
  Reduction reduction = Reduction::none;
  DataType type = DataType::u8;
  Part source;  // empty: registers
  std::vector<std::uint8_t> bytes;
  bool seen = false;  // to land, by the CTA that it went to
  bool over = false;  // and the sender knows
};

/// A word of a region that threads read, since the CTAs of the cluster last met.
struct RegionRead {
  std::uint32_t rank = 0;
  std::uint8_t region = 0;
  std::uint64_t byte = 0;
  std::size_t trace = 0;  // where the word stands
};

/// A place of tensor maps in global memory. PTX ISA 9.0, 9.7.9.26 tensormap.replace,
/// tensormap.cp_fenceproxy and fence.proxy.tensormap; CUDA C++ Programming Guide 13.0, 10.30.
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
  std::vector<ExpectedCta> ctas;
  Stores stores;
  std::vector<RegionRead> reads{};
  std::vector<Sent> sends{};
  std::vector<MapPlace> places{};    // by place_of_map()
  std::optional<std::size_t> met{};  // the step at which the CTAs last met
  std::size_t step = 0;              // its number

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(
        fmt::format("program: step {} ({}): {}", step, name_of(program.steps[step].verb), why));
  }
  /// What `check` refuses is refused with the step.
  template <class Check>
  void refuse_where(const Check& check) const {
    try {
      check();
    } catch (const Error& error) {
      refuse(error.what());
    }
  }
};

// Barriers.

/// After an arrival, an announcement or a credit. PTX ISA 9.0, 9.7.13.15.6.
void advance(BarrierState& barrier);
ExpectedTrace test(const Walk& walk, const Step& step, const BarrierState& barrier);
ExpectedTrace wait(Walk& walk, const Step& step, ExpectedCta& cta, BarrierState& barrier);
ExpectedTrace meter(const Walk& walk, const Step& step, ExpectedCta& cta, BarrierState& barrier);
void init(const Walk& walk, const Step& step, BarrierState& barrier);
void arrive(const Walk& walk, const Step& step, BarrierState& barrier, std::uint32_t arrivals);
ExpectedTrace arrive_token(const Walk& walk, const Step& step, BarrierState& barrier);
/// PTX ISA 9.0, 9.7.13.15.13: the token has the barrier as it was before the arrival.
ExpectedTrace pending_count(const Walk& walk, const Step& step, BarrierState& barrier);
/// Another CTA arrives on a barrier or takes bytes off it: sooner or later than the steps say,
/// until the CTAs meet or a wait has seen the phase. Refused where arrivals were counted.
void come_from_outside(const Walk& walk, BarrierState& barrier);
void require_alive(const Walk& walk, const Step& step, const BarrierState& barrier);

// What has landed.

/// Time went by: what was in flight has come.
void land(BarrierState& barrier);
void land_everywhere(Walk& walk);
Memory memory_of(const Walk& walk, std::size_t region);
/// A tile that lies where an older one did takes its place.
void keep_tile(ExpectedWindow& window, const TileLoad& tile);
/// Every thread of the CTA saw a phase complete: it may read what the copies of that phase wrote.
/// Others may write there when they have met it since.
void see_boxes(const Walk& walk, ExpectedCta& cta, BarrierState& barrier);
/// What such a phase says of the sends that it waited for. A CTA knows at once of those from
/// itself.
void see_sends(Walk& walk, const BarrierState& barrier);

// Maps in global memory.

/// A CTA may copy by a map in global memory that it has acquired.
void use_map(Walk& walk, const Step& step, std::uint32_t rank);
/// Only a meeting of the CTAs orders the one behind the other, and only a scope that has both.
void acquire(Walk& walk, const Step& step, std::uint32_t rank);
void replace(Walk& walk, const Step& step, std::uint32_t rank);

// Copies, and what they or others may not touch meanwhile.

/// Threads write to this part of their window.
void touch(Walk& walk, std::uint32_t rank, std::uint32_t offset, std::uint32_t bytes);
/// What a load or a send that nobody saw to land may still write has no certain value.
void refuse_landing(const Walk& walk, std::uint32_t rank, std::uint32_t offset, std::uint32_t bytes,
                    const Sent* comes = nullptr);
/// st.async and red.async are performed in the generic proxy: PTX ISA 9.2, 9.7.9.12 and 9.7.13.7.
void refuse_unfenced(const Walk& walk, std::uint32_t rank, std::uint32_t offset,
                     std::uint32_t bytes);
/// Nor have bytes that no document names.
void refuse_unknown(const Walk& walk, std::uint32_t rank, std::uint32_t offset,
                    std::uint32_t bytes);
/// Nor has memory that a store may still write.
void refuse_unstored(const Walk& walk, const TileLoad& load, std::uint8_t region);
void refuse_unread(const Walk& walk, const Step& store);
/// PTX ISA 9.0, 9.7.9.25.5.2: a multicast writes to the same offset in each CTA of the mask, and
/// credits the mbarrier at the same offset in each, in full.
void issue(Walk& walk, const Step& step, std::uint32_t issuer);
void send(Walk& walk, const Step& step, std::uint32_t from);
/// No document says whether a vector is credited at once. PTX ISA 9.2: a cluster of one CTA has no
/// st.async (9.7.9.12), and no CTA a red.async to itself (9.7.13.7).
void send_registers(Walk& walk, const Step& step, std::uint32_t from);
/// Threads have written these bytes of the window: they are certain, and no longer those of a
/// product or of lanes.
void overwrite(ExpectedWindow& window, Part part);
/// Chunks that threads move, each looked up where the tables of the PTX ISA put it.
void place_rows(Walk& walk, const Step& step, std::uint32_t rank);
void read_columns(Walk& walk, const Step& step, std::uint32_t rank);
/// The product of two tiles of integers, which every type holds exactly.
void wgmma(Walk& walk, const Step& step, std::uint32_t rank);
/// Changes nothing, where the instruction is one that documents allow.
void prefetch(Walk& walk, const Step& step, std::uint32_t rank);

}  // namespace tidemark
