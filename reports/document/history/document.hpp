// What a history has to say.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/document/records.hpp"
#include "reports/history/history.hpp"

namespace tidemark {

/// What fails first, then what changed, the newest first, with what else changed at that time, then
/// how every metric went.
Document document_of(const History& history, const ShowOptions& options);

/// Cases that fail, failed or have no answer; on a page also a map of them and every case.
Section cases_of(const History& history, const ShowOptions& options);

/// Of a page and of Markdown: a chart a metric, those that changed first, and a table.
Section metrics_of(const History& history, const ShowOptions& options);

/// JSON: launches with their setup, every series with its values, changes, cases. CSV: a line a
/// value, launch x metric x GPU, and the typical GPU ("all"); then launch x case. Tests: a case as
/// the newest launches left it: failing is a failure; open, lacking and a report that was refused
/// are errors; waived, skipped and everything of the virtual device are skipped. Changes of speed
/// are advice and no test.
Views views_of(const History& history, const ShowOptions& options);

/// The time of a launch.
std::string when(const History& history, std::uint32_t launch);

/// What opened a case that is open: "failed 2026-09-01T00:00:00Z", "lost its GPU ...", or both.
std::string opened_text(const History& history, const CasePast& past);

/// "-2.1 %" of a natural logarithm.
std::string step_text(double step);

/// "650.1 -> 636.5 TFLOP/s".
std::string levels_text(const History& history, const LevelChange& change);

/// "the typical GPU", "GPU 3 (n07, GPU-5f1c2d3e) apart from the others".
std::string gpu_text(const History& history, const LevelChange& change);

/// "driver 580.105.08 -> 590.44.01; nccl 2.28.3 -> 2.29.1"; "nothing that was recorded" without
/// any.
std::string setup_text(const std::vector<SetupChange>& setup, std::size_t most);

/// "GPU 3 (n07, GPU-5f1c2d3e)" of an index into Chronicle::gpus.
std::string gpu_name(const History& history, std::uint32_t gpu);

/// "2 failing, 0 open, 1 waived, 1 lacking, 3 failed before, 106 never failed".
std::string cases_summary(const History& history);

/// "3 of 34 metrics changed, 29 steady, 2 with fewer than 6 launches".
std::string metrics_summary(const History& history);

}  // namespace tidemark
