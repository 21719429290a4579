// Runs programs that are drawn at random until time is over or one fails.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "harness/replay/judged_program.hpp"
#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// What programs had in them, by what they say and not by what they did.
class Coverage {
 public:
  void add(const Program& program);
  /// "steps: load 4,012, store 1,377, ...", "not drawn: meter, ...", and how many different
  /// combinations of verb, rank, type, swizzle, memory and CTAs there were.
  std::string text() const;

 private:
  std::array<std::uint64_t, kVerbs> steps_{};
  std::set<std::array<std::uint32_t, 6>> combinations_;
};

/// A program that failed. Programs are rows of program.random, so that `run --cases` makes it
/// again.
struct FailedProgram {
  std::uint64_t seed = 0;  // of a launch at level nightly
  std::uint32_t row = 0;
  std::optional<Program> program;  // none: its process died, and which row it was is not known
  std::string reason;              // one line
};

struct Fuzzed {
  std::uint64_t programs = 0;  // that ran
  Coverage coverage;
  std::optional<FailedProgram> failed;
  std::string unusable;  // why the device could not be used (any more); empty: it could
};

/// Draws programs from `seed` on and runs them at `place` in so many workers, until `go_on` is
/// false or one fails. The same seed draws the same programs in the same order, on every machine,
/// and of those that fail the first is kept; how many run behind it differs. `go_on` is asked at
/// least each time that a worker says something, by one thread at a time, and hears how many
/// programs ran so far. A worker that cannot be had is no failure: the first makes the device
/// unusable, another one's batches go to those that are left.
Fuzzed fuzz(const ProgramPlace& place, std::uint64_t seed, unsigned workers,
            const std::function<bool(std::uint64_t programs)>& go_on);

}  // namespace tidemark
