// Delta debugging: large cuts first, since most steps have no part in a failure.
#include "harness/replay/given_program.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

namespace tidemark::harness {
namespace {

using Fails = std::function<bool(const Program&)>;

std::ptrdiff_t syncs_of(const Program& program) {
  return std::count_if(program.steps.begin(), program.steps.end(),
                       [](const Step& step) { return step.verb == Verb::cluster_sync; });
}

class Minimizer {
 public:
  Minimizer(Program program, const Fails& fails) : program_(std::move(program)), fails_(fails) {}

  Program result() {
    while (cut_steps() || simplify_steps() || simplify_memory()) {
    }
    return std::move(program_);
  }

 private:
  /// Keeps the candidate where it is another program, and fails. Without a cluster_sync CTAs could
  /// race on a GPU, and the candidate fail for that.
  bool keep(Program candidate) {
    if (candidate == program_ || runs_ == kMostMinimizingRuns) return false;
    if (ctas_of(candidate) > 1 && syncs_of(candidate) < syncs_of(program_)) return false;
    ++runs_;
    if (!fails_(candidate)) return false;
    program_ = std::move(candidate);
    return true;
  }

  bool cut_steps() {
    bool cut = false;
    for (std::size_t run = std::bit_floor(program_.steps.size()); run > 0; run /= 2)
      for (std::size_t at = program_.steps.size(); at-- > 0;) {
        if (at + run > program_.steps.size()) continue;
        Program candidate = program_;
        const auto first = candidate.steps.begin() + static_cast<std::ptrdiff_t>(at);
        candidate.steps.erase(first, first + static_cast<std::ptrdiff_t>(run));
        cut = keep(std::move(candidate)) || cut;
      }
    return cut;
  }

  bool simplify_steps() {
    // `bytes`, `pending` and the like say what a step does; without them it would be another one.
    static constexpr std::array<void (*)(Step&), 8> kSimpler = {
        [](Step& step) { step.hint = CacheHint::none; },
        [](Step& step) { step.reduction = Reduction::none; },
        [](Step& step) { step.thread = 0; },
        [](Step& step) { step.count = 1; },
        [](Step& step) { step.mask = 0; },
        [](Step& step) { step.of = kernels::kOwnCta; },
        [](Step& step) { step.at = {}; },
        [](Step& step) { step.ctas = static_cast<std::uint16_t>(step.ctas & -step.ctas); },
    };
    bool simpler = false;
    for (const auto& simplify : kSimpler)
      for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        Program candidate = program_;
        simplify(candidate.steps[i]);
        simpler = keep(std::move(candidate)) || simpler;
      }
    return simpler;
  }

  bool simplify_memory() {
    static constexpr std::array<void (*)(Program&), 9> kSimpler = {
        [](Program& p) {
          p.cluster = {1, 1, 1};
        },
        [](Program& p) { p.barriers -= std::min(p.barriers, 1U); },
        [](Program& p) {
          if (!p.maps.empty()) p.maps.pop_back();
        },
        [](Program& p) {
          if (!p.regions.empty()) p.regions.pop_back();
        },
        [](Program& p) {
          for (Region& region : p.regions) region.cold = false;
        },
        [](Program& p) {
          for (Region& region : p.regions)
            if (region.islands.empty()) region.source = MemorySource::device;
        },
        [](Program& p) {
          for (kernels::Map& map : p.maps) map.spec.l2_promotion = L2Promotion::none;
        },
        [](Program& p) {
          for (kernels::Map& map : p.maps) map.spec.swizzle = Swizzle::none;
        },
        [](Program& p) { p.payload.inverted = false; },
    };
    bool simpler = false;
    for (const auto& simplify : kSimpler) {
      Program candidate = program_;
      simplify(candidate);
      simpler = keep(std::move(candidate)) || simpler;
    }
    return simpler;
  }

  Program program_;
  const Fails& fails_;
  int runs_ = 0;
};

}  // namespace

Program minimized(Program program, const Fails& fails) {
  return Minimizer(std::move(program), fails).result();
}

}  // namespace tidemark::harness
