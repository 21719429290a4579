// A history as JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/document/history/document.hpp"

namespace tidemark::reports {
namespace {

using Json = nlohmann::ordered_json;

Json counts_of(const PastLaunch& launch) {
  Json made = Json::object();
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (launch.verdicts[i] > 0) made[std::string(kVerdictNames[i])] = launch.verdicts[i];
  }
  return made;
}

Json launches_of(const Chronicle& all) {
  Json made = Json::array();
  for (std::uint32_t i = 0; i < all.launches.size(); ++i) {
    const PastLaunch& launch = all.launches[i];
    Json setup = Json::object();
    for (const std::string& name : setup_names()) setup[name] = setup_value(all, i, name);
    for (const Factor& factor : launch.factors) setup[factor.name] = factor.value;
    made.push_back({{"path", launch.path},
                    {"run_id", launch.run_id},
                    {"created_utc", utc_text(launch.at_unix_s)},
                    {"created_unix_s", launch.at_unix_s},
                    {"level", launch.level},
                    {"device", launch.device},
                    {"virtual", launch.is_virtual},
                    {"complete", launch.incomplete_reason.empty()},
                    {"incomplete_reason", launch.incomplete_reason},
                    {"gpus", launch.gpus.size()},
                    {"verdicts", counts_of(launch)},
                    {"slowed", launch.slowed},
                    {"setup", setup}});
  }
  return made;
}

Json setup_json(const std::vector<SetupChange>& setup) {
  Json made = Json::array();
  for (const SetupChange& change : setup) {
    made.push_back({{"factor", change.factor}, {"before", change.before}, {"after", change.after}});
  }
  return made;
}

Json gpu_json(const History& history, std::uint32_t gpu) {
  return gpu == kNoRow ? Json("all") : Json(history.chronicle.gpus[gpu].key);
}

Json change_json(const History& history, const LevelChange& change) {
  return {{"gpu", gpu_json(history, change.gpu)},
          {"apart_from_the_others", change.apart},
          {"last_launch_before", change.before},
          {"first_launch_after", change.after},
          {"percent", 100 * std::expm1(change.step)},
          {"from", change.from},
          {"to", change.to},
          {"worse", change.is_worse(history.metrics[change.metric].key)},
          {"p", change.p}};
}

/// NaN has no place in JSON: it becomes null.
Json values_json(const MetricLevels& levels, std::size_t gpu) {
  Json made = Json::array();
  for (const double value : levels.own[gpu]) made.push_back(std::exp(value));
  return made;
}

Json metric_json(const History& history, const MetricPast& metric) {
  const MetricLevels levels = levels_of(history.chronicle, *metric.values);
  Json typical = Json::array(), gpus = Json::array(), changes = Json::array();
  for (const double value : levels.typical) typical.push_back(std::exp(value));
  for (std::size_t i = 0; i < levels.gpus.size(); ++i) {
    gpus.push_back(
        {{"gpu", gpu_json(history, levels.gpus[i])}, {"medians", values_json(levels, i)}});
  }
  for (const std::size_t change : metric.changes) {
    changes.push_back(change_json(history, history.changes[change]));
  }
  return {{"case", metric.key.case_name},
          {"metric", metric.key.metric},
          {"unit", metric.key.unit},
          {"level", metric.key.level},
          {"virtual", metric.key.is_virtual},
          {"higher_is_better", metric.key.higher_is_better},
          {"judged", name_of(metric.judged)},
          {"launches", levels.launches},
          {"typical", typical},
          {"gpus", gpus},
          {"changes", changes}};
}

Json case_json(const History& history, const CasePast& past) {
  Json launches = Json::array();
  for (const PastResults& each : *past.results) {
    launches.push_back({{"launch", each.launch},
                        {"state", name_of(state_of(each))},
                        {"worst", name_of(each.worst)},
                        {"passed", each.passed},
                        {"bad", each.bad},
                        {"waived", each.waived},
                        {"rows", each.rows},
                        {"lacking", each.lacking},
                        {"quiet", each.quiet}});
  }
  Json bad_gpus = Json::array(), open_gpus = Json::array();
  for (const std::uint32_t gpu : past.open_gpus) open_gpus.push_back(gpu_json(history, gpu));
  for (const std::uint32_t gpu : past.results->back().bad_gpus) {
    bad_gpus.push_back(gpu_json(history, gpu));
  }
  Json made = {{"case", past.name},
               {"virtual", past.is_virtual},
               {"state", name_of(past.state)},
               {"launches_in_a_row", past.in_a_row},
               {"launches_bad", past.launches_bad},
               {"turns", past.turns},
               {"launches_waived", past.launches_waived},
               {"launches_without_it", past.launches_without},
               {"bad_gpus", bad_gpus},
               {"open_gpus", open_gpus},
               {"changed_since_it_passed", setup_json(past.setup)},
               {"launches", launches}};
  made["first_bad_launch"] = past.first_bad ? Json(*past.first_bad) : Json(nullptr);
  made["last_bad_launch"] = past.first_bad ? Json(past.last_bad) : Json(nullptr);
  made["since_launch"] =
      past.first_bad || past.state == CaseState::passing ? Json(past.since) : Json(nullptr);
  return made;
}

}  // namespace

std::string history_json(const History& history, const ShowOptions& options) {
  Json metrics = Json::array(), events = Json::array(), cases = Json::array();
  for (const MetricPast& metric : history.metrics) metrics.push_back(metric_json(history, metric));
  for (const ChangeEvent& event : history.events) {
    events.push_back({{"last_launch_before", event.before},
                      {"first_launch_after", event.after},
                      {"gpu", gpu_json(history, event.gpu)},
                      {"metrics", event.changes.size()},
                      {"setup", setup_json(event.setup)}});
  }
  for (const CasePast& past : history.cases) cases.push_back(case_json(history, past));
  const Json made = {{"launches", launches_of(history.chronicle)},
                     {"refused", options.refused},
                     {"floor_percent", 100 * history.options.floor},
                     {"metrics", metrics},
                     {"events", events},
                     {"cases", cases}};
  // Names of reports are bytes: what is no UTF-8 must not be an exception.
  return made.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace tidemark::reports
