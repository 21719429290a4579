// tidemark doctor: what is missing or misconfigured on this node.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "harness/base/environment.hpp"
#include "harness/base/errors.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/doctor/node_checks.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/render/page.hpp"

namespace tidemark {
namespace {

struct TypedDoctor {
  std::string device = "auto", out = ".";
  bool json = false;
};

std::size_t checks_with(const std::vector<NodeCheck>& checks, CheckStatus status) {
  return static_cast<std::size_t>(std::count_if(
      checks.begin(), checks.end(), [&](const auto& check) { return check.status == status; }));
}

constexpr std::array kStatuses = {CheckStatus::fail, CheckStatus::warn, CheckStatus::ok,
                                  CheckStatus::skip};

std::string text_of(const std::vector<NodeCheck>& checks) {
  std::string text;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const NodeCheck& check = checks[i];
    if (check.status == CheckStatus::skip && i > 0 && checks[i - 1].seen == check.seen) {
      text.insert(text.size() - 1, ", " + check.name);  // skipped for the same reason
      continue;
    }
    if (check.status == CheckStatus::skip) {
      text += fmt::format("skip  {}: {}\n", printable(check.seen), check.name);
      continue;
    }
    text +=
        fmt::format("{:<5} {:<16} {}\n", name_of(check.status), check.name, printable(check.seen));
    if (!check.fix.empty()) text += fmt::format("{:22} fix: {}\n", "", printable(check.fix));
  }
  std::string counts;
  for (const CheckStatus status : kStatuses)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", checks_with(checks, status),
                          name_of(status));
  return text + counts + '\n';
}

std::string json_of(const std::vector<NodeCheck>& checks) {
  nlohmann::ordered_json counts, list = nlohmann::ordered_json::array();
  for (const CheckStatus status : kStatuses) counts[name_of(status)] = checks_with(checks, status);
  for (const NodeCheck& check : checks) {
    list.push_back({{"name", check.name}, {"status", name_of(check.status)}, {"seen", check.seen}});
    if (!check.fix.empty()) list.back()["fix"] = check.fix;
    if (!check.gpu.empty()) list.back()["gpu"] = check.gpu;
  }
  const nlohmann::ordered_json json = {{"counts", counts}, {"checks", list}};
  // What a driver says need not be UTF-8.
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

ExitCode doctor(const TypedDoctor& typed) {
  const std::vector<NodeCheck> checks = checks_of(read_node(
      {.path = variable_of("PATH"), .device = device_of(typed.device), .out = typed.out}));
  print_out(typed.json ? json_of(checks) : text_of(checks));
  return checks_with(checks, CheckStatus::fail) > 0 ? ExitCode::environment : ExitCode::ok;
}

}  // namespace

void add_doctor(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand(
      "doctor", "Say what is missing or misconfigured on this node; change nothing");
  verb->footer("tidemark doctor --out /shared/reports");
  auto typed = std::make_shared<TypedDoctor>();
  verb->add_option("--device", typed->device, "virtual: leave GPUs out (auto)")
      ->type_name(device_names());
  verb->add_option("--out", typed->out, "Folder for reports: may it be written to, is it full (.)")
      ->type_name("DIR");
  verb->add_flag("--json", typed->json, "As JSON");
  verb->callback([typed, &chosen] { chosen = [typed] { return doctor(*typed); }; });
}

}  // namespace tidemark
