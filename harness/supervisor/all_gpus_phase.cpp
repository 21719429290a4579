// One round a case: all slots run it, or the first slot that breaks by itself ends the round for
// all. A slot that waited for others in vain is judged when all have ended.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/base/clock.hpp"
#include "harness/relay/relay.hpp"
#include "harness/supervisor/launch_state.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {

Ending waiter_ending(Ending waiter, const std::string& culprit) {
  if (culprit.empty()) return waiter;
  waiter.reason = culprit + "; " + waiter.reason;
  const Outcome& outcome = *waiter.outcome;
  // The row that waited counts among them.
  if (outcome.rows_failed > 1) {
    waiter.verdict = Verdict::fail;
    return waiter;
  }
  waiter.verdict = Verdict::not_run;
  waiter.rows_planned = outcome.rows_planned;
  waiter.rows_run = outcome.rows_run - outcome.rows_failed;
  waiter.outcome.reset();
  return waiter;
}

namespace {

using Json = nlohmann::json;

constexpr double kPanelWait = 0.0002;  // seconds: panels move between these
/// Between the first numbers of two launches of one command: what comes late of the one before is
/// known by its number.
constexpr std::uint32_t kNumbersOfLaunch = 1U << 20;
constexpr double kJoinSeconds = 45;  // to join one communicator; less than any case's deadline

/// What every rank knows of every slot between two rounds.
struct SlotStatus {
  Verdict verdict = Verdict::not_run;
  bool usable = true;
  bool alive = false;         // its worker waits for the next case
  bool waited = false;        // Ending::waited_for_others()
  bool from_outside = false;  // Ending::from_outside()
};

bool breaks_round(Verdict verdict) {
  return verdict != Verdict::pass && verdict != Verdict::fail && verdict != Verdict::skip;
}

class Rounds {
 public:
  explicit Rounds(LaunchState& state)
      : state_(state),
        mover_(state.mesh, ranks_of(state), HandOverDelays::from_environment(state.mesh.rank())),
        epoch_((state.number - 1) * kNumbersOfLaunch),
        round_((state.number - 1) * kNumbersOfLaunch) {}

  std::string run() {
    std::string trouble = meet_at_start();
    for (const Case* which : state_.plan.all_gpus) {
      if (state_.stop.check()) return trouble;
      // Of these all slots have an answer or none.
      if (state_.answered.contains({std::string(which->name), 0})) continue;
      if (trouble.empty()) trouble = unusable();
      std::string reason = trouble.empty() ? ground_missing(*which) : trouble;
      if (!reason.empty()) {
        for (LocalSlot& local : state_.mine) say_not_run(local, *which, reason);
        continue;
      }
      trouble = run_case_together(*which);
    }
    // Every slot that is lost has said so with its own results; only a rank that is gone is news.
    return gone_;
  }

 private:
  static std::vector<std::uint32_t> ranks_of(const LaunchState& state) {
    std::vector<std::uint32_t> ranks;
    for (const SlotPlace& place : state.places) ranks.push_back(place.rank);
    return ranks;
  }

  std::size_t slots() const { return state_.places.size(); }
  bool together() const { return slots() > 1; }

  Patience patience() {
    return {.silence_s = 60, .total_s = 86400, .meanwhile = [this] {
              step_slots();
              mover_.step();
              return turn(state_, 0);
            }};
  }

  // ---- what all ranks know -----------------------------------------------------------------

  /// What passed where, and which slots are still usable.
  std::string meet_at_start() {
    Json mine = Json::array();
    for (const LocalSlot& local : state_.mine) {
      mine.push_back({{"slot", local.slot.number()},
                      {"passed", local.passed},
                      {"usable", !local.slot.lost().has_value()}});
    }
    passed_.resize(slots());
    status_.resize(slots());
    return exchange(mine, [this](const Json& told) {
      const std::uint32_t slot = told.at("slot");
      passed_.at(slot) = told.at("passed").get<std::set<std::string>>();
      status_.at(slot).usable = told.at("usable");
    });
  }

  /// Also the barrier between rounds: no rank begins the next one while another is still at this.
  std::string meet_after_round() {
    Json mine = Json::array();
    for (const LocalSlot& local : state_.mine) {
      const std::uint32_t slot = local.slot.number();
      const Ending& ending = endings_.at(slot);
      mine.push_back({{"slot", slot},
                      {"verdict", static_cast<int>(ending.verdict)},
                      {"usable", !local.slot.lost().has_value()},
                      {"alive", local.slot.worker() != nullptr},
                      {"waited", waiters_.contains(slot)},
                      {"from_outside", ending.from_outside()}});
    }
    std::string trouble = exchange(mine, [this](const Json& told) {
      status_.at(told.at("slot").get<std::uint32_t>()) = {
          .verdict = static_cast<Verdict>(told.at("verdict").get<int>()),
          .usable = told.at("usable"),
          .alive = told.at("alive"),
          .waited = told.at("waited"),
          .from_outside = told.at("from_outside")};
    });
    if (culprit_.empty()) culprit_ = trouble.empty() ? culprit_of_round() : trouble;
    return trouble;
  }

  /// Every rank's list to every rank. Returns which ranks are silent; empty when none is.
  template <typename Take>
  std::string exchange(const Json& mine, Take take) {
    const Gathered all = state_.mesh.allgather(mine.dump(), patience());
    if (state_.stop.check()) return state_.stop.check()->text;
    if (!all.complete()) {
      gone_ = fmt::format("rank {} is silent", fmt::join(all.silent, ", "));
      return gone_;
    }
    for (const std::string& part : all.parts) {
      for (const Json& told : Json::parse(part)) take(told);
    }
    return {};
  }

  std::string unusable() const {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
      if (!status_[slot].usable) return state_.places[slot].text(slot) + " is lost";
    }
    return {};
  }

  std::string ground_missing(const Case& which) const {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
      const std::string missing = missing_ground(which, passed_[slot]);
      if (!missing.empty()) return missing + " on " + state_.places[slot].text(slot);
    }
    return {};
  }

  void say_not_run(LocalSlot& local, const Case& which, const std::string& reason) {
    record(state_, local, which, 1,
           Ending{.verdict = Verdict::not_run, .reason = reason, .start_unix_s = unix_s()}, true);
  }

  // ---- workers -----------------------------------------------------------------------------

  /// Moves all local slots on; the endings of this round are kept.
  bool step_slots() {
    bool any = false;
    for (LocalSlot& local : state_.mine) {
      if (std::optional<Ending> ending = local.slot.step()) {
        endings_[local.slot.number()] = std::move(*ending);
        any = true;
      }
    }
    return any;
  }

  /// Fresh workers everywhere, with a transport between them. Bounded by the bounds of the slots.
  void start_workers() {
    // All ranks come here after the same meetings, so their epochs are equal.
    ++epoch_;
    for (LocalSlot& local : state_.mine) local.slot.stop_worker();
    const auto busy = [](const LocalSlot& local) { return local.slot.busy(); };
    while (std::any_of(state_.mine.begin(), state_.mine.end(), busy)) {
      step_slots();
      if (!turn(state_, kPanelWait)) return;
    }
    if (!together()) return;
    mover_.begin_epoch(epoch_);
    TransportOrder order{.kind = TransportKind::relay,
                         .nccl_id = {},
                         .seconds = kJoinSeconds,
                         .route = state_.options.transport};
    for (LocalSlot& local : state_.mine) {
      if (local.slot.lost()) continue;
      if (state_.device == DeviceKind::virtual_device) {
        local.slot.use_segment(mover_.segment_fd(local.slot.number()));
      }
      local.slot.start_worker();
    }
    if (state_.device == DeviceKind::cuda) {
      order.kind = TransportKind::nccl;
      order.nccl_id = shared_nccl_id();
    }
    for (LocalSlot& local : state_.mine) local.slot.send(order);
  }

  /// Made by slot 0's worker, on whichever rank that is. All zeros when that worker could not; then
  /// nobody can join, and each worker says why.
  NcclId shared_nccl_id() {
    NcclId id{};
    const std::uint32_t maker = state_.places.front().rank;
    if (state_.mesh.rank() == maker) {
      Slot& first = state_.mine.front().slot;
      first.send(NcclIdOrder{});
      const double until = running_s() + kJoinSeconds;
      while (first.worker() != nullptr && first.trouble().empty() && running_s() < until) {
        step_slots();
        if (const std::optional<NcclId> made = first.take_nccl_id()) {
          id = *made;
          break;
        }
        if (!turn(state_, 0.001)) break;
      }
    }
    const auto* bytes = reinterpret_cast<const char*>(id.data());
    const Gathered all = state_.mesh.allgather(std::string(bytes, id.size()), patience());
    const std::string& made = all.parts.at(maker);
    if (made.size() == id.size()) {
      std::copy(made.begin(), made.end(), reinterpret_cast<char*>(id.data()));
    }
    return id;
  }

  // ---- rounds ------------------------------------------------------------------------------

  /// A case with its attempts. Returns why the phase cannot go on.
  std::string run_case_together(const Case& which) {
    std::uint32_t first = 1;  // the same on all ranks
    for (std::uint32_t slot = 0; slot < slots(); ++slot)
      first = std::max(first, first_attempt(state_, which, slot));
    bool clean = first == 1, outside_before = false;
    for (std::uint32_t attempt = first; attempt <= kMostAttempts; ++attempt) {
      if (need_workers_) start_workers();
      need_workers_ = false;
      run_round(which, attempt, attempt == first);
      const bool stopped = state_.stop.check().has_value();
      // Who is stuck would have shown later.
      if (stopped && culprit_.empty()) culprit_ = state_.stop.check()->text;
      std::string trouble = stopped ? std::string() : meet_after_round();
      record_waiters(which, attempt, attempt == first);
      if (stopped || !trouble.empty()) return trouble;
      const bool failed = any([](const SlotStatus& each) { return each.verdict == Verdict::fail; });
      const bool broke = any([](const SlotStatus& each) { return breaks_round(each.verdict); });
      need_workers_ = failed || broke || any([](const SlotStatus& each) { return !each.alive; });
      clean = clean && !any([](const SlotStatus& each) { return is_failure(each.verdict); });
      for (std::uint32_t slot = 0; slot < slots(); ++slot) {
        passed_[slot].erase(std::string(which.name));
        if (status_[slot].verdict == Verdict::pass && clean)
          passed_[slot].insert(std::string(which.name));
      }
      const bool again = broke ? only_lost_workers(outside_before) : failed;
      outside_before =
          outside_before || any([](const SlotStatus& each) { return each.from_outside; });
      if (!again || !unusable().empty()) break;
    }
    return {};
  }

  /// Whether the round broke by workers that crashed, or for the first time were killed from
  /// outside or could not be started, and by nothing that would break the next one, too.
  bool only_lost_workers(bool outside_before) const {
    const bool lost = any([&](const SlotStatus& each) {
      return each.verdict == Verdict::crash || (each.from_outside && !outside_before);
    });
    // What the others had of it: a wait in vain, no transport, no end.
    return lost && !any([](const SlotStatus& each) {
             return breaks_round(each.verdict) && !each.waited && each.verdict != Verdict::crash &&
                    each.verdict != Verdict::tool_error && each.verdict != Verdict::not_run;
           });
  }

  template <typename Test>
  bool any(Test test) const {
    return std::any_of(status_.begin(), status_.end(), test);
  }

  /// `counts`: an attempt behind the first is one of the same results.
  void run_round(const Case& which, std::uint32_t attempt, bool counts) {
    ++round_;
    endings_.clear();
    waiters_.clear();
    culprit_.clear();
    std::set<std::uint32_t> ended;
    for (LocalSlot& local : state_.mine) begin_case(state_, local, which, attempt);
    while (ended.size() < state_.mine.size()) {
      const bool moved = step_slots() || mover_.step();
      for (LocalSlot& local : state_.mine) {
        const auto ending = endings_.find(local.slot.number());
        if (ending == endings_.end() || !ended.insert(ending->first).second) continue;
        // Its bound is shorter than the deadline of the slot that is stuck: to end the round here
        // would leave that one without a verdict.
        if (ending->second.waited_for_others()) {
          waiters_.insert(*ending);
          continue;
        }
        // A failed slot may be tried again with the others; the round counts once, at its end.
        record(state_, local, which, attempt, ending->second, counts);
        if (breaks_round(ending->second.verdict) && culprit_.empty()) {
          culprit_ = culprit_text(ending->first, ending->second.verdict);
          state_.mesh.send_to_others(Tag::failed,
                                     Json({{"round", round_}, {"text", culprit_}}).dump());
          end_round();
        }
      }
      if (culprit_.empty()) {
        culprit_ = told_culprit();
        if (!culprit_.empty()) end_round();
      }
      if (!turn(state_, moved ? 0 : kPanelWait)) return;
    }
  }

  /// Records the slots that waited for others, by what is known of those by now.
  void record_waiters(const Case& which, std::uint32_t attempt, bool counts) {
    for (LocalSlot& local : state_.mine) {
      const auto waiter = waiters_.find(local.slot.number());
      if (waiter == waiters_.end()) continue;
      record(state_, local, which, attempt, waiter_ending(waiter->second, culprit_), counts);
    }
  }

  /// The first slot that broke the round by itself. Empty where there is none: those that broke it
  /// waited for each other.
  std::string culprit_of_round() const {
    for (std::uint32_t slot = 0; slot < slots(); ++slot) {
      const SlotStatus& status = status_[slot];
      const bool ended_by_others = status.waited || status.verdict == Verdict::not_run;
      if (breaks_round(status.verdict) && !ended_by_others)
        return culprit_text(slot, status.verdict);
    }
    return {};
  }

  std::string culprit_text(std::uint32_t slot, Verdict verdict) const {
    const std::string_view what = verdict == Verdict::crash    ? "crashed"
                                  : verdict == Verdict::hang   ? "hung"
                                  : verdict == Verdict::sticky ? "had a sticky error"
                                                               : "broke off";
    return fmt::format("{} {} in the same round", state_.places[slot].text(slot), what);
  }

  /// What another rank says of this round; what it said of earlier rounds is dropped.
  std::string told_culprit() {
    while (const std::optional<Message> told = state_.mesh.take(Tag::failed)) {
      const Json json = Json::parse(told->bytes, nullptr, false);
      if (!json.is_discarded() && json.value("round", 0U) == round_) return json.value("text", "");
    }
    return {};
  }

  /// Workers still at the case wait for data that will never come.
  void end_round() {
    for (LocalSlot& local : state_.mine) {
      if (local.slot.attempting()) local.slot.give_up(Verdict::not_run, culprit_);
    }
  }

  LaunchState& state_;
  RelayMover mover_;
  std::vector<std::set<std::string>> passed_;  // by slot
  std::vector<SlotStatus> status_;             // by slot
  std::map<std::uint32_t, Ending> endings_;    // of this round, by slot
  std::map<std::uint32_t, Ending> waiters_;    // those that waited for others, not yet recorded
  std::string culprit_;                        // who broke this round; empty: not known
  std::uint32_t epoch_, round_;
  bool need_workers_ = true;
  std::string gone_;
};

}  // namespace

std::string run_all_gpus_phase(LaunchState& state) {
  if (state.plan.all_gpus.empty()) return {};
  state.mesh.enter(state.number, Stage::rounds);
  return Rounds(state).run();
}

}  // namespace tidemark
