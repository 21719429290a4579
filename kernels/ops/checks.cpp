// Follows each barrier through a program as far as it takes to end its phases, and adds the checks.
#include "kernels/ops/checks.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/meter.hpp"

namespace tidemark::kernels {
namespace {

// One barrier of one CTA.
struct Followed {
  bool alive = false;
  std::uint32_t count = 0;
  std::uint32_t pending = 0;   // arrivals of the phase below
  std::uint8_t parity = 0;     // of the first phase that no wait was seen to end
  BarrierAccount account{};    // since that phase began
  std::optional<Step> load{};  // the last that completes on it
};

struct Checks {
  const Program& program;
  std::vector<Followed> barriers;  // by CTA, then by number
  std::vector<Step> steps;

  Followed& at(std::uint32_t cta, std::uint32_t barrier) {
    return barriers[cta * program.barriers + barrier];
  }
};

std::uint16_t only(std::uint32_t cta) { return static_cast<std::uint16_t>(1U << cta); }

std::uint16_t all_ctas(const Program& program) {
  return static_cast<std::uint16_t>((1U << program.ctas) - 1);
}

bool is_settled(const Followed& barrier) {
  return barrier.pending == barrier.count && barrier.account.announced == 0 &&
         barrier.account.credited == 0;
}

void follow_wait(Followed& barrier, const Step& step) {
  const bool ends = step.parity == barrier.parity || step.parity == kCurrentPhase;
  if (!step.stops || !ends) return;
  barrier.parity ^= 1U;
  barrier.pending = barrier.count;
  barrier.account = {};
}

void follow(Checks& checks, const Step& step, std::uint32_t cta) {
  Followed& own = checks.at(cta, step.barrier);
  Followed& named = checks.at(step.of == kOwnCta ? cta : step.of, step.barrier);
  switch (step.verb) {
    case Verb::init:
      own = {.alive = true, .count = step.count, .pending = step.count};
      return;
    case Verb::arrive:
      named.pending -= std::min(named.pending, step.count);
      return;
    case Verb::arrive_expect_tx:
      named.pending -= std::min(named.pending, 1U);
      named.account.announced += step.bytes;
      return;
    case Verb::expect_tx:
      named.account.announced += step.bytes;
      return;
    case Verb::complete_tx:
      own.account.credited += step.bytes;
      return;
    case Verb::load:
      own.account.credited += tile_bytes(checks.program.maps[step.map].spec);
      own.load = step;
      return;
    case Verb::wait:
      follow_wait(own, step);
      return;
    default:
      return;
  }
}

void append_meter(Checks& checks, const Followed& barrier, std::uint32_t cta, std::uint8_t number) {
  checks.steps.push_back({.verb = Verb::meter,
                          .ctas = only(cta),
                          .barrier = number,
                          .parity = barrier.parity,
                          .count = barrier.count,
                          .pending = barrier.pending,
                          .bytes = meter_slack(barrier.account),
                          .stride = meter_stride(barrier.account),
                          .most = meter_most(barrier.account)});
  checks.steps.push_back(
      {.verb = Verb::test, .ctas = only(cta), .barrier = number, .parity = kCurrentPhase});
}

// Steps 3 and 4 for a barrier whose phase has just begun.
void append_exact_phase(Checks& checks, const Followed& barrier, std::uint32_t cta,
                        std::uint8_t number) {
  if (!barrier.load) return;
  auto& steps = checks.steps;
  steps.push_back({.verb = Verb::poison, .ctas = only(cta), .bytes = checks.program.window});
  if (barrier.count > 1)
    steps.push_back({.verb = Verb::arrive,
                     .ctas = only(cta),
                     .thread = 1,
                     .barrier = number,
                     .count = barrier.count - 1});
  steps.push_back({.verb = Verb::arrive_expect_tx,
                   .ctas = only(cta),
                   .barrier = number,
                   .bytes = tile_bytes(checks.program.maps[barrier.load->map].spec)});
  steps.push_back(*barrier.load);
  steps.back().ctas = only(cta);
  steps.push_back({.verb = Verb::wait,
                   .ctas = only(cta),
                   .barrier = number,
                   .parity = kCurrentPhase,
                   .stops = true,
                   .ns = kMustCompleteNs});
  steps.push_back({.verb = Verb::snapshot, .ctas = only(cta)});
  steps.push_back({.verb = Verb::delay, .ctas = only(cta), .ns = kLandNs});
  append_meter(checks,
               {.alive = true,
                .count = barrier.count,
                .pending = barrier.count,
                .parity = kCurrentPhase,
                .load = {}},
               cta, number);
}

// The checks of a barrier that is about to be invalidated.
void append_checks(Checks& checks, std::uint32_t cta, std::uint8_t number) {
  const Followed& barrier = checks.at(cta, number);
  if (!barrier.alive) return;
  checks.steps.push_back(
      {.verb = Verb::delay, .ctas = only(cta), .ns = is_settled(barrier) ? kLandNs : kSettleNs});
  append_meter(checks, barrier, cta, number);
  append_exact_phase(checks, barrier, cta, number);
  checks.at(cta, number).alive = false;
}

template <class Each>
void for_each_alive(Checks& checks, const Each& each) {
  for (std::uint32_t cta = 0; cta < checks.program.ctas; ++cta)
    for (std::uint32_t i = 0; i < checks.program.barriers; ++i)
      if (checks.at(cta, i).alive) each(cta, static_cast<std::uint8_t>(i), checks.at(cta, i));
}

void append_sync(Checks& checks) {
  if (checks.program.ctas > 1)
    checks.steps.push_back({.verb = Verb::cluster_sync, .ctas = all_ctas(checks.program)});
}

// The checks of all barriers that are left, and the windows.
void append_end(Checks& checks) {
  bool settled = true;
  for_each_alive(checks, [&](std::uint32_t, std::uint8_t, const Followed& barrier) {
    settled = settled && is_settled(barrier);
  });
  // Nothing is announced any more on a barrier that is metered.
  append_sync(checks);
  checks.steps.push_back(
      {.verb = Verb::delay, .ctas = all_ctas(checks.program), .ns = settled ? kLandNs : kSettleNs});
  for_each_alive(checks, [&](std::uint32_t cta, std::uint8_t i, const Followed& barrier) {
    append_meter(checks, barrier, cta, i);
  });
  // Each reader of a window observes the phase that its copies completed.
  for_each_alive(checks, [&](std::uint32_t cta, std::uint8_t i, const Followed& barrier) {
    if (barrier.load)
      checks.steps.push_back({.verb = Verb::wait,
                              .ctas = only(cta),
                              .barrier = i,
                              .parity = kLastPhase,
                              .stops = true,
                              .ns = kMustCompleteNs});
  });
  checks.steps.push_back({.verb = Verb::snapshot, .ctas = all_ctas(checks.program)});
  for_each_alive(checks, [&](std::uint32_t cta, std::uint8_t i, const Followed& barrier) {
    append_exact_phase(checks, barrier, cta, i);
  });
  // The next CTA on this SM finds plain memory instead of live barriers.
  for_each_alive(checks, [&](std::uint32_t cta, std::uint8_t i, const Followed&) {
    checks.steps.push_back({.verb = Verb::inval, .ctas = only(cta), .barrier = i});
  });
}

}  // namespace

Program with_checks(const Program& program) {
  Checks checks{.program = program,
                .barriers = std::vector<Followed>(program.ctas * program.barriers),
                .steps = {}};
  checks.steps.push_back(
      {.verb = Verb::poison, .ctas = all_ctas(program), .bytes = program.window});
  for (const Step& step : program.steps) {
    for (std::uint32_t cta = 0; cta < program.ctas; ++cta) {
      if (!takes(step, cta)) continue;
      if (step.verb == Verb::inval) append_checks(checks, cta, step.barrier);
      follow(checks, step, cta);
    }
    checks.steps.push_back(step);
  }
  append_end(checks);
  Program checked = program;
  checked.steps = std::move(checks.steps);
  return checked;
}

Program checked_program(const Op& op) {
  return std::visit(
      [](const auto& which) -> Program {
        if constexpr (requires { program_of(which); })
          return with_checks(program_of(which));
        else
          throw Error("this operation is no program");
      },
      op);
}

}  // namespace tidemark::kernels
