// Waivers: known failures that somebody answers for until a day.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/schema/verdict.hpp"

namespace tidemark {

/// What a waiver can be about.
enum class Waives : std::uint8_t { failure, speed, behaviour };
inline constexpr std::array<std::string_view, 3> kWaivesNames = {"failure", "speed", "behaviour"};

struct Waiver {
  std::string cases;                          // glob
  std::string gpu;                            // glob of a UUID, serial number or host; empty: any
  std::string owner, link, reason;            // who answers for it, where it is followed, why
  std::string lowest_driver, highest_driver;  // as far as written: "580" is every 580.x; or empty
  std::string expires;                        // last day, YYYY-MM-DD in UTC
  std::vector<std::string> waives;            // names of Waives

  bool operator==(const Waiver&) const = default;
};

/// By what a waiver knows a GPU; what is not known is empty.
struct GpuNames {
  std::string_view uuid, serial, host;
  /// All that had to do with it: a waiver must hold for each.
  std::vector<std::string_view> drivers = {""};
};

/// Whether `text` is a day of the calendar, YYYY-MM-DD.
bool is_day(const std::string& text);

/// Whether `text` is a version of a driver, or the start of one: numbers with dots between them.
bool is_driver_version(std::string_view text);

/// Below 0 where `version` comes before `bound`, 0 where it starts with it, above 0 behind it.
int against_bound(std::string_view version, std::string_view bound);

/// The case and the GPU are those it names, whatever the driver and the day.
bool names(const Waiver& waiver, std::string_view case_name, const GpuNames& gpu);

/// Verdicts that may be waived. What is no answer about the GPU never is.
bool is_waivable(Verdict verdict);

/// "load.tile.* on node07 (alice, https://..., until 2026-12-31)".
std::string text_of(const Waiver& waiver);

/// The reason of a result that is waived: what it would have been, and who answers for it.
std::string waived_reason(const Waiver& waiver, Verdict was, const std::string& reason);

/// What a result with such a reason would have been; `fail` of a reason that does not say.
Verdict verdict_before_waiver(std::string_view reason);

/// The note on a result that passes although a waiver says it would not.
inline constexpr std::string_view kStaleWaiver = "stale waiver: ";
std::string stale_note(const Waiver& waiver);

/// Notes, one a line, without those on waivers.
std::string without_stale_notes(std::string_view notes);

/// What came of something a waiver may be about.
enum class Heard : std::uint8_t { failed, passed, nothing };

/// Which waivers hold at a moment, and what came of each.
class WaiverLedger {
 public:
  /// Keeps a reference to the waivers. `at_unix_s`: the moment their days are held against; where
  /// it is no time of a launch none of them holds.
  WaiverLedger(const std::vector<Waiver>& waivers, double at_unix_s);

  /// Tells all waivers what was heard, and returns the first that names it and holds: the one that
  /// waives a failure, or that a pass makes stale.
  std::optional<std::size_t> hear(Waives what, std::string_view case_name, const GpuNames& gpu,
                                  Heard heard);

  struct Line {
    bool attention = false;  // stale, expired, or its day could not be judged
    std::string text;        // begins with what came of it: "stale: ..."
  };
  /// A line as a report holds it, which is its text.
  static Line of(std::string_view text);

  /// One line for each waiver that is about any of `what`.
  std::vector<Line> lines(std::initializer_list<Waives> what) const;

 private:
  struct Use {
    std::size_t waived = 0, passed = 0, unanswered = 0, too_late = 0;
    std::size_t beside = 0;        // failures that a waiver before it waives
    std::size_t other_driver = 0;  // failures that it would have waived under another driver
    bool over = false;
    std::string foreign;  // a driver it does not hold for
  };
  std::string text_of(const Use& use, const std::string& text) const;

  const std::vector<Waiver>& waivers_;
  std::vector<Use> uses_;
  double at_unix_s_;
};

}  // namespace tidemark
