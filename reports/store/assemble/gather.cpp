// Reads the journals into one heap of records and says what does not fit together.
#include "reports/store/assemble/assembly.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "reports/base/error.hpp"
#include "reports/base/words.hpp"

namespace tidemark {
namespace {

/// What must be equal on all ranks for their results to be of one launch.
auto identity(const LaunchRecord& launch) {
  return std::tie(launch.run_id, launch.series_id, launch.launch, launch.tool_version,
                  launch.git_hash, launch.kernels_tree, launch.suite_tree, launch.level,
                  launch.device, launch.seed, launch.ranks, launch.gpus);
}

bool same_cases(const std::vector<PlannedCase>& a, const std::vector<PlannedCase>& b) {
  return std::ranges::equal(a, b, {}, &PlannedCase::name, &PlannedCase::name);
}

/// Plans that differ; all ranks of a launch have one.
using Plans = std::vector<std::vector<PlannedCase>>;

/// The head of a journal without its plan, which is one of `plans`.
struct Head {
  JournalHead of;
  std::size_t plan = 0;
  bool left_out = false;
};

/// Calls take(i, make(text)) for each journal in order, while the next ones are being made.
template <class Make, class Take>
void each_in_order(const Journals& journals, Make make, Take take) {
  using Made = decltype(make(std::string()));
  // Few are parsed sooner than threads start, and a process that may start none can parse them.
  constexpr std::size_t kFew = 16;
  const auto how =
      journals.size() < kFew ? std::launch::deferred : std::launch::async | std::launch::deferred;
  // More than there are cores, so that none waits for this thread to start the next one.
  const std::size_t ahead = 4 * std::max(1U, std::thread::hardware_concurrency());
  std::deque<std::future<Made>> coming;
  for (std::size_t i = 0, next = 0; i < journals.size(); ++i) {
    for (; next < journals.size() && coming.size() < ahead; ++next) {
      coming.push_back(std::async(how, [make, text = journals.at(next)] { return make(text); }));
    }
    Made made = coming.front().get();
    coming.pop_front();
    take(i, std::move(made));
  }
}

std::vector<Head> heads_of(const Journals& journals, Plans& plans) {
  std::vector<Head> heads;
  each_in_order(journals, head_of_journal, [&](std::size_t, JournalHead head) {
    Head& made = heads.emplace_back(Head{.of = std::move(head)});
    if (!made.of.launch) return;
    std::vector<PlannedCase> cases = std::exchange(made.of.launch->cases, {});
    while (made.plan < plans.size() && !same_cases(plans[made.plan], cases)) ++made.plan;
    if (made.plan == plans.size()) plans.push_back(std::move(cases));
  });
  return heads;
}

void check_same_launch(const Head& first, const Head& other) {
  if (identity(*first.of.launch) != identity(*other.of.launch) || first.plan != other.plan) {
    throw ReportError(fmt::format(
        "ranks {} and {} planned different launches (version, level, device, seed, size or cases "
        "differ); start every rank with the same binary and arguments",
        first.of.launch->rank, other.of.launch->rank));
  }
}

void check_plan(const LaunchRecord& launch) {
  constexpr std::uint32_t kMostRanks = 1u << 20;
  constexpr std::uint32_t kMostGpus = kMostRanks;
  if (launch.ranks == 0 || launch.gpus == 0 || launch.ranks > kMostRanks ||
      launch.gpus > kMostGpus) {
    throw ReportError(fmt::format("the launch record plans {} ranks and {} GPUs, which cannot be",
                                  launch.ranks, launch.gpus));
  }
  const std::uint64_t planned = std::uint64_t{launch.gpus} * launch.cases.size();
  if (planned > kMostPlanned) {
    throw ReportError(fmt::format("the launch record plans {} results; at most {} fit in a report",
                                  planned, kMostPlanned));
  }
  std::unordered_set<std::string> names;
  for (const PlannedCase& planned_case : launch.cases) {
    if (!names.insert(planned_case.name).second) {
      throw ReportError(fmt::format("the launch record plans case '{}' twice", planned_case.name));
    }
  }
}

/// The run of most journals, of several the one that comes first. A file of another launch that got
/// into the folder must not cost the report of this one.
std::string run_of_most(const std::vector<Head>& heads) {
  std::map<std::string, std::size_t> journals_of;
  std::string most;
  for (const Head& head : heads) {
    if (head.of.run_id) ++journals_of[*head.of.run_id];
  }
  for (const Head& head : heads) {
    if (head.of.run_id && journals_of[*head.of.run_id] > journals_of[most]) most = *head.of.run_id;
  }
  return most;
}

/// Marks the journals that are of another run, or of a rank that came before, and says so.
void leave_out_foreign(std::vector<Head>& heads, std::vector<std::string>& problems) {
  const std::string run = run_of_most(heads);
  std::set<std::uint32_t> ranks;
  for (Head& head : heads) {
    const std::optional<LaunchRecord>& launch = head.of.launch;
    if (head.of.run_id && *head.of.run_id != run) {
      problems.push_back(
          fmt::format("a journal of another launch (run {}) was left out", *head.of.run_id));
    } else if (launch && !ranks.insert(launch->rank).second) {
      problems.push_back(fmt::format("a second journal of rank {} was left out", launch->rank));
    } else {
      continue;
    }
    head.left_out = true;
  }
}

/// Finds the launch record of every journal; they must agree.
LaunchRecord launch_of(const std::vector<Head>& heads, Plans& plans) {
  const Head* first = nullptr;
  std::uint32_t last_rank = 0;
  for (const Head& head : heads) {
    if (head.left_out || !head.of.launch) continue;
    if (first == nullptr) first = &head;
    check_same_launch(*first, head);
    last_rank = std::max(last_rank, head.of.launch->rank);
  }
  if (first == nullptr) {
    throw ReportError(fmt::format(
        "no launch record in {} journals, so what was planned is unknown and no report can be "
        "made; add the journals of the other ranks, or run again",
        heads.size()));
  }
  LaunchRecord launch = *first->of.launch;
  launch.cases = std::move(plans[first->plan]);
  check_plan(launch);
  if (last_rank >= launch.ranks) {
    throw ReportError(fmt::format("a journal is of rank {}, but the launch has {} ranks", last_rank,
                                  launch.ranks));
  }
  return launch;
}

/// Sorts the records into a HeardLaunch whose launch is known.
struct Sorter {
  HeardLaunch& all;
  std::unordered_set<std::string> cases = {};
  std::vector<bool> gpu_known;
  std::uint32_t journal_of = kNoRow;  // rank whose journal is read
  HeardCases of_journal = {};
  std::map<std::string, std::vector<std::uint32_t>> early = {};  // ranks that say why they ended
  std::map<std::uint32_t, std::string> at_case = {};             // by rank: begun, and not ended

  bool planned(std::uint32_t gpu, const std::string& case_name) const {
    return gpu < all.launch.gpus && cases.contains(case_name);
  }
  void mark(std::vector<bool>& ranks, std::uint32_t rank) const {
    if (rank < ranks.size()) ranks[rank] = true;
  }

  void operator()(LaunchRecord& launch) {
    journal_of = launch.rank;
    if (!launch.hosts.empty()) all.launch.hosts = launch.hosts;
    mark(all.reported, launch.rank);
  }
  void operator()(const NodeRecord& node) {
    mark(all.reported, node.first_rank);
    all.nodes.push_back(node);
  }
  void operator()(const GpuRecord& gpu) {
    mark(all.reported, gpu.rank);
    if (gpu.gpu_id >= all.launch.gpus || gpu_known[gpu.gpu_id]) {
      all.problems.push_back(
          fmt::format("rank {} reported GPU {}, which is {}", gpu.rank, gpu.gpu_id,
                      gpu.gpu_id >= all.launch.gpus ? "beyond the launch" : "another rank's"));
      return;
    }
    gpu_known[gpu.gpu_id] = true;
    all.gpus.push_back(gpu);
  }
  void operator()(const StartRecord& start) {
    if (!planned(start.gpu, start.case_name)) return;
    of_journal.starts.push_back(start);
    at_case[journal_of] = start.case_name;
  }
  void operator()(OutcomeRecord& outcome) {
    at_case.erase(journal_of);
    if (planned(outcome.gpu, outcome.case_name)) {
      of_journal.outcomes.push_back(std::move(outcome));
    } else {
      all.problems.push_back(fmt::format("an outcome ({}) of {} on GPU {} was never planned",
                                         name_of(outcome.verdict), outcome.case_name, outcome.gpu));
    }
  }
  void operator()(const EventRecord& event) { all.events.push_back({event, journal_of}); }
  void operator()(const PolicyRecord& policy) {
    if (all.policy.waivers.empty()) all.policy = policy;
  }
  void operator()(const EndRecord& end) {
    mark(all.reported, end.rank);
    mark(all.ended, end.rank);
    if (!end.complete) early[end.reason.empty() ? "ended early" : end.reason].push_back(end.rank);
  }
};

std::string ranks_named(const std::vector<std::uint32_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranges(ranks));
}

/// " (node2, node3)": where ranks were started; empty where nobody says.
std::string hosts_named(const HeardLaunch& all, const std::vector<std::uint32_t>& ranks) {
  std::vector<std::string> hosts;
  for (const std::uint32_t rank : ranks) {
    const bool known = rank < all.launch.hosts.size() && !all.launch.hosts[rank].empty();
    if (!known) continue;
    if (std::ranges::find(hosts, all.launch.hosts[rank]) == hosts.end())
      hosts.push_back(all.launch.hosts[rank]);
  }
  return hosts.empty() ? "" : fmt::format(" ({})", fmt::join(hosts, ", "));
}

/// "rank 2 (node07), last at zfill.whole"
std::string place_text(const HeardLaunch& all, const Sorter& sorter, std::uint32_t rank) {
  std::string text = fmt::format("rank {}", rank);
  const auto node = std::ranges::find(all.nodes, rank, &NodeRecord::first_rank);
  // It may have died between the first two lines of its journal.
  text += node != all.nodes.end() ? fmt::format(" ({})", node->hostname) : hosts_named(all, {rank});
  const auto at = sorter.at_case.find(rank);
  if (at != sorter.at_case.end()) text += fmt::format(", last at {},", at->second);
  return text;
}

/// The ranks that are to blame come first: when one dies, a launcher stops the others, and they say
/// so.
void note_missing_ranks(HeardLaunch& all, const Sorter& sorter) {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::uint32_t> silent, unended;
  for (std::uint32_t rank = 0; rank < all.launch.ranks; ++rank) {
    if (!all.reported[rank]) {
      silent.push_back(rank);
    } else if (!all.ended[rank]) {
      unended.push_back(rank);
    }
  }
  std::vector<std::string> found;
  if (!silent.empty())
    found.push_back(ranks_named(silent) + hosts_named(all, silent) + " silent: no journal");
  if (unended.size() > kMostNamed) {
    found.push_back(ranks_named(unended) + " did not get to the end");
  } else {
    for (const std::uint32_t rank : unended) {
      found.push_back(place_text(all, sorter, rank) + " did not get to the end");
    }
  }
  const bool several = unended.size() > 1 || (!unended.empty() && !silent.empty());
  if (several) found.back() += " (which of them was first is not known)";
  for (const auto& [reason, ranks] : sorter.early) {
    found.push_back(fmt::format("{}: {}", ranks_named(ranks), reason));
  }
  all.problems.insert(all.problems.begin(), found.begin(), found.end());
}

/// What is wrong with the lines of all journals.
struct LostLines {
  std::uint32_t damaged = 0, foreign = 0, missing = 0;

  void add(const JournalText& journal) {
    damaged += journal.damaged;
    foreign += journal.foreign;
    missing += journal.missing;
  }
};

void note_lost_lines(HeardLaunch& all, const LostLines& sum) {
  const auto note = [&all](std::uint32_t lines, std::string_view what) {
    if (lines > 0) all.problems.push_back(fmt::format("{} {}", lines, what));
    all.lost_lines += lines;
  };
  note(sum.damaged, "damaged journal lines were left out");
  note(sum.foreign, "journal lines of another launch or rank were left out");
  note(sum.missing, "journal lines are missing");
}

}  // namespace

HeardLaunch gather(const Journals& folder, const TakeCases& take) {
  HeardLaunch all;
  Plans plans;
  std::map<std::size_t, UnfitFile> unfit;  // each costs its own rank alone
  const Journals journals{folder.size(), [&](std::size_t i) {
                            if (unfit.contains(i)) return std::string();
                            try {
                              return folder.at(i);
                            } catch (const UnfitFile& error) {
                              unfit.emplace(i, error);
                              return std::string();
                            }
                          }};
  std::vector<Head> heads = heads_of(journals, plans);
  if (!unfit.empty() && unfit.size() == heads.size()) throw UnfitFile(unfit.at(0));
  for (const auto& [i, error] : unfit) all.problems.emplace_back(error.what());
  leave_out_foreign(heads, all.problems);
  all.launch = launch_of(heads, plans);
  all.reported.resize(all.launch.ranks);
  all.ended.resize(all.launch.ranks);
  Sorter sorter{.all = all, .gpu_known = std::vector<bool>(all.launch.gpus)};
  for (const PlannedCase& planned : all.launch.cases) sorter.cases.insert(planned.name);
  LostLines lost;
  each_in_order(journals, parse_journal, [&](std::size_t i, JournalText journal) {
    if (heads[i].left_out) return;
    lost.add(journal);
    sorter.journal_of = kNoRow;
    for (Record& record : journal.records) std::visit(sorter, record);
    take(all, std::exchange(sorter.of_journal, {}));
  });
  note_missing_ranks(all, sorter);
  note_lost_lines(all, lost);
  return all;
}

}  // namespace tidemark
