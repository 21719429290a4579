// Counts how often history tells a change of level of fleets that do not exist, with noise of known
// size, a line a question (reports/history/README.md has percentages); with --write it leaves the
// reports of one history instead.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reports/history/history.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {
namespace {

struct Typed {
  std::uint32_t gpus = 8, cases = 100, launches = 60, trials = 200, threads = 2;
  std::uint64_t seed = 1;
  std::string only, write;
};

/// What happens to the fleet in the course of its launches.
struct Course {
  double first_case = 0;        // what the first case loses at `from`, natural logarithm
  double first_node = 0;        // the eight first GPUs, in all cases
  std::uint32_t from = 0;       // first launch of the other driver
  std::uint32_t back = kNoRow;  // first launch of the old one again
  bool unexplained = false;     // the driver stays: no release is at the change
  double boot = 0;              // standard deviation of what each boot does to each case
  std::uint32_t launches_a_boot = 10;
  double remembered = 0;      // share of a night's noise that the next one keeps
  double kept = 0.0033;       // standard deviation of that noise
  std::uint32_t kept_by = 1;  // each so manieth case has it
  std::uint32_t a_night = 1;  // launches; all of a night are one series
  double night = 0;           // standard deviation of what each night does to each case
  double season = 0;          // half of what each case goes up and down in 30 nights
  double drift = 0;           // what each case loses from night to night
  FleetNoise noise = {};
};

double noise_of(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return normal_of(mixed(mixed(mixed(seed ^ 0x68697374) ^ a) ^ b));
}

/// What a night does to a case, whatever the launch; `kept` goes on to the next night.
double night_effect(const Typed& typed, std::uint64_t seed, const Course& course,
                    std::uint32_t night, std::uint32_t which, double& kept) {
  constexpr double kTwoPi = 6.283185307179586, kSeason = 30;
  const double boot = course.boot * noise_of(seed, which, 1 + night / course.launches_a_boot);
  const double fresh = std::sqrt(1 - course.remembered * course.remembered) * course.kept;
  kept = course.remembered * kept + fresh * noise_of(seed, which, 0x10000 + night);
  const double phase = kTwoPi * (night / kSeason + static_cast<double>(which) / typed.cases);
  return boot + (course.remembered > 0 && which % course.kept_by == 0 ? kept : 0) +
         course.night * noise_of(seed, which, 0x20000 + night) + course.season * std::sin(phase) -
         course.drift * night;
}

/// The launches of one history.
std::vector<Report> launches_of(const Typed& typed, std::uint64_t seed, const Course& course) {
  const SyntheticFleet fleet{
      .gpus = typed.gpus, .cases = typed.cases, .seed = seed, .noise = course.noise};
  constexpr double kFirstNight = 1767225600, kDay = 86400, kTenMinutes = 600;  // 2026-01-01
  std::vector<Report> made;
  std::vector<double> kept(typed.cases, 0), effects(typed.cases, 0);
  for (std::uint32_t night = 0; night < typed.launches; ++night) {
    const bool fresh = night >= course.from && night < course.back && course.from > 0;
    for (std::uint32_t which = 0; which < typed.cases; ++which) {
      effects[which] = night_effect(typed, seed, course, night, which, kept[which]);
    }
    for (std::uint32_t i = 0; i < course.a_night; ++i) {
      Report report =
          synthetic_launch(fleet, night * course.a_night + i, fresh,
                           {.first_case = course.first_case, .first_node = course.first_node});
      if (course.unexplained) report.strings[report.gpus[0].driver] = "580.105.08";
      report.launch.series_id = fmt::format("night-{}-{}", seed, night);
      report.launch.launch = i + 1;
      report.launch.launches = course.a_night;
      report.launch.created_unix_s = kFirstNight + kDay * night + kTenMinutes * i;
      for (std::uint32_t which = 0; which < typed.cases; ++which) {
        for (std::uint32_t gpu = 0; gpu < typed.gpus; ++gpu) {
          report.metrics[which * typed.gpus + gpu].median *= std::exp(effects[which]);
        }
      }
      made.push_back(std::move(report));
    }
  }
  return made;
}

History trial(const Typed& typed, std::uint32_t number, const Course& course) {
  Chronicle all;
  for (const Report& report : launches_of(typed, typed.seed + number, course)) {
    record_launch(all, facts_of(report, report.launch.run_id));
  }
  return history_of(std::move(all), {});
}

/// Whether anything was told on any night from the 20th on, looked at each night with what there
/// was by then.
bool told_any_night(const Typed& typed, std::uint32_t number) {
  constexpr std::uint32_t kFirstLook = 20;
  Chronicle all;
  for (const Report& report : launches_of(typed, typed.seed + number, {})) {
    record_launch(all, facts_of(report, report.launch.run_id));
    if (all.launches.size() >= kFirstLook && !history_of(all, {}).changes.empty()) return true;
  }
  return false;
}

using Judge = std::function<bool(const History&)>;

std::uint32_t counted(const Typed& typed, const Course& course, const Judge& judge) {
  std::atomic<std::uint32_t> count{0};
  for_each_trial(typed.trials, typed.threads, [&](std::uint32_t number) {
    if (judge(trial(typed, number, course))) ++count;
  });
  return count;
}

bool is_first_case(const History& history, const LevelChange& change) {
  return history.metrics[change.metric].key.case_name == "synthetic.case_0000";
}

/// Told of the typical GPU of the first case, at most one night off.
bool found_at(const History& history, std::uint32_t night, std::uint32_t a_night = 1) {
  for (const LevelChange& change : history.changes) {
    const std::uint32_t told = change.after / a_night;
    if (change.gpu == kNoRow && is_first_case(history, change) && told + 1 >= night &&
        told <= night + 1) {
      return true;
    }
  }
  return false;
}

Judge any_other() {
  return [](const History& history) {
    for (const LevelChange& change : history.changes) {
      if (!is_first_case(history, change) || change.gpu != kNoRow) return true;
    }
    return false;
  };
}

void say(const Typed& typed, std::string_view what, std::string_view asked, std::uint32_t count) {
  constexpr double kPercent = 100;
  fmt::print("| {} | {} | {} | {} | {} of {} ({:.1f} %) |\n", typed.gpus, typed.launches, what,
             asked, count, typed.trials, kPercent * count / typed.trials);
  std::fflush(stdout);
}

/// A line: how many histories of `course` the judge says yes to.
struct Question {
  std::string what, asked;
  Course course;
  Judge judge;
};

bool any_change(const History& history) { return !history.changes.empty(); }

/// Nothing changed in these: each change is a false one.
std::vector<Question> silent_questions(std::uint32_t half) {
  const std::string any = "any change told";
  // Without `quiet` a new noise of each night lies over what they keep.
  const FleetNoise quiet{.launch = 0, .shared = 0};
  const auto kept = [&](double share, double sd, std::uint32_t every = 1) {
    return Course{.remembered = share,
                  .kept = sd,
                  .kept_by = every,
                  .noise = every > 1 ? FleetNoise{} : quiet};
  };
  return {
      {"nothing changed", any, {}, any_change},
      {"nothing but another driver", any, {.from = half}, any_change},
      {"each boot (of 10 launches) moves each case by sd 0.2 %", any, {.boot = 0.002}, any_change},
      {"half of a launch's noise is that of the one before", any, {.remembered = 0.5}, any_change},
      {"nine tenths of a night's noise are that of the one before",
       any,
       {.remembered = 0.9},
       any_change},
      {"AR(0.7) of sd 0.33 % and no other noise", any, kept(0.7, 0.0033), any_change},
      {"AR(0.9) of sd 0.33 % and no other noise", any, kept(0.9, 0.0033), any_change},
      {"AR(0.7) of sd 1 % and no other noise", any, kept(0.7, 0.01), any_change},
      {"AR(0.9) of sd 1 % and no other noise", any, kept(0.9, 0.01), any_change},
      {"AR(0.9) of sd 1 % in one of ten cases", any, kept(0.9, 0.01, 10), any_change},
      {"a clock of ticks of 0.4 %", any, {.noise = {.step = 0.004}}, any_change},
      {"a clock of ticks of 1.6 %", any, {.noise = {.step = 0.016}}, any_change},
      {"a clock of ticks of 5 %", any, {.noise = {.step = 0.05}}, any_change},
      {"each case goes up and down by 0.5 % in 30 nights", any, {.season = 0.005}, any_change},
      {"nothing changed, five launches a night", any, {.a_night = 5}, any_change},
      {"each night moves each case by sd 0.5 %, five launches a night",
       any,
       {.a_night = 5, .night = 0.005},
       any_change},
  };
}

/// The first case, a node or all of them get slower.
std::vector<Question> true_questions(const Typed& typed, std::uint32_t half) {
  const std::string within = "told, within a launch";
  constexpr double kTwoPercent = -0.0202, kFivePercent = -0.0513;
  const std::uint32_t three = typed.launches - 3;
  const auto at = [](std::uint32_t night, std::uint32_t a_night = 1) {
    return Judge([=](const History& history) { return found_at(history, night, a_night); });
  };
  const auto drifts = [](const History& history) {
    return std::any_of(history.metrics.begin(), history.metrics.end(),
                       [](const auto& metric) { return metric.judged == Judged::drifting; });
  };
  const Course lone{.first_case = kTwoPercent, .from = half};
  const auto unexplained = [&](std::uint32_t from) {
    return Course{.first_case = kTwoPercent, .from = from, .unexplained = true};
  };
  const auto among = [&](double first_case, const FleetNoise& noise) {
    return Course{.first_case = first_case, .from = half, .noise = noise};
  };
  std::vector<Question> made = {
      {"all lose 0.1 % a night", "a metric is said to drift", {.drift = 0.001}, drifts},
      {"one case 2 % slower in the last 3 nights, five launches a night",
       "told, within a night",
       {.first_case = kTwoPercent, .from = three, .a_night = 5},
       at(three, 5)},
      {"one case 2 % slower from the middle on", within, lone, at(half)},
      {"one case 2 % slower from the middle on", "any other change told", lone, any_other()},
      {"one case 2 % slower from the middle on, the same driver", within, unexplained(half),
       at(half)},
      {"one case 2 % slower in the last 3, the same driver", within, unexplained(three), at(three)},
      {"one case 2 % slower in the last 3",
       within,
       {.first_case = kTwoPercent, .from = three},
       at(three)},
      {"one case 5 % slower in the last 3",
       within,
       {.first_case = kFivePercent, .from = three},
       at(three)},
      {"one case 2 % slower for 8 launches in the middle",
       within,
       {.first_case = kTwoPercent, .from = half, .back = half + 8},
       at(half)},
      {"one case 2 % slower from the middle on, all others count cycles", within,
       among(kTwoPercent, {.counts = 1 - 1.0 / typed.cases}), at(half)},
      {"one case 2 % slower from the middle on, by ticks of 0.4 %", within,
       among(kTwoPercent, {.step = 0.004}), at(half)},
      {"one case 5 % slower from the middle on, by ticks of 1.6 %", within,
       among(kFivePercent, {.step = 0.016}), at(half)},
  };
  if (typed.gpus > 2 * kGpusOfNode) {
    const auto node = [](const History& history) {
      std::size_t right = 0;
      for (const LevelChange& change : history.changes) {
        if (change.gpu == kNoRow || change.gpu >= kGpusOfNode) return false;
        ++right;
      }
      return right == history.metrics.size() * kGpusOfNode;
    };
    made.push_back({"one node 5 % slower from the middle on",
                    "all its GPUs in all cases, and no other",
                    {.first_node = kFivePercent, .from = half},
                    node});
  }
  return made;
}

void run_trials(const Typed& typed) {
  const std::uint32_t half = typed.launches / 2;
  std::vector<Question> all = silent_questions(half);
  for (Question& question : true_questions(typed, half)) all.push_back(std::move(question));
  const auto is_wanted = [&](const std::string& what) {
    return what.find(typed.only) != std::string::npos;
  };
  for (const Question& question : all) {
    if (!is_wanted(question.what)) continue;
    say(typed, question.what, question.asked, counted(typed, question.course, question.judge));
  }
  const std::string nightly = "nothing changed, looked at each night from the 20th on";
  if (!is_wanted(nightly)) return;
  std::atomic<std::uint32_t> nights{0};
  for_each_trial(typed.trials, typed.threads, [&](std::uint32_t number) {
    if (told_any_night(typed, number)) ++nights;
  });
  say(typed, nightly, "any change told on any night", nights);
}

/// The first case is slower from the middle on, the second fails on a GPU in the last third, and
/// one launch ended early: something of everything to look at.
void write_reports(const Typed& typed) {
  std::filesystem::create_directories(typed.write);
  const Course course{.first_case = -0.0202, .from = typed.launches / 2};
  std::uint32_t number = 0;
  for (Report& report : launches_of(typed, typed.seed, course)) {
    if (number >= 2 * typed.launches / 3 && typed.cases > 1) {
      report.results[typed.gpus].verdict = Verdict::fail;
    }
    if (number == typed.launches / 4) {
      report.launch.complete = false;
      report.launch.incomplete_reason = "the launch was interrupted";
    }
    write_report(report, fmt::format("{}/night-{:04}.h5", typed.write, number++),
                 NameInUse::replace);
  }
}

int trials_main(int argc, char** argv) {
  Typed typed;
  CLI::App app("How often history tells a change of synthetic fleets");
  app.add_option("--gpus", typed.gpus, "GPUs, eight a node (8)")->check(CLI::Range(1, 4096));
  app.add_option("--cases", typed.cases, "Cases (100)")->check(CLI::Range(1, 10000));
  app.add_option("--launches", typed.launches, "Launches of a history (60)")
      ->check(CLI::Range(8, 10000));
  app.add_option("--trials", typed.trials, "Histories a line (200)")->check(CLI::Range(1, 1000000));
  app.add_option("--threads", typed.threads, "Threads (2)")->check(CLI::Range(1, 64));
  app.add_option("--seed", typed.seed, "Of the first history (1)");
  app.add_option("--only", typed.only, "Lines with this text alone");
  app.add_option("--write", typed.write, "Leave the reports of one history in this folder instead");
  CLI11_PARSE(app, argc, argv);
  if (typed.write.empty()) {
    run_trials(typed);
  } else {
    write_reports(typed);
  }
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  try {
    return tidemark::trials_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "history_trials: {}\n", error.what());
    return 2;
  }
}
