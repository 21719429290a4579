// Follows failures until a run as large has passed on the same GPU.
#include "reports/history/history.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "reports/schema/verdict.hpp"

namespace tidemark {
namespace {

/// How much of a case a launch ran.
struct Extent {
  std::string level, suite;
  std::string row;         // `run --row`: this one alone
  std::uint32_t rows = 0;  // 0: not known
};

/// Whether this level runs at least what the other one does. One that is not known is like itself.
bool reaches(const std::string& level, const std::string& other) {
  static constexpr std::array<std::string_view, 3> kLevels = {"quick", "nightly", "soak"};
  const auto at = std::ranges::find(kLevels, level);
  const auto least = std::ranges::find(kLevels, other);
  if (at == kLevels.end() || least == kLevels.end()) return level == other;
  return at >= least;
}

/// A pass of `passed` is an answer to a failure of `failed`. Rows of another suite are others, and
/// may be fewer.
bool covers(const Extent& passed, const Extent& failed) {
  if (!reaches(passed.level, failed.level)) return false;
  if (!passed.row.empty()) return passed.row == failed.row && passed.suite == failed.suite;
  return passed.rows >= failed.rows || passed.suite != failed.suite;
}

/// The value of --row among the arguments; empty without it.
std::string row_in(std::string_view arguments) {
  constexpr std::string_view kOption = "--row";
  for (std::size_t at = 0; at < arguments.size();) {
    const std::size_t end = std::min(arguments.find(' ', at), arguments.size());
    const std::string_view word = arguments.substr(at, end - at);
    const std::string_view rest = arguments.substr(std::min(end + 1, arguments.size()));
    if (word == kOption) return std::string(rest.substr(0, rest.find(' ')));
    if (word.starts_with("--row=")) return std::string(word.substr(kOption.size() + 1));
    at = end + 1;
  }
  return {};
}

/// A failure without an answer. A GPU that was lost has not passed either.
struct Unanswered {
  Extent extent;  // the largest
  // The newest launch that failed there, and the newest that lost the GPU.
  std::optional<std::uint32_t> bad = {}, lost = {};
  bool waived = false;  // that failure
};
using Open = std::map<std::uint32_t, Unanswered>;  // by GPU

bool lost_any(const PastResults& results) {
  return results.lacking > 0 && std::ranges::any_of(results.verdicts, is_lost);
}

Extent extent_of(const Chronicle& all, const PastResults& results) {
  return {.level = all.launches[results.launch].level,
          .suite = setup_value(all, results.launch, "suite_tree"),
          .row = row_in(setup_value(all, results.launch, "arguments")),
          .rows = results.rows};
}

void follow(Open& open, const Chronicle& all, const PastResults& results) {
  const bool any_bad = results.bad + results.waived > 0 || lost_any(results);
  if (open.empty() && !any_bad) return;
  const std::vector<std::uint32_t>& gpus = all.launches[results.launch].gpus;
  const Extent extent = extent_of(all, results);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Verdict verdict = results.verdicts.empty() ? Verdict::pass : results.verdicts[i];
    if (is_bad(verdict) || is_lost(verdict) || verdict == Verdict::waived) {
      Unanswered& one = open.try_emplace(gpus[i], Unanswered{.extent = extent}).first->second;
      if (covers(extent, one.extent)) one.extent = extent;
      (is_lost(verdict) ? one.lost : one.bad) = results.launch;
      if (!is_lost(verdict)) one.waived = verdict == Verdict::waived;
    } else if (const auto at = open.find(gpus[i]); verdict == Verdict::pass && at != open.end()) {
      if (covers(extent, at->second.extent)) open.erase(at);
    }
  }
}

/// Whether a failure of an earlier launch has no answer, and `said` of this one is none. A waiver
/// of another GPU answers for what was waived alone.
bool is_open(const Open& open, CaseState said, std::uint32_t launch) {
  if (said == CaseState::failing) return false;
  return std::ranges::any_of(open, [&](const auto& each) {
    const Unanswered& one = each.second;
    if (one.lost && *one.lost < launch) return true;
    return one.bad && *one.bad < launch && !(one.waived && said == CaseState::waived);
  });
}

bool is_told(CaseState state) {
  return state == CaseState::failing || state == CaseState::waived || state == CaseState::passing;
}

void take(CasePast& past, CaseState& told, const PastResults& results, CaseState state) {
  past.in_a_row = state == past.state ? past.in_a_row + 1 : 1;
  past.state = state;
  if (results.bad + results.waived > 0) {
    ++past.launches_bad;
    past.launches_waived += results.bad == 0 ? 1U : 0U;
    if (!past.first_bad) past.first_bad = results.launch;
    past.last_bad = results.launch;
  }
  if (!is_told(state) || state == told) return;
  const bool turned = (told == CaseState::passing) != (state == CaseState::passing);
  past.turns += told != CaseState::quiet && turned ? 1U : 0U;
  past.since = results.launch;
  told = state;
}

/// The newest launch before the failure began that passed as much of the case.
std::uint32_t last_pass_of(const Chronicle& all, const CasePast& past) {
  const auto began = std::ranges::find(*past.results, past.since, &PastResults::launch);
  const Extent failed = extent_of(all, *began);
  for (auto at = began; at != past.results->begin();) {
    --at;
    if (state_of(*at) == CaseState::passing && covers(extent_of(all, *at), failed)) {
      return at->launch;
    }
  }
  return kNoRow;
}

CasePast past_of(const History& history, const std::string& name, bool is_virtual,
                 const std::vector<PastResults>& results) {
  const Chronicle& all = history.chronicle;
  CasePast past{.name = name, .is_virtual = is_virtual, .results = &results};
  CaseState told = CaseState::quiet;  // the last one that was a pass or a failure
  Open open;
  for (const PastResults& each : results) {
    follow(open, all, each);
    const CaseState said = state_of(each);
    take(past, told, each, is_open(open, said, each.launch) ? CaseState::open : said);
  }
  for (const auto& [gpu, one] : open) {
    past.open_gpus.push_back(gpu);
    past.open_bad = std::max(past.open_bad, one.bad);
    past.open_lost = std::max(past.open_lost, one.lost);
  }
  for (std::size_t i = results.back().launch + 1; i < all.launches.size(); ++i) {
    past.launches_without += all.launches[i].is_virtual == is_virtual ? 1U : 0U;
  }
  if (past.state == CaseState::failing) past.last_pass = last_pass_of(all, past);
  if (past.last_pass != kNoRow) {
    past.setup = setup_changes(all, history.restless, past.last_pass, past.since);
  }
  return past;
}

int rank_of(const CasePast& past) {
  const bool over = past.state == CaseState::passing || past.state == CaseState::quiet;
  return static_cast<int>(!over            ? past.state
                          : past.first_bad ? CaseState::passing
                                           : CaseState::quiet);
}

}  // namespace

std::vector<CasePast> case_pasts(const History& history) {
  std::vector<CasePast> made;
  for (const auto& [key, results] : history.chronicle.cases) {
    made.push_back(past_of(history, key.second, key.first, results));
  }
  // Among those of one kind what happened last comes first.
  const auto order = [](const CasePast& past) {
    return std::tuple(rank_of(past), past.first_bad ? -static_cast<std::int64_t>(past.since) : 0);
  };
  std::ranges::stable_sort(made, {}, order);
  return made;
}

std::string_view name_of(CaseState state) {
  static constexpr std::array<std::string_view, 6> kNames = {"failing", "open",    "waived",
                                                             "lacking", "passing", "quiet"};
  return kNames.at(static_cast<std::size_t>(state));
}

CaseState state_of(const PastResults& results) {
  if (results.bad > 0) return CaseState::failing;
  if (results.lacking > 0) return CaseState::lacking;
  if (results.waived > 0) return CaseState::waived;
  return results.passed > 0 ? CaseState::passing : CaseState::quiet;
}

}  // namespace tidemark
