// A comparison as JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/document/comparison/document.hpp"
#include "reports/document/comparison/places.hpp"
#include "reports/document/comparison/told.hpp"

namespace tidemark::reports {
namespace {

using Json = nlohmann::ordered_json;

Json side_of(const std::vector<LaunchFacts>& launches) {
  Json made = Json::array();
  for (const LaunchFacts& launch : launches) {
    made.push_back({{"path", launch.path},
                    {"run_id", launch.launch.run_id},
                    {"created_utc", launch.launch.created_utc},
                    {"complete", launch.launch.complete},
                    {"slowed", launch.slowed}});
  }
  return made;
}

Json effect_of(const Effect& effect) {
  return {{"effect", effect.effect},
          {"margin_95", effect.margin()},
          {"spread", effect.spread},
          {"standard_error", effect.standard_error},
          {"degrees", effect.degrees},
          {"p", effect.p},
          {"q", effect.q},
          {"base_launches", effect.base},
          {"new_launches", effect.fresh}};
}

Json setup_of(const SetupComparison& setup) {
  Json differences = Json::array();
  for (const SetupDifference& difference : setup.differences) {
    differences.push_back({{"factor", difference.factor},
                           {"base", difference.base},
                           {"new", difference.fresh},
                           {"gpus", difference.gpus},
                           {"subject", difference.subject},
                           {"allowed", difference.allowed},
                           {"idle", difference.idle}});
  }
  return {{"differences", differences}, {"remarks", setup.remarks}};
}

Json changes_of(const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  Json made = Json::array();
  for (const ChangeGroup& group : comparison.conformance.groups) {
    Json cases = Json::array(), gpus = Json::array();
    for (const std::uint32_t which : group.cases) cases.push_back(pairing.cases[which]);
    for (const std::uint32_t gpu : group.gpus) gpus.push_back(pairing.gpus[gpu].key);
    made.push_back({{"kind", name_of(group.kind)},
                    {"place", place_of(pairing, group.gpus)},
                    {"cases", cases},
                    {"gpus", gpus}});
  }
  return made;
}

Json speed_of(const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  Json made = Json::array();
  for (const SpeedFinding& finding : comparison.speed.series) {
    made.push_back({{"case", pairing.cases[finding.of_case]},
                    {"metric", finding.metric},
                    {"unit", finding.unit},
                    {"higher_is_better", finding.higher_is_better},
                    {"verdict", name_of(finding.verdict)},
                    {"waived", finding.waived},
                    {"why", finding.why},
                    {"base", finding.base_value},
                    {"new", finding.fresh_value},
                    {"own", effect_of(finding.own)},
                    {"total", finding.total},
                    {"reference", finding.reference},
                    {"floor", finding.floor},
                    {"noise", finding.noise},
                    {"launches_needed", finding.launches_needed},
                    {"smallest_seen", finding.smallest_seen},
                    {"smallest_by_stored_noise", finding.smallest_stored},
                    {"gpus", finding.gpus},
                    {"gpus_left_out", finding.gpus_left_out}});
  }
  return made;
}

Json gpus_of(const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  Json made = Json::array();
  for (const GpuFinding& finding : comparison.speed.gpus) {
    Json gpus = Json::array();
    Json changes = Json::array();  // of each
    for (std::size_t i = 0; i < finding.gpus.size(); ++i) {
      gpus.push_back(pairing.gpus[finding.gpus[i]].key);
      changes.push_back(
          {{"total", finding.changes[i].total}, {"own", effect_of(finding.changes[i].own)}});
    }
    const auto [least, most] = finding.range();
    made.push_back({{"case", pairing.cases[finding.of_case]},
                    {"metric", finding.metric},
                    {"verdict", name_of(finding.verdict)},
                    {"waived", finding.waived},
                    {"place", place_of(pairing, finding.gpus)},
                    {"gpus", gpus},
                    {"changes", changes},
                    {"by_itself", finding.alone},
                    {"least", least},
                    {"most", most}});
  }
  return made;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json json = {{"result", headline_of(comparison)},
               {"action", action_text(comparison)},
               {"cause", comparison.setup.cause == Cause::driver       ? "driver"
                         : comparison.setup.cause == Cause::confounded ? "confounded"
                                                                       : "nothing_recorded"},
               {"cause_text", cause_text(comparison)},
               {"virtual", comparison.pairing.launches.front()->launch.is_virtual},
               {"findings", findings_of(comparison)},
               {"base", side_of(comparison.base)},
               {"new", side_of(comparison.fresh)},
               {"paired_gpus", comparison.paired_gpus},
               {"incomplete", comparison.incomplete},
               {"warnings", warnings_of(comparison)},
               {"setup", setup_of(comparison.setup)}};
  for (std::size_t i = 0; i < kChangeKinds; ++i) {
    json["counts"][std::string(kChangeKindNames[i])] = comparison.conformance.counts[i];
  }
  json["counts"]["compared"] = comparison.conformance.compared;
  json["counts"]["passed_in_both"] = comparison.conformance.passed_in_both;
  json["counts"]["descriptors_unjudged"] = comparison.conformance.descriptors_unjudged;
  json["behaviours_unjudged"] = Json::array();
  for (const std::uint32_t which : comparison.conformance.behaviours_unjudged) {
    json["behaviours_unjudged"].push_back(comparison.pairing.cases[which]);
  }
  json["changes"] = changes_of(comparison);
  json["waivers"] = Json::array();
  for (const WaiverLedger::Line& waiver : comparison.waivers) {
    json["waivers"].push_back({{"text", waiver.text}, {"attention", waiver.attention}});
  }
  json["shared"] = effect_of(comparison.speed.effects.shared);
  json["shared"]["verdict"] = name_of(comparison.speed.shared);
  json["speed"] = speed_of(comparison);
  json["gpu_speed"] = gpus_of(comparison);
  // Escaped to ASCII, so that JSON shown on a terminal cannot drive it; NaN is dumped as null.
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace tidemark::reports
