// Reads and bounds programs: a file may come from anywhere, and ask for more memory than there is.
#include "harness/replay/given_program.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "harness/base/errors.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "reports/base/disk.hpp"

namespace tidemark {

namespace {

constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;
constexpr std::size_t kMostSteps = 10'000;
constexpr std::uint32_t kMostWindow = 232'448;  // shared memory of a CTA on sm_90
/// A result travels as hexadecimal text in a message of at most 64 MiB.
constexpr std::uint64_t kMostResultBytes = std::uint64_t{24} << 20;

// Bytes that a device hands back: regions and snapshots.
std::uint64_t result_bytes(const Program& program) {
  std::uint64_t bytes = 0;
  for (const Region& region : program.regions) {
    if (region.bytes > kMostResultBytes) return region.bytes;  // their sum could wrap
    bytes += region.bytes;
  }
  for (const Step& step : program.steps)
    if (step.verb == Verb::snapshot)
      bytes += std::uint64_t{program.window} * static_cast<unsigned>(std::popcount(step.ctas));
  return bytes;
}

std::string too_large(const Program& program) {
  if (program.window > kMostWindow)
    return fmt::format("a window of {} bytes; take at most {}", program.window, kMostWindow);
  if (program.steps.size() > kMostSteps)
    return fmt::format("{} steps with its checks; take at most {}", program.steps.size(),
                       kMostSteps);
  if (const std::uint64_t bytes = result_bytes(program); bytes > kMostResultBytes)
    return fmt::format("{} bytes of regions and snapshots; take at most {}", bytes,
                       kMostResultBytes);
  return "";
}

/// What no tensor map can be: the driver would not be at fault.
std::string unfit_map(const Program& program) {
  for (std::size_t i = 0; i < program.maps.size(); ++i) {
    const TensorMapSpec& spec = program.maps[i].spec;
    const std::string why = spec.bulk ? "" : refusal_of(spec);
    if (!why.empty()) return fmt::format("map {}: {}", i, why);
  }
  return "";
}

// Throws where the program cannot be run, checks or not.
void check(const Program& program, const std::string& name) {
  std::string why = unfit_map(program);
  if (!why.empty()) throw UsageError(fmt::format("{}: {}", name, why));
  why = unsound(program);
  constexpr std::string_view kPrefix = "program: ";
  if (why.starts_with(kPrefix)) why.erase(0, kPrefix.size());
  if (!why.empty()) throw UsageError(fmt::format("{}: the program is not sound: {}", name, why));
  why = too_large(program);
  if (!why.empty()) throw UsageError(fmt::format("{}: the program is too large: {}", name, why));
}

// Of the steps of the file, where these are why: the checks move them.
std::string why_not(const Program& plain, const Error& with_checks) {
  try {
    (void)predict(plain);
  } catch (const Error& error) {
    return error.what();
  }
  return with_checks.what();
}

}  // namespace

PreparedProgram prepared(Program program, const std::string& name) {
  check(program, name);
  PreparedProgram made{.program = std::move(program), .checked = {}, .expected = {}};
  made.checked = with_checks(made.program);
  check(made.checked, name);
  try {
    made.expected = predict(made.checked);
  } catch (const Error& error) {
    throw UsageError(
        fmt::format("{}: the oracle cannot predict it: {}", name, why_not(made.program, error)));
  }
  return made;
}

Program given_program(const std::string& path) {
  const std::string text = file_text(path, kMostFileBytes, path, "give a program's file");
  try {
    return program_from_json(text, path);
  } catch (const Error& refused) {
    throw UsageError(refused.what());
  }
}

// Delta debugging: large cuts first, since most steps have no part in a failure.

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
        [](Step& step) { step.of = kOwnCta; },
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
    static constexpr std::array<void (*)(Program&), 10> kSimpler = {
        [](Program& p) {
          p.cluster = {1, 1, 1};
        },
        [](Program& p) { p.barriers -= std::min(p.barriers, 1U); },
        [](Program& p) {
          if (!p.maps.empty()) p.maps.pop_back();
        },
        [](Program& p) {
          if (!p.products.empty()) p.products.pop_back();
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
          for (Map& map : p.maps) map.spec.l2_promotion = L2Promotion::none;
        },
        [](Program& p) {
          for (Map& map : p.maps) map.spec.swizzle = Swizzle::none;
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

}  // namespace tidemark
