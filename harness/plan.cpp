// Selects cases by name and level.
#include "harness/plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "harness/base/errors.hpp"
#include "harness/command_line/option_values.hpp"
#include "kernels/ops/payload.hpp"

namespace tidemark {
namespace {

bool any_matches(const std::vector<std::string>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return glob_matches(glob, name); });
}

std::vector<std::string_view> case_names() {
  std::vector<std::string_view> names;
  for (const Case& which : all_cases()) names.push_back(which.name);
  return names;
}

bool any_case_matches(const std::string& glob) {
  return std::any_of(all_cases().begin(), all_cases().end(),
                     [&](const Case& which) { return glob_matches(glob, which.name); });
}

/// For a glob that matches none of `names`; `list` where none is like it.
std::string what_to_do(const std::string& glob, const std::vector<std::string_view>& names,
                       const std::string& list) {
  const std::string family = glob + ".*";
  if (std::any_of(names.begin(), names.end(),
                  [&](std::string_view name) { return glob_matches(family, name); }))
    return fmt::format("did you mean '{}'?", family);
  const std::string near = did_you_mean(glob, names);
  return near.empty() ? list : near;
}

// A typing mistake must not quietly run less (or, in --exclude, more) than was asked for.
void refuse_unknown(const std::vector<std::string>& globs, std::string_view option) {
  for (const std::string& glob : globs) {
    if (any_case_matches(glob)) continue;
    throw UsageError(fmt::format("{} '{}' matches no case; {}", option, glob,
                                 what_to_do(glob, case_names(), "'tidemark list' shows all")));
  }
}

/// A case that is no benchmark: which benchmarks stand on it.
std::string timed_by(const std::string& glob) {
  std::vector<std::string_view> names;
  for (const Case& which : all_cases()) {
    if (!which.correct_by.empty() && glob_matches(glob, which.correct_by))
      names.push_back(which.name);
  }
  return names.empty() ? "'tidemark list' says which are"
                       : fmt::format("'{}' stands on it", fmt::join(names, "', '"));
}

void refuse_what_is_no_benchmark(const std::vector<std::string>& globs) {
  std::vector<std::string_view> names;
  for (const Case& which : all_cases()) {
    if (which.kind == CaseKind::benchmark) names.push_back(which.name);
  }
  for (const std::string& glob : globs) {
    if (std::any_of(names.begin(), names.end(),
                    [&](std::string_view name) { return glob_matches(glob, name); }))
      continue;
    if (any_case_matches(glob))
      throw UsageError(fmt::format("bench '{}' is no benchmark; {}", glob, timed_by(glob)));
    throw UsageError(fmt::format("bench '{}' matches no benchmark; {}", glob,
                                 what_to_do(glob, names, "'tidemark list' says which there are")));
  }
}

/// What is asked for must not be left out without a word.
void refuse_cases_of_all_gpus(const std::vector<std::string>& globs) {
  for (const std::string& glob : globs)
    if (std::ranges::none_of(all_cases(), [&](const Case& which) {
          return which.scope == CaseScope::one_gpu && glob_matches(glob, which.name);
        }))
      throw UsageError(fmt::format(
          "--jit runs cases of one GPU alone; '{}' is of all GPUs: leave it out", glob));
}

/// A glob that begins with the family of a fault case selects it at any level. Its Xids must not
/// come along with a glob that is wider.
bool is_named(const LaunchOptions& options, const Case& which) {
  if (which.expected_error == nullptr) return false;
  const std::string_view family = which.name.substr(0, which.name.rfind('.'));
  return std::any_of(options.cases.begin(), options.cases.end(), [&](const std::string& glob) {
    return glob.starts_with(family) && glob_matches(glob, which.name);
  });
}

Level lowest_level(const std::vector<const Case*>& cases) {
  return (*std::min_element(cases.begin(), cases.end(),
                            [](const Case* a, const Case* b) { return a->level < b->level; }))
      ->level;
}

bool before(const Case* a, const Case* b) {
  return a->kind != b->kind ? a->kind < b->kind : a->name < b->name;
}

void check_slowed(const LaunchOptions& options, const std::vector<const Case*>& planned) {
  for (const auto& [name, share] : options.slow) {
    const Case* which = case_named(name);
    if (which == nullptr) {
      throw UsageError(fmt::format("--slow '{}': there is no such case; {}", name,
                                   what_to_do(name, case_names(), "'tidemark list' shows all")));
    }
    if (which->kind != CaseKind::benchmark)
      throw UsageError(fmt::format(
          "--slow '{}': is no benchmark, so nothing is timed; 'tidemark list' says which are",
          name));
    if (std::find(planned.begin(), planned.end(), which) == planned.end())
      throw UsageError(
          fmt::format("--slow '{}': is not among the cases of this run; choose it by {} or --level",
                      name, options.bench ? "name" : "--cases"));
  }
}

/// An option that changes nothing must not look as if it did.
void check_product_used(const LaunchOptions& options, const std::vector<const Case*>& planned) {
  const auto check = [&](bool given, const std::string& option, ProductUse use, auto whose) {
    if (!given || std::any_of(planned.begin(), planned.end(),
                              [&](const Case* which) { return which->product >= use; }))
      return;
    throw UsageError(fmt::format("{}: no case of this run {}; choose one by {}", option, whose,
                                 options.bench ? "name" : "--cases"));
  };
  check(options.transport.has_value(), fmt::format("--transport {}", name_of(options.transport)),
        ProductUse::route, "is a distributed GEMM");
  check(options.product.has_grid(), "--grid " + grid_text(options.product.grid), ProductUse::route,
        "is a distributed GEMM");
  check(options.product.has_shape(), shape_text(options.product.shape), ProductUse::sizes,
        "takes sizes, as gemm.distributed.speed and gemm.distributed.integer do");
}

void shuffle_benchmarks(std::vector<const Case*>& cases, std::uint64_t seed) {
  const auto first = std::find_if(cases.begin(), cases.end(), [](const Case* which) {
    return which->kind == CaseKind::benchmark;
  });
  // std::shuffle is another one in every library; ranks and replays need the same everywhere.
  for (auto left = static_cast<std::uint64_t>(cases.end() - first); left > 1; --left) {
    seed = splitmix64(seed);
    std::swap(first[static_cast<std::ptrdiff_t>(left - 1)],
              first[static_cast<std::ptrdiff_t>(seed % left)]);
  }
}

}  // namespace

std::vector<const Case*> selected_cases(const LaunchOptions& options) {
  if (options.bench)
    refuse_what_is_no_benchmark(options.cases);
  else
    refuse_unknown(options.cases, "--cases");
  refuse_unknown(options.exclude, "--exclude");
  if (options.jit) refuse_cases_of_all_gpus(options.cases);
  std::vector<const Case*> named;
  for (const Case& which : all_cases()) {
    if (options.bench && which.kind != CaseKind::benchmark) continue;
    // NCCL comes without PTX.
    if (options.jit && which.scope == CaseScope::all_gpus) continue;
    if ((options.cases.empty() || any_matches(options.cases, which.name)) &&
        !any_matches(options.exclude, which.name))
      named.push_back(&which);
  }
  if (named.empty()) throw UsageError("--exclude leaves no case to run; take a glob away from it");
  std::vector<const Case*> selected;
  std::copy_if(named.begin(), named.end(), std::back_inserter(selected), [&](const Case* which) {
    return which->level <= options.level || is_named(options, *which);
  });
  if (selected.empty())
    throw UsageError(fmt::format(
        "--level {} leaves no case to run; the lowest level of those chosen is --level {}",
        name_of(options.level), name_of(lowest_level(named))));
  if (options.row >= 0 && selected.size() != 1)
    throw UsageError(
        fmt::format("--row {} needs exactly one case, and {} are chosen; name one with --cases",
                    options.row, selected.size()));
  std::sort(selected.begin(), selected.end(), before);
  return selected;
}

Plan make_plan(const LaunchOptions& options) {
  std::vector<const Case*> all = selected_cases(options);
  // A number stands only beside a passed conformance case, so that case comes along even where
  // level or --exclude would leave it out.
  for (std::size_t i = 0, chosen = all.size(); i < chosen; ++i) {
    const Case* needed = all[i]->correct_by.empty() ? nullptr : case_named(all[i]->correct_by);
    if (needed != nullptr && std::find(all.begin(), all.end(), needed) == all.end())
      all.push_back(needed);
  }
  std::sort(all.begin(), all.end(), before);
  check_slowed(options, all);
  check_product_used(options, all);
  Plan plan;
  for (const Case* which : all) {
    (which->scope == CaseScope::one_gpu ? plan.one_gpu : plan.all_gpus).push_back(which);
  }
  return plan;
}

Plan shuffled(Plan plan, std::uint64_t seed, std::uint32_t number) {
  shuffle_benchmarks(plan.one_gpu, splitmix64(seed) + number);
  shuffle_benchmarks(plan.all_gpus, splitmix64(seed) + number);
  return plan;
}

void check_row(const LaunchOptions& options, const RunContext& context) {
  if (options.row < 0) return;
  const Case& which = *selected_cases(options).front();
  // Which rows it has depends on how panels can travel, which only the workers find out; they look.
  if (which.product != ProductUse::none) return;
  const std::size_t rows = which.rows == nullptr ? 0 : which.rows(context).size();
  if (static_cast<std::uint64_t>(options.row) < rows) return;
  const std::string there =
      rows == 0 ? "no rows on this device; leave --row out"
                : fmt::format("rows 0 to {} on this device; take one of them", rows - 1);
  throw UsageError(fmt::format("--row {}: at --level {} {} has {}", options.row,
                               name_of(options.level), which.name, there));
}

std::vector<PlannedCase> planned_cases(const Plan& plan) {
  std::vector<PlannedCase> planned;
  for (const auto* cases : {&plan.one_gpu, &plan.all_gpus}) {
    for (const Case* which : *cases) {
      planned.push_back({
          .name = std::string(which->name),
          .kind = std::string(name_of(which->kind)),
          .scope = std::string(name_of(which->scope)),
          .claim = std::string(which->claim),
          .unit = std::string(which->unit),
          .higher_is_better = which->higher_is_better,
      });
    }
  }
  return planned;
}

}  // namespace tidemark
