// What the steps of a program work on: the memory of a cluster, its copies in flight, and what has
// been seen so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"
#include "kernels/virtual/copies/draw.hpp"
#include "kernels/virtual/copies/mbarrier.hpp"
#include "kernels/virtual/copies/store_engine.hpp"

namespace tidemark {

/// 8 bytes of shared memory: an mbarrier from init to inval, else a word.
struct BarrierMemory {
  Mbarrier barrier;
  bool live = false;
  std::uint32_t lives = 0;        // inits so far
  std::uint32_t first_count = 0;  // of its first life, for a fault to remember
  std::uint32_t phase = 0;        // parity of the current phase, as far as its CTA has seen
  std::uint64_t word = 0;
};

struct ProgramCta {
  SharedWindow window;
  std::vector<BarrierMemory> barriers;
  std::map<std::uint16_t, StoreEngine> stores;  // by the thread that issued them
  std::map<std::uint8_t, Map> maps;             // by place_of_map(), since its last acquire
  // For faults to remember:
  std::optional<std::uint32_t> first_stored;  // offset of the tile
  std::optional<Step> first_loaded;
  SharedWindow before;  // the window in front of the threads' last work
  bool stopped = false;
};

/// One run of a program. Copies in flight point into it: it stays where it is from the first step.
struct ProgramRun {
  const Program& program;
  Fault fault;
  std::vector<std::vector<std::uint8_t>> regions;
  std::vector<std::vector<std::uint8_t>> before;  // the regions as filled, for a fault to remember
  std::vector<ProgramCta> ctas;
  BulkEngine engine;                 // of the whole cluster's loads
  Draw draw;                         // for how far copies get between two steps
  bool beside = false;               // other programs run on the device meanwhile
  Mbarrier nowhere;                  // credit that nobody sees
  std::map<std::uint8_t, Map> maps;  // that were replaced in global memory, by place_of_map()
  std::optional<RunResult> lost;     // the error that the program ends in
  std::uint32_t copies = 0;
  // By step and CTA.
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::uint8_t>> snapshots;
  RunResult result;
};

/// One step as one CTA takes it.
struct Turn {
  ProgramRun& run;
  std::size_t number;  // of the step
  std::uint32_t cta;

  const Step& step() const { return run.program.steps[number]; }
  ProgramCta& own() const { return run.ctas[cta]; }
  BarrierMemory& memory() const { return own().barriers[step().barrier]; }
};

}  // namespace tidemark
