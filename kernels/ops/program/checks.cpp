// Follows each barrier through a program as far as it takes to end its phases, and adds the checks.
#include "kernels/ops/program/checks.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

// One barrier of one CTA.
struct Followed {
  bool alive = false;
  std::uint32_t count = 0;
  std::uint32_t pending = 0;  // arrivals of the phase below
  std::uint8_t parity = 0;    // of the first phase that no wait was seen to end
  BarrierAccount account{};   // since that phase began
  // The last copies that complete on it, each by the one CTA that issues it. Where two land in the
  // same place, the later.
  std::vector<Step> copies{};
  bool seen = false;  // to complete: the next copy begins a new list
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
  barrier.seen = true;
}

bool overlap(const Landing& a, const Landing& b) { return a.begin < b.end && b.begin < a.end; }

// From the window or the registers of one CTA to the window of any.
bool is_between_ctas(const Step& copy) {
  return copy.verb == Verb::send || copy.verb == Verb::st_async || copy.verb == Verb::red_async;
}

// Of reductions whose order does not matter all stay where they overlap, unless they are the same.
bool add_up(const Step& a, const Step& b) {
  return !(a == b) && a.verb != Verb::load && a.verb == b.verb && a.reduction == b.reduction &&
         a.type == b.type && commutes(a.reduction, a.type);
}

void follow_copy(Checks& checks, const Step& step, std::uint32_t issuer) {
  const Landing landing = landing_of(checks.program, step, issuer);
  Step copy = step;
  copy.ctas = only(issuer);
  for (std::uint32_t cta = 0; cta < ctas_of(checks.program); ++cta) {
    if ((landing.ctas >> cta & 1U) == 0) continue;
    Followed& barrier = checks.at(cta, step.barrier);
    barrier.account.credited += landing.credited;
    if (std::exchange(barrier.seen, false)) barrier.copies.clear();
    std::erase_if(barrier.copies, [&](const Step& other) {
      return !add_up(copy, other) && overlap(landing, landing_of(checks.program, other, cta));
    });
    barrier.copies.push_back(copy);
  }
}

// Nothing can be copied by a map that is gone.
void follow_replace(Checks& checks, const Step& step) {
  for (Followed& barrier : checks.barriers)
    std::erase_if(barrier.copies, [&](const Step& copy) {
      return copy.verb == Verb::load && copy.map == checks.program.maps[step.map].from;
    });
}

void follow(Checks& checks, const Step& step, std::uint32_t cta) {
  if (checks.barriers.empty()) return;  // a program of stores alone
  Followed& own = checks.at(cta, step.barrier);
  Followed& named = checks.at(step.of == kOwnCta ? cta : step.of, step.barrier);
  switch (step.verb) {
    case Verb::init:
      own = {.alive = true, .count = step.count, .pending = step.count};
      return;
    case Verb::arrive_token:
    case Verb::pending_count:
      own.pending -= std::min(own.pending, step.count);
      return;
    case Verb::arrive:
      named.pending -= std::min(named.pending, step.count);
      return;
    case Verb::arrive_drop:
      named.pending -= std::min(named.pending, step.count);
      named.count -= std::min(named.count, step.count);
      return;
    case Verb::arrive_expect_tx:
      named.pending -= std::min(named.pending, 1U);
      named.account.announced += step.bytes;
      return;
    case Verb::expect_tx:
      named.account.announced += step.bytes;
      return;
    case Verb::complete_tx:
      named.account.credited += step.bytes;
      return;
    case Verb::wait:
      follow_wait(own, step);
      return;
    case Verb::replace:
      follow_replace(checks, step);
      return;
    case Verb::load:
    case Verb::send:
    case Verb::st_async:
    case Verb::red_async:
      follow_copy(checks, step, cta);
      return;
    case Verb::inval:  // expanded() has checked it before
    case Verb::test:
    case Verb::meter:
    case Verb::prefetch:
    case Verb::store:
    case Verb::commit:
    case Verb::wait_group:
    case Verb::wait_group_read:
    case Verb::cluster_sync:
    case Verb::delay:
    case Verb::acquire:
    case Verb::fill:
    case Verb::add:
    case Verb::copy:
    case Verb::place_rows:
    case Verb::read_columns:
    case Verb::look:
    case Verb::poison:
    case Verb::write:
    case Verb::read:
    case Verb::missing:
    case Verb::wgmma:
    case Verb::snapshot:
    case Verb::leave:
      return;
  }
}

// Adds a step; to the one before it, where that differs by its CTAs only.
void append(Checks& checks, const Step& step) {
  if (!checks.steps.empty()) {
    Step& last = checks.steps.back();
    Step alike = step;
    alike.ctas = last.ctas;
    if (alike == last && (last.ctas & step.ctas) == 0 && step.mask == 0) {
      last.ctas |= step.ctas;
      return;
    }
  }
  checks.steps.push_back(step);
}

template <class Each>
void for_each_of(std::uint16_t ctas, const Each& each) {
  for (std::uint32_t cta = 0; cta < kProgramCtas; ++cta)
    if ((ctas >> cta & 1U) != 0) each(cta);
}

void append_sync(Checks& checks) {
  if (ctas_of(checks.program) > 1)
    append(checks, {.verb = Verb::cluster_sync, .ctas = all_ctas(checks.program)});
}

void append_meter(Checks& checks, const Followed& barrier, std::uint32_t cta, std::uint8_t number) {
  append(checks, {.verb = Verb::meter,
                  .ctas = only(cta),
                  .barrier = number,
                  .parity = barrier.parity,
                  .count = barrier.count,
                  .pending = barrier.pending,
                  .bytes = meter_slack(barrier.account),
                  .stride = meter_stride(barrier.account),
                  .most = meter_most(barrier.account)});
}

// The phase behind a meter is open.
void append_test(Checks& checks, std::uint16_t ctas, std::uint8_t number) {
  append(checks, {.verb = Verb::test, .ctas = ctas, .barrier = number, .parity = kCurrentPhase});
}

// What step 3 copies once more.
struct ExactPhase {
  std::uint16_t served = 0;   // CTAs that it credits
  std::uint16_t senders = 0;  // which send poison then
  std::vector<Step> copies;
  bool shared = false;  // between CTAs
};

// Takes off the copies between CTAs that cannot be repeated: where not all CTAs take part, and
// sends from where a copy of this phase lands.
void keep_repeatable(Checks& checks, std::uint8_t number, std::uint16_t ctas) {
  const auto is_written = [&](const Step& send) {
    if (send.verb != Verb::send) return false;
    const Landing source{.begin = send.offset, .end = send.offset + send.bytes};
    const auto sender = static_cast<std::uint32_t>(std::countr_zero(send.ctas));
    const std::vector<Step>& copies = checks.at(sender, number).copies;
    return std::any_of(copies.begin(), copies.end(), [&](const Step& copy) {
      return overlap(source, landing_of(checks.program, copy, sender));
    });
  };
  std::vector<std::vector<Step>> kept(kProgramCtas);
  for_each_of(ctas, [&](std::uint32_t cta) {
    for (const Step& copy : checks.at(cta, number).copies)
      if (!is_between_ctas(copy) || (ctas == all_ctas(checks.program) && !is_written(copy)))
        kept[cta].push_back(copy);
  });
  for_each_of(ctas,
              [&](std::uint32_t cta) { checks.at(cta, number).copies = std::move(kept[cta]); });
}

// A multicast goes to those CTAs alone whose last loads it is among: another one of its mask may
// have had others since, and does not expect its bytes.
ExactPhase exact_phase_of(Checks& checks, std::uint8_t number, std::uint16_t ctas) {
  keep_repeatable(checks, number, ctas);
  ExactPhase phase;
  std::vector<Step> found;  // as they were issued
  for_each_of(ctas, [&](std::uint32_t cta) {
    for (Step copy : checks.at(cta, number).copies) {
      phase.served |= only(cta);
      // The other CTAs may be anywhere.
      if (ctas != all_ctas(checks.program)) {
        copy.ctas = only(cta);
        copy.mask = 0;
      }
      if (copy.verb == Verb::send) phase.senders |= copy.ctas;
      phase.shared = phase.shared || copy.mask != 0 || is_between_ctas(copy);
      const auto known = std::find(found.begin(), found.end(), copy) - found.begin();
      if (known == std::ssize(found)) {
        found.push_back(copy);
        phase.copies.push_back(copy);
        phase.copies.back().mask = 0;
      }
      if (copy.mask != 0) phase.copies[static_cast<std::size_t>(known)].mask |= only(cta);
    }
  });
  return phase;
}

void append_arming(Checks& checks, std::uint8_t number, const ExactPhase& phase) {
  const std::uint16_t served = phase.served;
  append(checks, {.verb = Verb::poison,
                  .ctas = static_cast<std::uint16_t>(served | phase.senders),
                  .bytes = checks.program.window});
  for_each_of(served, [&](std::uint32_t cta) {
    if (const std::uint32_t count = checks.at(cta, number).count; count > 1)
      append(checks, {.verb = Verb::arrive,
                      .ctas = only(cta),
                      .thread = 1,
                      .barrier = number,
                      .count = count - 1});
  });
  for_each_of(served, [&](std::uint32_t cta) {
    std::uint32_t bytes = 0;
    for (const Step& copy : checks.at(cta, number).copies)
      bytes += landing_of(checks.program, copy, cta).credited;
    append(checks,
           {.verb = Verb::arrive_expect_tx, .ctas = only(cta), .barrier = number, .bytes = bytes});
  });
}

// Steps 3 and 4 for the barriers of `ctas` whose phase has just begun.
void append_exact_phase(Checks& checks, std::uint8_t number, std::uint16_t ctas) {
  const ExactPhase phase = exact_phase_of(checks, number, ctas);
  if (phase.served == 0) return;
  append_arming(checks, number, phase);
  if (phase.shared) append_sync(checks);
  for (const Step& copy : phase.copies) append(checks, copy);
  append(checks, {.verb = Verb::wait,
                  .ctas = phase.served,
                  .barrier = number,
                  .parity = kCurrentPhase,
                  .stops = true,
                  .ns = kMustCompleteNs});
  append(checks, {.verb = Verb::snapshot, .ctas = phase.served});
  const std::uint16_t metered = phase.shared ? ctas : phase.served;
  const auto others = static_cast<std::uint16_t>(metered & ~phase.served);
  if (phase.shared) append_sync(checks);
  append(checks, {.verb = Verb::delay, .ctas = metered, .ns = kLandNs});
  if (others != 0) append(checks, {.verb = Verb::snapshot, .ctas = others});
  for_each_of(metered, [&](std::uint32_t cta) {
    const std::uint32_t count = checks.at(cta, number).count;
    append_meter(checks, {.alive = true, .count = count, .pending = count, .parity = kCurrentPhase},
                 cta, number);
  });
  append_test(checks, metered, number);
}

// The checks of a barrier that is about to be invalidated.
void append_checks(Checks& checks, std::uint32_t cta, std::uint8_t number) {
  const Followed& barrier = checks.at(cta, number);
  if (!barrier.alive) return;
  append(checks,
         {.verb = Verb::delay, .ctas = only(cta), .ns = is_settled(barrier) ? kLandNs : kSettleNs});
  append_meter(checks, barrier, cta, number);
  append_test(checks, only(cta), number);
  append_exact_phase(checks, number, only(cta));
  checks.at(cta, number).alive = false;
}

template <class Each>
void for_each_alive(Checks& checks, const Each& each) {
  for (std::uint32_t cta = 0; cta < ctas_of(checks.program); ++cta)
    for (std::uint32_t i = 0; i < checks.program.barriers; ++i)
      if (checks.at(cta, i).alive) each(cta, static_cast<std::uint8_t>(i), checks.at(cta, i));
}

std::uint16_t alive_ctas(Checks& checks, std::uint8_t number) {
  std::uint16_t ctas = 0;
  for_each_of(all_ctas(checks.program), [&](std::uint32_t cta) {
    if (checks.at(cta, number).alive) ctas |= only(cta);
  });
  return ctas;
}

// The checks of all barriers that are left, and the windows.
void append_end(Checks& checks) {
  bool settled = true;
  for_each_alive(checks, [&](std::uint32_t, std::uint8_t, const Followed& barrier) {
    settled = settled && is_settled(barrier);
  });
  // Nothing is announced any more on a barrier that is metered.
  append_sync(checks);
  append(
      checks,
      {.verb = Verb::delay, .ctas = all_ctas(checks.program), .ns = settled ? kLandNs : kSettleNs});
  for (std::uint8_t i = 0; i < checks.program.barriers; ++i) {
    const std::uint16_t alive = alive_ctas(checks, i);
    if (alive == 0) continue;
    for_each_of(alive, [&](std::uint32_t cta) { append_meter(checks, checks.at(cta, i), cta, i); });
    append_test(checks, alive, i);
  }
  // Each reader of a window observes the phase that its copies completed.
  for_each_alive(checks, [&](std::uint32_t cta, std::uint8_t i, const Followed& barrier) {
    if (!barrier.copies.empty())
      append(checks, {.verb = Verb::wait,
                      .ctas = only(cta),
                      .barrier = i,
                      .parity = kLastPhase,
                      .stops = true,
                      .ns = kMustCompleteNs});
  });
  append(checks, {.verb = Verb::snapshot, .ctas = all_ctas(checks.program)});
  // Only then does a sender know that its window was read.
  const bool sent = std::any_of(checks.steps.begin(), checks.steps.end(),
                                [](const Step& step) { return step.verb == Verb::send; });
  if (sent) append_sync(checks);
  for (std::uint8_t i = 0; i < checks.program.barriers; ++i)
    append_exact_phase(checks, i, alive_ctas(checks, i));
  // The next CTA on this SM finds plain memory instead of live barriers.
  for_each_alive(checks, [&](std::uint32_t cta, std::uint8_t i, const Followed&) {
    append(checks, {.verb = Verb::inval, .ctas = only(cta), .barrier = i});
  });
}

}  // namespace

Program with_checks(const Program& program) {
  Checks checks{.program = program,
                .barriers = std::vector<Followed>(ctas_of(program) * program.barriers),
                .steps = {}};
  checks.steps.push_back(
      {.verb = Verb::poison, .ctas = all_ctas(program), .bytes = program.window});
  bool ended = false;
  for (const Step& step : program.steps) {
    // Behind it nothing can be checked any more.
    if (step.verb == Verb::leave) {
      append_end(checks);
      ended = true;
    }
    for (std::uint32_t cta = 0; cta < ctas_of(program); ++cta) {
      if (!takes(step, cta)) continue;
      if (step.verb == Verb::inval) append_checks(checks, cta, step.barrier);
      follow(checks, step, cta);
    }
    checks.steps.push_back(step);
  }
  if (!ended) append_end(checks);
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

}  // namespace tidemark
