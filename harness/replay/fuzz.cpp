// A batch of programs is the case program.random at level nightly under another seed, so that
// workers, judging and what a person types to see a row again are those of every launch.
#include "harness/replay/fuzz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "reports/base/words.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

constexpr const char* kDrawn = "program.random";
constexpr double kSilent = 60;  // a batch says several times a second how far it is

// How a batch ended: one of the two is there, unless it was given up.
struct BatchEnd {
  std::optional<Outcome> outcome;
  std::optional<ProgramEnd> early;  // of its worker
};

class Batches {
 public:
  Batches(const ProgramPlace& place, const std::function<bool(std::uint64_t)>& go_on)
      : place_(place), go_on_(go_on) {
    place_.setup.options.level = Level::nightly;
  }

  Fuzzed run(std::uint64_t seed) {
    for (std::uint64_t batch = 0; !is_over() && may_go_on(fuzzed_.programs); ++batch)
      run_batch(splitmix64(seed + batch));
    return std::move(fuzzed_);
  }

 private:
  bool is_over() const { return stopped_ || fuzzed_.failed || !fuzzed_.unusable.empty(); }

  bool may_go_on(std::uint64_t programs) {
    if (!stopped_) stopped_ = !go_on_(programs);
    return !stopped_;
  }

  void run_batch(std::uint64_t seed) {
    BatchEnd end = carried_out(seed, false);
    // Programs that shared a launch cannot tell which of them ended it.
    const bool spent = end.early ? end.early->kind != ProgramEnd::Kind::refused
                                 : end.outcome && end.outcome->suspects > 0;
    if (spent && may_go_on(fuzzed_.programs)) end = carried_out(seed, true);
    if (end.early) return keep_early(seed, *end.early);
    if (!end.outcome) return;  // given up
    const Outcome& outcome = *end.outcome;
    fuzzed_.programs += outcome.rows_run;
    cover(seed, outcome.rows_run);
    if (outcome.judgement == Judgement::tool_error) fuzzed_.unusable = outcome.reason;
    if (outcome.judgement == Judgement::pass || outcome.judgement == Judgement::skip ||
        outcome.judgement == Judgement::tool_error)
      return;
    fuzzed_.failed = FailedProgram{.seed = seed, .row = 0, .program = {}, .reason = outcome.reason};
    if (outcome.miscompares.empty()) return;
    const Miscompare& first = outcome.miscompares.front();
    fuzzed_.failed->row = first.row;
    fuzzed_.failed->program = program_from_json(first.parameters, kDrawn);
  }

  void keep_early(std::uint64_t seed, const ProgramEnd& end) {
    worker_.reset();
    if (end.kind == ProgramEnd::Kind::crashed || end.kind == ProgramEnd::Kind::hung)
      fuzzed_.failed = FailedProgram{.seed = seed, .row = 0, .program = {}, .reason = end.reason};
    else
      fuzzed_.unusable = end.reason;
  }

  // Sends the batch to a worker that can be used.
  BatchEnd carried_out(std::uint64_t seed, bool alone) {
    if (alone) worker_.reset();
    WorkerDeadline deadline(worker_ ? kSilent : place_.ready_s);
    if (!worker_) {
      worker_ = std::make_unique<WorkerProcess>(place_.start);
      worker_->send(place_.setup);
    }
    worker_->send(RunOrder{.case_name = kDrawn, .alone = alone, .seed = seed});
    BatchEnd end;
    end.early = ended_before(*worker_, deadline, [&](Said& said) {
      deadline.begin(kSilent);
      if (auto* outcome = std::get_if<SaidOutcome>(&said))
        end.outcome = std::move(outcome->outcome);
      std::uint64_t so_far = fuzzed_.programs;
      if (const auto* progress = std::get_if<SaidProgress>(&said)) so_far += progress->done;
      return end.outcome || !may_go_on(so_far);
    });
    if (!end.outcome || end.outcome->device_spent) worker_.reset();
    return end;
  }

  // The first `rows` of the batch, drawn once more.
  void cover(std::uint64_t seed, std::uint32_t rows) {
    const RunContext context{
        .level = Level::nightly, .seed = case_seed(seed, kDrawn), .device = place_.kind};
    const std::vector<Op> drawn = case_named(kDrawn)->rows(context);
    for (std::size_t row = 0; row < std::min<std::size_t>(rows, drawn.size()); ++row)
      fuzzed_.coverage.add(std::get<Program>(drawn[row]));
  }

  ProgramPlace place_;
  const std::function<bool(std::uint64_t)>& go_on_;
  Fuzzed fuzzed_;
  bool stopped_ = false;
  std::unique_ptr<WorkerProcess> worker_;
};

}  // namespace

void Coverage::add(const Program& program) {
  for (const Step& step : program.steps) {
    ++steps_[static_cast<std::size_t>(step.verb)];
    std::array<std::uint32_t, 6> one{static_cast<std::uint32_t>(step.verb)};
    if (info_of(step.verb).map) {
      const Map& map = program.maps[step.map];
      one = {one[0], map.spec.rank, static_cast<std::uint32_t>(map.spec.type),
             static_cast<std::uint32_t>(map.spec.swizzle),
             static_cast<std::uint32_t>(program.regions[map.region].source)};
    }
    one[5] = ctas_of(program);
    combinations_.insert(one);
  }
}

std::string Coverage::text() const {
  std::vector<std::string> drawn, never;
  for (const VerbInfo& info : kVerbTable) {
    const std::uint64_t steps = steps_[static_cast<std::size_t>(info.verb)];
    if (steps == 0)
      never.emplace_back(info.name);
    else
      drawn.push_back(fmt::format("{} {}", info.name, grouped(steps)));
  }
  return fmt::format(
      "steps: {}\nnever drawn: {}\n{} of verb, rank, type, swizzle, memory and CTAs\n",
      some_of(drawn, drawn.size(), "verb"), some_of(never, never.size(), "verb"),
      plural(combinations_.size(), "combination"));
}

Fuzzed fuzz(const ProgramPlace& place, std::uint64_t seed,
            const std::function<bool(std::uint64_t programs)>& go_on) {
  return Batches(place, go_on).run(seed);
}

}  // namespace tidemark
