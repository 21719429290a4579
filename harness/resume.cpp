// Which outcomes are answers, and whether a launch is the same one again.
#include "harness/resume.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "harness/base/errors.hpp"
#include "harness/supervisor/launch_state.hpp"
#include "harness/version.hpp"
#include "reports/journal/journal.hpp"
#include "reports/schema/verdict.hpp"
#include "reports/store/assemble/assembly.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

using Pair = std::pair<std::string, std::uint32_t>;

/// argv without what may differ: it decides where a report goes, not what is in it.
std::vector<std::string> lasting(const std::vector<std::string>& arguments) {
  const std::set<std::string_view> with_value = {"--out",         "--ranks",    "--time-limit",
                                                 "--resume",      "--seed",     "--policy",
                                                 "--expect-gpus", "--launches", "--fail-on"};
  const std::set<std::string_view> flags = {"--json", "--anonymize", "--anonymise", "--strict",
                                            "--strict-gpus"};
  std::vector<std::string> kept;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string name = arguments[i].substr(0, arguments[i].find('='));
    if (flags.contains(name)) continue;
    if (!with_value.contains(name)) {
      kept.push_back(arguments[i]);
    } else if (name == arguments[i]) {
      ++i;  // its value
    }
  }
  return kept;
}

void check_same(const LaunchOptions& options, const LaunchRecord& before) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("--resume {}: {}", options.resume, why));
  };
  const BuildVersion build = build_version();
  if (before.git_hash != build.git_hash || before.kernels_tree != build.kernels_tree ||
      before.suite_tree != build.suite_tree)
    refuse(fmt::format("another build ran it (tidemark {}, git {}); use that one, or run again",
                       before.tool_version, before.git_hash));
  const std::vector<std::string> then = lasting(before.arguments);
  if (then != lasting(options.arguments))
    refuse(
        fmt::format("it was started with other arguments; repeat them: {}", fmt::join(then, " ")));
  if (options.seed.value_or(before.seed) != before.seed)
    refuse(fmt::format("its seed was {:#x}; leave --seed out", before.seed));
}

/// An answer of the device. What a launch could not do is tried again.
bool is_answer(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
    case Verdict::fail:
    case Verdict::hang:
    case Verdict::crash:
    case Verdict::sticky:
    case Verdict::skip:
      return true;
    default:
      return false;
  }
}

/// The attempts at one pair.
struct HeardAttempts {
  std::uint32_t started = 0;
  std::vector<const OutcomeRecord*> outcomes;

  bool have_answer() const {
    if (outcomes.empty() || outcomes.back()->attempt < started) return false;
    // A line that was lost may have been a failure.
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (outcomes[i]->attempt != i + 1) return false;
    const OutcomeRecord& last = *outcomes.back();
    return is_answer(last.verdict) &&
           (!may_pass_again(last.verdict) || last.attempt >= kMostAttempts);
  }
};

}  // namespace

Resumed read_resumed(const LaunchOptions& options) {
  const std::string in_use = journal_in_use(options.resume);
  if (!in_use.empty())
    throw UsageError(fmt::format("--resume {}: this launch is still running ({} is in use)",
                                 options.resume, in_use));
  HeardCases said;
  const HeardLaunch before =
      gather(read_journals(options.resume), [&said](const HeardLaunch&, HeardCases cases) {
        std::move(cases.starts.begin(), cases.starts.end(), std::back_inserter(said.starts));
        std::move(cases.outcomes.begin(), cases.outcomes.end(), std::back_inserter(said.outcomes));
      });
  check_same(options, before.launch);
  std::map<Pair, HeardAttempts> heard;
  for (const StartRecord& start : said.starts) {
    std::uint32_t& started = heard[{start.case_name, start.gpu}].started;
    started = std::max(started, start.attempt);
  }
  const std::vector<EventRecord> spoiling = spoiling_events(before);
  for (const OutcomeRecord& outcome : said.outcomes)
    if (outcome.verdict != Verdict::pass ||
        spoiled_by(spoiling, outcome.gpu, outcome.start_unix_s, outcome.seconds) == nullptr)
      heard[{outcome.case_name, outcome.gpu}].outcomes.push_back(&outcome);
  Resumed made{.folder = options.resume,
               .run_id = before.launch.run_id,
               .seed = before.launch.seed,
               .gpus = before.launch.gpus,
               .known = before.gpus,
               .outcomes = {},
               .failed = {},
               .events = spoiling};
  for (auto& [pair, attempts] : heard)
    std::stable_sort(attempts.outcomes.begin(), attempts.outcomes.end(),
                     [](const auto* a, const auto* b) { return a->attempt < b->attempt; });
  for (const PlannedCase& planned : before.launch.cases) {
    std::vector<const HeardAttempts*> answers;
    for (std::uint32_t gpu = 0; gpu < before.launch.gpus; ++gpu) {
      const auto found = heard.find({planned.name, gpu});
      if (found != heard.end() && found->second.have_answer()) answers.push_back(&found->second);
    }
    // What all GPUs do together, all do again.
    if (planned.scope == "all_gpus" && answers.size() < before.launch.gpus) answers.clear();
    for (const HeardAttempts* attempts : answers)
      for (const OutcomeRecord* outcome : attempts->outcomes) made.outcomes.push_back(*outcome);
    for (std::uint32_t gpu = 0; gpu < before.launch.gpus; ++gpu) {
      const auto found = heard.find({planned.name, gpu});
      if (found == heard.end() || std::count(answers.begin(), answers.end(), &found->second) > 0)
        continue;
      for (const OutcomeRecord* outcome : found->second.outcomes)
        if (is_failure(outcome->verdict)) made.failed.push_back(*outcome);
    }
  }
  return made;
}

Resumed on_slots(Resumed resumed, const std::vector<SlotPlace>& places) {
  if (resumed.folder.empty()) return resumed;
  if (resumed.gpus != places.size())
    throw UsageError(fmt::format("--resume {}: it ran on {} GPUs, and here are {}; give the same",
                                 resumed.folder, resumed.gpus, places.size()));
  std::map<std::uint32_t, std::uint32_t> slot_of;
  for (GpuRecord& gpu : resumed.known) {
    const auto here = std::find_if(places.begin(), places.end(),
                                   [&](const SlotPlace& place) { return place.uuid == gpu.uuid; });
    if (here == places.end())
      throw UsageError(fmt::format("--resume {}: GPU {} of rank {} is not here; give the same GPUs",
                                   resumed.folder, gpu.uuid, gpu.rank));
    slot_of[gpu.gpu_id] = static_cast<std::uint32_t>(here - places.begin());
    gpu.gpu_id = slot_of[gpu.gpu_id];
  }
  for (std::vector<OutcomeRecord>* outcomes : {&resumed.outcomes, &resumed.failed}) {
    std::erase_if(*outcomes,
                  [&](const OutcomeRecord& outcome) { return !slot_of.contains(outcome.gpu); });
    for (OutcomeRecord& outcome : *outcomes) outcome.gpu = slot_of.at(outcome.gpu);
  }
  for (EventRecord& event : resumed.events) {
    const auto gpu = slot_of.find(static_cast<std::uint32_t>(event.gpu));
    event.gpu = gpu == slot_of.end() ? -1 : static_cast<std::int32_t>(gpu->second);
  }
  return resumed;
}

std::set<std::pair<std::string, std::uint32_t>> answered(const Resumed& resumed) {
  std::set<Pair> pairs;
  for (const OutcomeRecord& outcome : resumed.outcomes)
    pairs.insert({outcome.case_name, outcome.gpu});
  return pairs;
}

std::map<Pair, std::uint32_t> failed_attempts(const Resumed& resumed) {
  std::map<Pair, std::uint32_t> made;
  for (const OutcomeRecord& outcome : resumed.failed) {
    std::uint32_t& most = made[{outcome.case_name, outcome.gpu}];
    most = std::max(most, outcome.attempt);
  }
  return made;
}

std::string differs_from(const Resumed& resumed, const std::vector<GpuRecord>& gpus) {
  if (resumed.folder.empty()) return {};
  const auto refusal = [&](std::string_view what, std::string_view then, std::string_view now) {
    return fmt::format(
        "--resume {}: {} was {} and is {}: one report cannot tell which results are "
        "of which; run again",
        resumed.folder, what, then.empty() ? "unknown" : then, now.empty() ? "unknown" : now);
  };
  for (const GpuRecord& now : gpus)
    for (const GpuRecord& then : resumed.known) {
      if (then.uuid != now.uuid) continue;
      if (then.driver != now.driver)
        return refusal("the driver of " + now.uuid, then.driver, now.driver);
      if (then.vbios != now.vbios)
        return refusal("the VBIOS of " + now.uuid, then.vbios, now.vbios);
    }
  return {};
}

std::uint64_t digest_of(const Resumed& resumed) {
  std::string text = resumed.run_id;
  for (const OutcomeRecord& outcome : resumed.failed)
    text += fmt::format(" {} {} {}", outcome.case_name, outcome.gpu, outcome.attempt);
  for (const auto& [name, gpu] : answered(resumed)) text += fmt::format(" {} {}", name, gpu);
  return fnv1a(text);
}

}  // namespace tidemark
