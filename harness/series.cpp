// Names, a meeting between launches, and the calibration at their end.
#include "harness/series.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "reports/base/error.hpp"
#include "reports/base/words.hpp"
#include "reports/compare/speed/noise.hpp"
#include "reports/store/report.hpp"

namespace tidemark::harness {
namespace {

using Json = nlohmann::ordered_json;

std::vector<LaunchFacts> facts_of_all(const std::vector<std::string>& paths) {
  std::vector<LaunchFacts> made;
  for (const std::string& path : paths) {
    made.push_back(facts_of(read_own_report(path), path));
    const LaunchRow& launch = made.back().launch;
    if (launch.complete) continue;
    throw ReportError(fmt::format("{} is incomplete ({}); run the calibration again", path,
                                  launch.incomplete_reason));
  }
  return made;
}

std::string table_of(const std::vector<MetricNoise>& noise, std::size_t launches, bool is_virtual) {
  std::size_t width = 6;
  for (const MetricNoise& one : noise) {
    width = std::max(width, one.of_case.size() + 1 + one.metric.size());
  }
  std::string text = fmt::format(
      "calibration{}: what {} launches differ by, and the smallest change that compare would find "
      "8 "
      "times of 10\nwith five launches a side\n{:<{}}  {:>8}  {:>8}  GPUs\n",
      is_virtual ? " (VIRTUAL device)" : "", launches, "metric", width, "spread", "smallest");
  for (const MetricNoise& one : noise) {
    const std::string name = one.of_case + "/" + one.metric;
    text += one.why.empty() ? fmt::format("{:<{}}  {:>8}  {:>8}  {:>4}\n", name, width,
                                          percent(one.spread), percent(one.smallest), one.gpus)
                            : fmt::format("{:<{}}  not known: {}\n", name, width, one.why);
  }
  return text;
}

std::string json_of(const std::vector<MetricNoise>& noise,
                    const std::vector<std::string>& reports) {
  Json metrics = Json::array();
  for (const MetricNoise& one : noise) {
    metrics.push_back({{"case", one.of_case},
                       {"metric", one.metric},
                       {"launches", one.launches},
                       {"gpus", one.gpus},
                       {"spread", one.spread},  // NaN is dumped as null
                       {"smallest_effect", one.smallest},
                       {"why", one.why}});
  }
  const Json all = {{"calibration", metrics}, {"reports", reports}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string report_name(const std::string& out, std::uint32_t number, std::uint32_t launches) {
  if (launches == 1) return out;
  const std::filesystem::path path(out);
  const std::string extension = path.extension().string();
  return fmt::format("{}-{}{}", out.substr(0, out.size() - extension.size()), number, extension);
}

bool all_go_on(Mesh& mesh, StopWatch& stop) {
  Patience patience{
      .silence_s = 60, .total_s = 600, .meanwhile = [&stop] { return !stop.check(); }};
  // A rank that was told to stop has a second before mpirun kills it.
  if (stop.check()) patience = {.silence_s = 0.4, .total_s = 0.4};
  const FirstWord first = mesh.first_word(stop.check() ? stop.check()->text : "", patience);
  if (!first.text.empty()) stop.stop({.text = first.text, .signal = 0, .heard = true});
  if (!first.silent.empty()) {
    stop.stop({.text = fmt::format("rank {} was silent", fmt::join(first.silent, ", ")),
               .signal = 0,
               .heard = true});
  }
  return !stop.check();
}

ExitCode calibrate(const std::vector<std::string>& reports, bool json, Output& out) {
  const std::vector<LaunchFacts> facts = facts_of_all(reports);
  const LaunchRow& first = facts.front().launch;
  // Anonymised reports hash under a key each, but the launches of one command number GPUs alike.
  const PairBy by = first.anonymised ? PairBy::number : PairBy::uuid;
  const std::vector<MetricNoise> noise = noise_between(facts, by);
  for (const std::string& path : reports) {
    Report report = read_own_report(path);
    store_noise(report, noise);
    write_report(report, path, NameInUse::replace);
  }
  out.put(json ? json_of(noise, reports) : table_of(noise, reports.size(), first.is_virtual));
  if (out.lost()) {
    // Nobody should run five launches again because of what lies behind stdout.
    print_error(fmt::format("the calibration is stored in all {} reports, but lines are lost",
                            reports.size()));
    return ExitCode::usage;
  }
  const bool any = std::any_of(noise.begin(), noise.end(),
                               [](const MetricNoise& one) { return one.why.empty(); });
  return any ? ExitCode::ok : ExitCode::incomplete;
}

ExitCode calibrate_together(Mesh& mesh, const std::vector<std::string>& reports, bool json,
                            Output& out) {
  Json told;
  if (mesh.rank() == 0) {
    ExitCode code = ExitCode::usage;
    try {
      code = calibrate(reports, json, out);
    } catch (const std::runtime_error& trouble) {
      print_error(fmt::format("no calibration: {}", trouble.what()));
    }
    told = static_cast<int>(code);
  }
  // Reports of a large fleet take their time, and rank 0 says nothing meanwhile.
  const auto heard = mesh.broadcast(told.dump(), {.silence_s = 600, .total_s = 1200});
  const Json code = heard ? Json::parse(*heard, nullptr, false) : Json();
  return code.is_number_integer() ? static_cast<ExitCode>(code.get<int>()) : ExitCode::incomplete;
}

}  // namespace tidemark::harness
