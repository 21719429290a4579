// The parts a shown report is put together from, in the order they appear.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/outliers.hpp"
#include "reports/render/page.hpp"
#include "reports/render/show.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

/// PASS, FAIL or INCOMPLETE, and the counts behind it.
struct Summary {
  std::string_view word;
  Colour colour = Colour::none;
  std::array<std::size_t, kVerdicts> verdicts{};
  std::size_t planned = 0;
  bool lacking = false;  // something planned is not known, whatever the word is
};
Summary summary_of(const Report& report);

/// "112 pass, 3 fail": the verdicts that occur.
std::string counts_of(const Summary& summary);

/// "NOT RUN": a verdict as a heading.
std::string heading_of(Verdict verdict);

/// "GPU 3 (node07, slot 1, GPU-5f1c2d3e)".
std::string place_of(const Report& report, std::uint32_t gpu_id);

/// "CUDA error 719  signal 11": how a worker ended; empty where that was as usual.
std::string ending_of(const ResultRow& result);

/// What a miscompare found and expected.
std::string text_of(const Report& report, const MiscompareRow& row);

/// What did not pass, where, why, and how to run it again; passes too where asked.
void put_results(Page& page, const Report& report, const ShowOptions& options);

/// The command that runs the failing row of this result alone; empty where there is none.
std::string program_command(const ShowOptions& options, std::uint32_t result_id);

/// Which SMs rows visited and on which of them rows failed, in lines.
struct SmLines {
  std::string visited;              // empty where no SM of any row is known
  std::vector<std::string> failed;  // one a GPU; first where the fewest SMs have failed rows
};
SmLines sm_lines(const Report& report);

/// SMs of a GPU. Their numbers may have gaps: a GPU of 132 SMs may have one with the number 143.
struct SmCount {
  std::uint32_t visited = 0;
  std::uint32_t sms = 0;      // `sm_count`; 0 where it is not known, or below `visited`
  std::uint32_t numbers = 0;  // all SMs have numbers below this one

  bool all_visited() const { return visited == (sms > 0 ? sms : numbers); }
  bool has_gaps() const { return numbers > sms; }  // or may have, where `sms` is not known
};
SmCount sm_count_of(const Report& report, std::uint32_t gpu_id);

/// The rows of `sms` that are of this GPU.
std::span<const SmRow> sms_of(const Report& report, std::uint32_t gpu_id);

/// What came of each waiver.
void put_waivers(Page& page, const Report& report);

/// What was measured.
void put_metrics(Page& page, const Report& report, const ShowOptions& options);

/// GPUs that lie apart from the others. Nothing where there are too few to say so.
Outliers outliers_of(const Report& report);

/// What was looked at, in one line; empty where nothing could be.
std::string summary_of(const Report& report, const Outliers& outliers);
void put_outliers(Page& page, const Report& report, const ShowOptions& options);

/// What cases recorded, of which nothing is judged: in one line, or where notes are asked for one
/// by one, those that differ only in numbers once unless all are asked for; and events.
void put_notes(Page& page, const Report& report, const ShowOptions& options);
void put_events(Page& page, const Report& report, const ShowOptions& options);

/// Machines, GPUs, versions, seed and arguments.
void put_origin(Page& page, const Report& report, const ShowOptions& options);

/// "4 x NVIDIA H200, driver 580.105.08": models and drivers, the most frequent first. Empty where
/// no GPU reported.
std::string models_of(const Report& report);

/// One line of what a report was made on: "driver", "580.105.08 (GPUs 0-3)".
struct Fact {
  std::string name, value;
};

/// What a report was made on and by, and nothing of its results.
std::vector<Fact> facts_of(const Report& report);

/// The report as a Markdown page, as CSV, as JUnit XML, as an HTML page.
std::string markdown_of(const Report& report, const ShowOptions& options);
std::string csv_of(const Report& report);
std::string junit_of(const Report& report, const ShowOptions& options);
std::string html_of(const Report& report, const ShowOptions& options);

/// The whole report as JSON, text in place of its indices.
std::string json_of(const Report& report);

}  // namespace tidemark::reports
