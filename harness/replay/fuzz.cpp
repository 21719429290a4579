// A batch of programs is the case program.random at level nightly under another seed, so that
// workers, judging and what a person types to see a row again are those of every launch.
#include "harness/replay/fuzz.hpp"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <latch>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
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

// What the lanes share. Each takes the next batch when it is done with one.
class Batches {
 public:
  Batches(std::uint64_t seed, const std::function<bool(std::uint64_t)>& go_on)
      : seed_(seed), go_on_(go_on) {}

  /// Whether batch `batch` is to be run, or to go on: behind one that failed none is, those before
  /// it are, so that the first in the order of the seed is kept. `running`: programs of it so far.
  bool may_go_on(std::uint64_t batch, std::uint32_t running) {
    const std::lock_guard lock(mutex_);
    if (running > 0) running_[batch] = running;
    std::uint64_t programs = fuzzed_.programs;
    for (const auto& [number, some] : running_) programs += some;
    if (!stopped_) stopped_ = !go_on_(programs);
    return !stopped_ && fuzzed_.unusable.empty() && batch < failed_;
  }
  std::uint64_t take() {
    const std::lock_guard lock(mutex_);
    if (returned_.empty()) return next_++;
    return returned_.extract(returned_.begin()).value();
  }
  void give_back(std::uint64_t batch) {
    const std::lock_guard lock(mutex_);
    returned_.insert(batch);
  }
  bool are_returned() const { return !returned_.empty(); }

  /// The other lanes start behind the first: a GPU may take one process alone.
  void begin_others() {
    if (!others_begun_.test_and_set()) first_begun_.count_down();
  }
  void await_first() const { first_begun_.wait(); }
  std::uint64_t seed_of(std::uint64_t batch) const { return splitmix64(seed_ + batch); }

  void add(std::uint64_t batch, const std::vector<Op>& rows) {
    const std::lock_guard lock(mutex_);
    running_.erase(batch);
    fuzzed_.programs += rows.size();
    for (const Op& row : rows) fuzzed_.coverage.add(std::get<Program>(row));
  }
  void fail(std::uint64_t batch, FailedProgram failed) {
    const std::lock_guard lock(mutex_);
    if (batch >= failed_) return;
    failed_ = batch;
    fuzzed_.failed = std::move(failed);
  }
  void give_up(std::string why) {
    const std::lock_guard lock(mutex_);
    fuzzed_.unusable = std::move(why);
  }

  Fuzzed take_all() { return std::move(fuzzed_); }

 private:
  const std::uint64_t seed_;
  const std::function<bool(std::uint64_t)>& go_on_;
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::set<std::uint64_t> returned_;
  std::latch first_begun_{1};
  std::atomic_flag others_begun_;
  Fuzzed fuzzed_;
  std::map<std::uint64_t, std::uint32_t> running_;  // programs of batches that are not over
  std::uint64_t failed_ = std::numeric_limits<std::uint64_t>::max();
  bool stopped_ = false;
};

// One worker at a time, and the batches that it runs.
class Lane {
 public:
  Lane(const ProgramPlace& place, Batches& batches, bool first)
      : place_(place), batches_(batches), first_(first) {
    place_.setup.options.level = Level::nightly;
  }
  ~Lane() { batches_.begin_others(); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void run() {
    if (!first_) batches_.await_first();
    while (!over_) {
      const std::uint64_t batch = batches_.take();
      if (!batches_.may_go_on(batch, 0)) return;
      run_batch(batch);
    }
  }

 private:
  void run_batch(std::uint64_t batch) {
    const std::uint64_t seed = batches_.seed_of(batch);
    BatchEnd end = carried_out(batch, false);
    // Programs that shared a launch cannot tell which of them ended it.
    const bool spent = end.early ? end.early->kind != ProgramEnd::Kind::refused
                                 : end.outcome && end.outcome->suspects > 0;
    std::string together;  // what they came to, which one by one they might not
    if (spent && batches_.may_go_on(batch, 0)) {
      const bool from_outside = end.early && end.early->kind == ProgramEnd::Kind::killed;
      if (!from_outside) together = end.early ? end.early->reason : end.outcome->reason;
      BatchEnd again = carried_out(batch, true);
      if (again.early || again.outcome) end = std::move(again);  // else time is over
    }
    if (end.early) return keep_early(batch, *end.early);
    if (!end.outcome) return;  // given up
    const Outcome& outcome = *end.outcome;
    served_ = true;
    batches_.add(batch, rows_of(seed, outcome.rows_run));
    if (outcome.judgement == Judgement::tool_error) return batches_.give_up(outcome.reason);
    if (outcome.judgement == Judgement::pass || outcome.judgement == Judgement::skip) {
      if (!together.empty())
        batches_.fail(batch, {.seed = seed,
                              .row = 0,
                              .program = {},
                              .reason = together + "; one by one its programs passed"});
      return;
    }
    FailedProgram failed{.seed = seed, .row = 0, .program = {}, .reason = outcome.reason};
    if (!outcome.miscompares.empty()) {
      const Miscompare& first = outcome.miscompares.front();
      failed.row = first.row;
      failed.program = program_from_json(first.parameters, kDrawn);
    }
    batches_.fail(batch, std::move(failed));
  }

  void keep_early(std::uint64_t batch, const ProgramEnd& end) {
    worker_.reset();
    over_ = true;
    if (end.kind == ProgramEnd::Kind::crashed || end.kind == ProgramEnd::Kind::hung)
      batches_.fail(
          batch, {.seed = batches_.seed_of(batch), .row = 0, .program = {}, .reason = end.reason});
    else if (first_ || served_)
      batches_.give_up(end.reason);
    else  // a GPU may not take several processes
      batches_.give_back(batch);
  }

  // Sends the batch to a worker that can be used.
  BatchEnd carried_out(std::uint64_t batch, bool alone) {
    if (alone) worker_.reset();
    WorkerDeadline deadline(worker_ ? kSilent : place_.ready_s);
    if (!worker_) {
      worker_ = std::make_unique<WorkerProcess>(place_.start);
      worker_->send(place_.setup);
    }
    worker_->send(RunOrder{.case_name = kDrawn,
                           .attempt = alone ? 2U : 1U,
                           .alone = alone,
                           .seed = batches_.seed_of(batch)});
    BatchEnd end;
    end.early = ended_before(*worker_, deadline, [&](Said& said) {
      deadline.begin(kSilent);
      batches_.begin_others();
      if (auto* outcome = std::get_if<SaidOutcome>(&said))
        end.outcome = std::move(outcome->outcome);
      const auto* progress = std::get_if<SaidProgress>(&said);
      return end.outcome || !batches_.may_go_on(batch, progress != nullptr ? progress->done : 0);
    });
    if (!end.outcome || end.outcome->device_spent) worker_.reset();
    return end;
  }

  // The first `count` of the batch, drawn once more.
  std::vector<Op> rows_of(std::uint64_t seed, std::uint32_t count) const {
    std::vector<Op> rows = case_named(kDrawn)->rows(
        {.level = Level::nightly, .seed = case_seed(seed, kDrawn), .device = place_.kind});
    rows.resize(std::min<std::size_t>(count, rows.size()));
    return rows;
  }

  ProgramPlace place_;
  Batches& batches_;
  const bool first_;
  bool served_ = false, over_ = false;
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

Fuzzed fuzz(const ProgramPlace& place, std::uint64_t seed, unsigned workers,
            const std::function<bool(std::uint64_t programs)>& go_on) {
  ::signal(SIGPIPE, SIG_IGN);  // a worker that is gone must not take this process along
  Batches batches(seed, go_on);
  const auto run_lane = [&](bool first) {
    try {
      Lane(place, batches, first).run();
    } catch (const std::exception& error) {
      batches.give_up(error.what());
    }
  };
  std::vector<std::future<void>> lanes;
  lanes.reserve(workers);
  for (unsigned i = 0; i < workers; ++i)
    lanes.push_back(std::async(std::launch::async, run_lane, i == 0));
  for (std::future<void>& lane : lanes) lane.wait();
  if (batches.are_returned()) run_lane(true);  // to lanes that had all ended
  return batches.take_all();
}

}  // namespace tidemark
