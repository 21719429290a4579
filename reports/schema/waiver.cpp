// Holds waivers against cases, GPUs, drivers and days.
#include "reports/schema/waiver.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "reports/base/words.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {
namespace {

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The part up to the next dot, taken off.
std::string_view next_part(std::string_view& version) {
  const std::size_t dot = std::min(version.find('.'), version.size());
  const std::string_view part = version.substr(0, dot);
  version.remove_prefix(std::min(dot + 1, version.size()));
  return part;
}

std::optional<std::chrono::year_month_day> day_of(const std::string& text) {
  const std::string_view all = text;
  if (all.size() != 10 || all[4] != '-' || all[7] != '-') return std::nullopt;
  const auto year = number_of(all.substr(0, 4)), month = number_of(all.substr(5, 2)),
             day = number_of(all.substr(8));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day made(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day));
  return made.ok() ? std::optional(made) : std::nullopt;
}

/// The day it names is over. A waiver whose day cannot be read holds for no moment.
bool is_over(const Waiver& waiver, double at_unix_s) {
  const auto day = day_of(waiver.expires);
  if (!day) return true;
  constexpr double kSecondsOfDay = 86400;
  const auto last = static_cast<double>(std::chrono::sys_days(*day).time_since_epoch().count());
  return !(at_unix_s < (last + 1) * kSecondsOfDay);
}

bool holds_for_driver(const Waiver& waiver, std::string_view driver) {
  if (waiver.lowest_driver.empty() && waiver.highest_driver.empty()) return true;
  if (!is_driver_version(driver)) return false;
  return (waiver.lowest_driver.empty() || against_bound(driver, waiver.lowest_driver) >= 0) &&
         (waiver.highest_driver.empty() || against_bound(driver, waiver.highest_driver) <= 0);
}

/// Behind the name of a verdict that was waived.
constexpr std::string_view kWaivedUntil = ", waived until ";

bool is_about(const Waiver& waiver, Waives what) {
  const std::string_view name = kWaivesNames[static_cast<std::size_t>(what)];
  return std::ranges::find(waiver.waives, name) != waiver.waives.end();
}

}  // namespace

bool is_day(const std::string& text) { return day_of(text).has_value(); }

bool is_driver_version(std::string_view text) {
  if (text.empty() || text.back() == '.') return false;
  while (!text.empty()) {
    const std::string_view part = next_part(text);
    const bool digits = std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || !number_of(part)) return false;
  }
  return true;
}

int against_bound(std::string_view version, std::string_view bound) {
  while (!bound.empty()) {
    const std::uint32_t least = number_of(next_part(bound)).value_or(0);
    const std::uint32_t part = number_of(next_part(version)).value_or(0);
    if (part != least) return part < least ? -1 : 1;
  }
  return 0;
}

bool names(const Waiver& waiver, std::string_view case_name, const GpuNames& gpu) {
  if (!glob_matches(waiver.cases, case_name)) return false;
  return waiver.gpu.empty() || glob_matches(waiver.gpu, gpu.uuid) ||
         glob_matches(waiver.gpu, gpu.serial) || glob_matches(waiver.gpu, gpu.host);
}

bool is_waivable(Verdict verdict) { return is_failure(verdict); }

std::string text_of(const Waiver& waiver) {
  return fmt::format("{}{} ({}, {}, until {})", waiver.cases,
                     waiver.gpu.empty() ? "" : " on " + waiver.gpu, waiver.owner, waiver.link,
                     waiver.expires);
}

std::string waived_reason(const Waiver& waiver, Verdict was, const std::string& reason) {
  return fmt::format("{}{}{} by {} ({}{}): {}", name_of(was), kWaivedUntil, waiver.expires,
                     waiver.owner, waiver.link, waiver.reason.empty() ? "" : ", " + waiver.reason,
                     reason);
}

Verdict verdict_before_waiver(std::string_view reason) {
  const std::optional<Verdict> named = verdict_named(reason.substr(0, reason.find(kWaivedUntil)));
  return named && is_waivable(*named) ? *named : Verdict::fail;
}

std::string stale_note(const Waiver& waiver) {
  return fmt::format("{}it passes, and {} waives it until {} ({})", kStaleWaiver, waiver.owner,
                     waiver.expires, waiver.link);
}

std::string without_stale_notes(std::string_view notes) {
  std::string made;
  while (!notes.empty()) {
    const std::size_t end = std::min(notes.find('\n'), notes.size());
    const std::string_view line = notes.substr(0, end);
    if (!line.starts_with(kStaleWaiver)) made.append(made.empty() ? "" : "\n").append(line);
    notes.remove_prefix(std::min(end + 1, notes.size()));
  }
  return made;
}

WaiverLedger::WaiverLedger(const std::vector<Waiver>& waivers, double at_unix_s)
    : waivers_(waivers), uses_(waivers.size()), at_unix_s_(at_unix_s) {
  // A moment before every last day would make every waiver hold for ever.
  const bool known = is_launch_time(at_unix_s);
  for (std::size_t i = 0; i < waivers.size(); ++i) {
    uses_[i].over = !known || is_over(waivers[i], at_unix_s);
  }
}

std::optional<std::size_t> WaiverLedger::hear(Waives what, std::string_view case_name,
                                              const GpuNames& gpu, Heard heard) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < waivers_.size(); ++i) {
    if (!is_about(waivers_[i], what) || !names(waivers_[i], case_name, gpu)) continue;
    Use& use = uses_[i];
    const auto foreign = std::ranges::find_if(gpu.drivers, [&](std::string_view driver) {
      return !holds_for_driver(waivers_[i], driver);
    });
    if (heard == Heard::nothing) {
      ++use.unanswered;
    } else if (use.over) {
      use.too_late += heard == Heard::failed ? 1U : 0U;
    } else if (foreign != gpu.drivers.end()) {
      use.other_driver += heard == Heard::failed ? 1U : 0U;
      use.foreign = foreign->empty() ? "an unknown one" : *foreign;
    } else if (heard == Heard::passed) {
      ++use.passed;
      if (!first) first = i;
    } else if (first) {
      ++use.beside;
    } else {
      ++use.waived;
      first = i;
    }
  }
  return heard == Heard::nothing ? std::nullopt : first;
}

WaiverLedger::Line WaiverLedger::of(std::string_view text) {
  // What somebody has to do something about; the others are "in use", "unused" and "not for this
  // driver".
  constexpr std::array<std::string_view, 3> kAttention = {"stale", "expired", "not judged"};
  const std::string_view state = text.substr(0, text.find(':'));
  const bool attention = std::ranges::find(kAttention, state) != kAttention.end();
  return {attention, std::string(text)};
}

std::string WaiverLedger::text_of(const Use& use, const std::string& text) const {
  const std::string foreign = use.other_driver == 0
                                  ? ""
                                  : fmt::format("; {} it names not waived, with the driver {}",
                                                plural(use.other_driver, "failure"), use.foreign);
  if (use.waived > 0) {
    return fmt::format(
        "in use: {}: waived {}{}{}", text, plural(use.waived, "finding"),
        use.passed == 0 ? "" : fmt::format("; {} it names pass", grouped(use.passed)), foreign);
  }
  if (!is_launch_time(at_unix_s_)) {
    return fmt::format(
        "not judged: {}: the launch began at {:g} s since 1970, which no launch did; "
        "{} it names, not waived by it; see the clock",
        text, at_unix_s_, plural(use.too_late, "failure"));
  }
  if (use.over) {
    return fmt::format("expired: {}: {}", text,
                       use.too_late == 0
                           ? "nothing it names fails; take it out"
                           : fmt::format("{} it names, not waived by it; mend or renew",
                                         plural(use.too_late, "failure")));
  }
  // Before `stale`: what fails under another driver does not pass.
  if (!use.foreign.empty() && (use.other_driver > 0 || use.passed == 0)) {
    return fmt::format("not for this driver: {}: the driver is {}{}", text, use.foreign,
                       foreign.substr(0, foreign.find(", with")));
  }
  if (use.beside > 0) {
    return fmt::format("unused: {}: {} it names waived by another before it", text,
                       plural(use.beside, "failure"));
  }
  if (use.passed > 0) {
    return fmt::format("stale: {}: all {} it names pass; take it out", text, grouped(use.passed));
  }
  if (use.unanswered > 0) {
    return fmt::format("unused: {}: {} it names without an answer", text,
                       plural(use.unanswered, "result"));
  }
  return fmt::format("stale: {}: it names no case and GPU that was looked at", text);
}

std::vector<WaiverLedger::Line> WaiverLedger::lines(std::initializer_list<Waives> what) const {
  std::vector<Line> made;
  for (std::size_t i = 0; i < waivers_.size(); ++i) {
    const bool about =
        std::ranges::any_of(what, [&](Waives one) { return is_about(waivers_[i], one); });
    if (about) made.push_back(of(text_of(uses_[i], tidemark::text_of(waivers_[i]))));
  }
  return made;
}

}  // namespace tidemark
