// A report in memory: its tables, how they are built, read and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/journal/journal.hpp"
#include "reports/schema/tables.hpp"
#include "reports/schema/waiver.hpp"

namespace tidemark {

/// One launch. Tables refer to each other by index and to text by index into `strings`; index 0 is
/// "".
struct Report {
  LaunchRow launch;  // root attributes and provenance
  std::vector<NodeRow> nodes;
  std::vector<GpuRow> gpus;
  std::vector<CaseRow> cases;
  std::vector<ResultRow> results;
  std::vector<MiscompareRow> miscompares;
  std::vector<SmRow> sms;  // ascending by GPU and SM
  std::vector<MetricRow> metrics;
  std::vector<SampleRow> samples;
  std::vector<AnswerRow> answers;
  std::vector<EventRow> events;
  std::vector<ProvenanceRow> provenance;  // key, value: versions, hashes, environment, arguments
  std::vector<std::string> strings;

  std::string_view text(std::uint32_t index) const { return strings.at(index); }
};

struct AssembleOptions {
  bool anonymize = false;              // as anonymized() makes it
  std::string incomplete_reason = {};  // not empty: the launch ended early, and the report says so
};

/// Makes a report of the journals of one launch. Planned results without an outcome become crash (a
/// start record without outcome whose worker died is written as outcome by the supervisor) or
/// not_run; the report is complete only if every rank has an end record that says so and no rank is
/// silent. Throws ReportError when there is no launch record or the journals are of different
/// launches.
Report assemble(const Journals& journals, const AssembleOptions& options);

/// The report without what names a machine, a board or a person, as the columns say (Disclosure).
/// Equal names get equal hashes in one report and others in the next. Commands name GPUs by number.
/// Throws ReportError where the system gives no random numbers.
Report anonymized(Report report);

/// What becomes of a file that has the name of a report, also of one that appears meanwhile.
enum class NameInUse { refuse, replace };

/// The file of a report, read back and compared in memory; `path` is for errors.
std::string bytes_of(const Report& report, const std::string& path);

/// Writes `path` by a temporary file beside it: written, closed, fsynced, read back, compared,
/// renamed, directory fsynced. On any error the temporary file is gone and an older `path` is
/// untouched. Without HDF5, so that a thread may do it that is left behind.
void write_bytes(const std::string& image, const std::string& path,
                 NameInUse in_use = NameInUse::refuse);

/// Both.
void write_report(const Report& report, const std::string& path,
                  NameInUse in_use = NameInUse::refuse);

/// What keeps a file that was made to do harm from doing it.
enum class Protection {
  filter,  // its reader could make no system call but those for memory and for what it had open
  limits,  // this kernel or container has no seccomp: memory, time and open files were limited
};

/// One line for people where the filter is missing; empty where it is not.
std::string_view note_of(Protection protection);

/// Reads a report in a confined process of its own and trusts nothing in it. Throws ReportError
/// with one line. Can be called from several threads.
Report read_report(const std::string& path, Protection& protection);
Report read_report(const std::string& path);

/// What came of each waiver of the launch: "in use: ...", "stale: ...", "expired: ...".
std::vector<WaiverLedger::Line> waiver_lines(const Report& report);

/// Cases whose numbers were slowed on purpose, and by how much ("3 %"), of keys `slow.<case>`.
std::vector<std::pair<std::string, std::string>> slowed_cases(const Report& report);

/// "gemm.local.speed by 3 %, ...": what slowed_cases found; empty where nothing was slowed.
std::string slowed_text(const Report& report);

/// The value of a key of `provenance`; empty where there is none.
std::string_view provenance_of(const Report& report, std::string_view key);

// Walks the tables of a report together with their descriptions.

/// Calls visit(const Table&, rows) for each vector of rows, in the order of the schema. The text is
/// not a vector of rows and left out.
template <class AnyReport, class Visit>
void for_each_table(AnyReport& report, Visit visit) {
  visit(table_of<NodeRow>(), report.nodes);
  visit(table_of<GpuRow>(), report.gpus);
  visit(table_of<CaseRow>(), report.cases);
  visit(table_of<ResultRow>(), report.results);
  visit(table_of<MiscompareRow>(), report.miscompares);
  visit(table_of<SmRow>(), report.sms);
  visit(table_of<MetricRow>(), report.metrics);
  visit(table_of<SampleRow>(), report.samples);
  visit(table_of<AnswerRow>(), report.answers);
  visit(table_of<EventRow>(), report.events);
  visit(table_of<ProvenanceRow>(), report.provenance);
}

// Puts a report together from its parts as they come, whoever sends them: nothing is believed but
// the sizes this side has counted itself.

/// Collects one report. Its parts are the tables in the order of the schema, then the bytes of the
/// text. Everything throws ReportError with one line that starts with `name`.
class ReportBuilder {
 public:
  /// `most_bytes`: what all parts together may take in memory.
  ReportBuilder(std::string name, std::uint64_t most_bytes);

  void launch(const LaunchRow& launch);

  /// Starts the next part; the one before must be whole.
  void begin(std::size_t part, std::uint64_t elements);

  /// Where the next bytes of the part belong, as row structs; the caller fills all of them.
  std::span<char> room(std::uint64_t bytes);

  /// The report, once every part is whole and its rows refer to what is there.
  Report finish();

 private:
  [[noreturn]] void refuse() const;
  void cut_strings();

  std::string name_;
  std::uint64_t bytes_left_;
  Report report_;
  std::vector<StringIndexRow> string_index_;
  std::string text_;
  bool launched_ = false;
  std::size_t next_part_ = 0;
  char* place_ = nullptr;   // in the part that has begun
  std::uint64_t open_ = 0;  // bytes of it that are still to come
};

/// "tidemark run --cases ... --seed ...": `result` again, or row `row` of it. A report may
/// be a stranger's, so it is made of the columns; of the line that the launch stored only values of
/// known options are taken, where they mean nothing to a shell. Empty where the case has no name
/// that a case can have, and without `row` where the launch stored no line.
std::string replay_command(const Report& report, const ResultRow& result,
                           std::optional<std::uint32_t> row = {});

}  // namespace tidemark
