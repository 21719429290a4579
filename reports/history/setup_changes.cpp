// Holds two launches against each other, factor by factor.
#include "reports/history/setup_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tidemark::reports {
namespace {

using Values = std::set<std::string>;

std::string listed(const Values& values) {
  constexpr std::size_t kNamed = 3;
  if (values.empty() || values == Values{""}) return {};
  std::string made;
  std::size_t named = 0;
  for (const std::string& value : values) {
    if (named == kNamed) return made + fmt::format(" and {} more", values.size() - kNamed);
    made += fmt::format("{}{}", named++ == 0 ? "" : ", ", value.empty() ? "unknown" : value);
  }
  return made;
}

/// Setups of the launch's GPUs, or of one of them, each once.
std::set<std::uint32_t> setups_in(const PastLaunch& launch, std::uint32_t gpu) {
  std::set<std::uint32_t> made;
  for (std::size_t i = 0; i < launch.gpus.size(); ++i) {
    if (gpu == kNoRow || launch.gpus[i] == gpu) made.insert(launch.gpu_setup[i]);
  }
  return made;
}

Values values_in(const Chronicle& all, const std::set<std::uint32_t>& setups, std::size_t factor) {
  Values made;
  for (const std::uint32_t setup : setups) made.insert(all.setups[setup][factor]);
  return made;
}

/// Names are hashes under a key of their own in each anonymised report.
bool is_name(std::string_view factor) {
  return factor == "node" || factor == "boot" || factor == "arguments" || factor == "gpus" ||
         factor.starts_with("environment.");
}

void add(std::vector<SetupChange>& made, const std::string& factor, const Values& before,
         const Values& after) {
  if (before == after) return;
  const auto shown = [](const Values& values) {
    const std::string text = listed(values);
    return text.empty() ? std::string("unknown") : text;
  };
  made.push_back({factor, shown(before), shown(after)});
}

void add_gpu_set(std::vector<SetupChange>& made, const PastLaunch& before,
                 const PastLaunch& after) {
  const std::set<std::uint32_t> old(before.gpus.begin(), before.gpus.end());
  const std::set<std::uint32_t> now(after.gpus.begin(), after.gpus.end());
  if (old == now) return;
  std::vector<std::uint32_t> gone, come;
  std::set_difference(old.begin(), old.end(), now.begin(), now.end(), std::back_inserter(gone));
  std::set_difference(now.begin(), now.end(), old.begin(), old.end(), std::back_inserter(come));
  made.push_back({"gpus", fmt::format("{}, {} of them only here", old.size(), gone.size()),
                  fmt::format("{}, {} of them only here", now.size(), come.size())});
}

void add_launch_factors(std::vector<SetupChange>& made, const PastLaunch& before,
                        const PastLaunch& after) {
  std::vector<std::string> names;
  std::map<std::string, std::pair<Values, Values>> values;
  for (const PastLaunch* const launch : {&before, &after}) {
    for (const Factor& factor : launch->factors) {
      if (!values.contains(factor.name)) names.push_back(factor.name);
      auto& [old, now] = values[factor.name];
      (launch == &before ? old : now).insert(factor.value);
    }
  }
  for (const std::string& name : names) {
    if (name != "seed") add(made, name, values[name].first, values[name].second);
  }
}

}  // namespace

std::vector<SetupChange> setup_changes(const Chronicle& all, const std::set<std::string>& restless,
                                       std::uint32_t before, std::uint32_t after,
                                       std::uint32_t gpu) {
  const PastLaunch &first = all.launches[before], &second = all.launches[after];
  std::vector<SetupChange> made;
  const std::set<std::uint32_t> old = setups_in(first, gpu), now = setups_in(second, gpu);
  if (old != now) {
    for (std::size_t i = 0; i < setup_names().size(); ++i) {
      add(made, setup_names()[i], values_in(all, old, i), values_in(all, now, i));
    }
  }
  if (gpu == kNoRow) add_gpu_set(made, first, second);
  add_launch_factors(made, first, second);
  const bool anonymous = first.anonymised || second.anonymised;
  std::erase_if(made, [&](const SetupChange& change) {
    return restless.contains(change.factor) || (anonymous && is_name(change.factor));
  });
  return made;
}

std::set<std::string> restless_factors(const Chronicle& all) {
  constexpr std::size_t kFewest = 4;
  std::map<std::string, std::size_t> times;
  std::size_t pairs = 0;
  for (const bool is_virtual : {false, true}) {
    std::uint32_t last = kNoRow;
    for (std::uint32_t i = 0; i < all.launches.size(); ++i) {
      if (all.launches[i].is_virtual != is_virtual) continue;
      if (last != kNoRow) {
        ++pairs;
        for (const SetupChange& change : setup_changes(all, {}, last, i)) ++times[change.factor];
      }
      last = i;
    }
  }
  std::set<std::string> made;
  for (const auto& [factor, number] : times) {
    if (pairs >= kFewest && 2 * number > pairs) made.insert(factor);
  }
  return made;
}

std::string setup_value(const Chronicle& all, std::uint32_t launch, std::string_view factor) {
  const PastLaunch& past = all.launches[launch];
  const auto at = std::find(setup_names().begin(), setup_names().end(), factor);
  if (at != setup_names().end()) {
    const auto index = static_cast<std::size_t>(at - setup_names().begin());
    return listed(values_in(all, setups_in(past, kNoRow), index));
  }
  for (const Factor& each : past.factors) {
    if (each.name == factor) return each.value;
  }
  return {};
}

}  // namespace tidemark::reports
