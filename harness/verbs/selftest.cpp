// tidemark selftest: does this build notice what it is there to notice?
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "harness/base/clock.hpp"
#include "harness/base/errors.hpp"
#include "harness/selftest.hpp"
#include "harness/supervisor/stop.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/render/page.hpp"

namespace tidemark {
namespace {

struct TypedSelftest {
  bool list = false, json = false;
};

/// The first word of a line.
std::string_view word_of(Notice notice) {
  if (notice == Notice::noticed) return "ok";
  return notice == Notice::skipped ? "skip" : notice == Notice::broke ? "BROKE" : "MISSED";
}

std::string list_text() {
  std::string text;
  for (const Injection& injection : injections())
    text +=
        fmt::format("{:<24} {}: {}\n", injection.name, injection.how, text_of(injection.expected));
  return text;
}

nlohmann::ordered_json json_of(const Injection& injection) {
  const Expected& expected = injection.expected;
  nlohmann::ordered_json json = {
      {"name", injection.name}, {"how", injection.how}, {"expected", text_of(expected)}};
  // What one launch with several of them needs: ci/check_faults.
  if (injection.deed != Deed::none || expected.case_name.empty() || !expected.complete) return json;
  json["hook"] = injection.hook;
  json["fault"] = injection.fault;
  json["case"] = expected.case_name;
  json["verdict"] = name_of(expected.verdict);
  json["says"] = expected.says;
  return json;
}

std::string list_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Injection& injection : injections()) list.push_back(json_of(injection));
  return list.dump(2) + '\n';
}

std::string text_of(const Injection& injection, const Noticed& noticed) {
  std::string text = fmt::format("{:<6} {}: {}\n", word_of(noticed.notice), injection.name,
                                 printable(noticed.seen));
  if (noticed.notice == Notice::missed || noticed.notice == Notice::broke) {
    const std::string_view says = injection.expected.says;
    text += fmt::format("       expected {}{}; injected: {}\n", text_of(injection.expected),
                        says.empty() ? "" : fmt::format(", and '{}' said", says), injection.how);
  }
  return text;
}

ExitCode code_of(std::size_t missed, std::size_t broke) {
  if (broke > 0) return ExitCode::internal;
  return missed > 0 ? ExitCode::failed : ExitCode::ok;
}

void check_folder() {
  try {
    const ScratchFolder tried;
  } catch (const std::exception&) {
    const char* const given = std::getenv("TMPDIR");
    throw EnvironmentError(
        fmt::format("selftest: there is no folder to work in: {}; set TMPDIR to one that can be "
                    "written to",
                    given == nullptr ? "/tmp" : given));
  }
}

ExitCode selftest(bool json) {
  std::error_code error;
  // By its own name: mpirun starts ranks of it, in whose processes /proc/self is another.
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) throw EnvironmentError("selftest: /proc/self/exe cannot be read; mount /proc");
  StopWatch stop(0);  // a signal ends it between two injections, so that no folder is left
  check_folder();
  std::array<std::size_t, 4> counts{};
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Injection& injection : injections()) {
    if (const std::optional<StopReason>& reason = stop.check()) {
      print_error(fmt::format("selftest: {} before '{}'", reason->text, injection.name));
      return ExitCode::incomplete;
    }
    const double begun = monotonic_s();
    const Noticed noticed = carry_out(injection, program);
    ++counts[static_cast<std::size_t>(noticed.notice)];
    if (!json) {
      print_out(text_of(injection, noticed));
      continue;
    }
    nlohmann::ordered_json one = json_of(injection);
    one["result"] = name_of(noticed.notice);
    one["seen"] = printable(noticed.seen);
    one["seconds"] = monotonic_s() - begun;
    list.push_back(std::move(one));
  }
  const auto count = [&](Notice notice) { return counts[static_cast<std::size_t>(notice)]; };
  const std::size_t tried = injections().size() - count(Notice::skipped);
  const ExitCode code = code_of(count(Notice::missed), count(Notice::broke));
  if (json) {
    print_out(nlohmann::ordered_json{{"noticed", count(Notice::noticed)},
                                     {"injections", tried},
                                     {"skipped", count(Notice::skipped)},
                                     {"results", std::move(list)}}
                  .dump(2) +
              '\n');
  } else {
    print_out(fmt::format(
        "{} of {} injections noticed{}\n", count(Notice::noticed), tried,
        count(Notice::skipped) == 0 ? "" : fmt::format(", {} skipped", count(Notice::skipped))));
  }
  return code;
}

ExitCode act(const TypedSelftest& typed) {
  if (!typed.list) return selftest(typed.json);
  print_out(typed.json ? list_json() : list_text());
  return ExitCode::ok;
}

}  // namespace

void add_selftest(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand(
      "selftest", "See whether this build notices injected failures, on the virtual device");
  verb->footer("tidemark selftest");
  auto typed = std::make_shared<TypedSelftest>();
  verb->add_flag("--list", typed->list, "Say what would be injected and what has to come of it");
  verb->add_flag("--json", typed->json, "As JSON");
  verb->callback([typed, &chosen] { chosen = [typed] { return act(*typed); }; });
}

}  // namespace tidemark
