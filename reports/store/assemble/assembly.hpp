// What journals hold, result by result, on its way into the tables of a report.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reports/journal/journal.hpp"
#include "reports/journal/record_fields.hpp"
#include "reports/schema/tables.hpp"
#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

// The records of all journals of one launch, sorted by kind and checked against each other.

/// An event and the rank in whose journal it stands; kNoRow where that is not known.
struct HeardEvent {
  EventRecord event;
  std::uint32_t rank = kNoRow;
};

/// Everything that was heard of one launch but its outcomes.
struct HeardLaunch {
  LaunchRecord launch;
  std::vector<NodeRecord> nodes;
  std::vector<GpuRecord> gpus;  // the first of each GPU
  std::vector<HeardEvent> events;
  PolicyRecord policy;                // the first; every rank wrote the same
  std::vector<bool> reported, ended;  // by rank: left any record of its own; an end record
  std::vector<std::string> problems;  // each makes the report incomplete
  std::uint32_t lost_lines = 0;       // of journals: damaged, foreign or missing
};

/// Most pairs of case and GPU a launch may plan; beyond it a launch record is not believed.
inline constexpr std::uint64_t kMostPlanned = 20'000'000;

/// What one journal says of planned cases on planned GPUs, in its order.
struct HeardCases {
  std::vector<StartRecord> starts;
  std::vector<OutcomeRecord> outcomes;
};

/// Gets what each journal says, one after the other; of `all` it finds the launch alone.
using TakeCases = std::function<void(const HeardLaunch& all, HeardCases cases)>;

/// Throws ReportError where no launch record is found or ranks planned different launches. Journals
/// of another run than most, and all but the first of a rank, are left out, which is a problem.
HeardLaunch gather(const Journals& journals, const TakeCases& take);

/// The events after which no result of their GPU and moment counts: uncontained memory errors.
std::vector<EventRecord> spoiling_events(const HeardLaunch& all);

/// The first of these events that fell into the time of an outcome on `gpu`; null where none did.
const EventRecord* spoiled_by(const std::vector<EventRecord>& spoiling, std::uint32_t gpu,
                              double start_unix_s, double seconds);

/// Copies the fields of a record to the columns that have them; `number_of`: of a text. Lists are
/// left to the caller.
template <class Row, class NumberOf>
class RowFields {
 public:
  RowFields(Row& row, NumberOf number_of) : row_(row), number_of_(std::move(number_of)) {}

  template <class T>
  void operator()(std::string_view field, const T& value) {
    const std::vector<Column>& all = table_of<Row>().columns;
    const auto column = std::ranges::find(all, field, &Column::in_journal);
    if (column == all.end()) return;
    char* const at = reinterpret_cast<char*>(&row_) + column->offset;
    const auto put = [&](auto number) {
      if (bytes_of(*column) != sizeof(number))
        throw std::logic_error(fmt::format("column {} has another width", column->name));
      std::memcpy(at, &number, sizeof(number));
    };
    if constexpr (std::is_same_v<T, std::string>) {
      column->type == ColumnType::text ? copy_name(value, {at, column->count})
                                       : put(number_of_(value));
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      put(value);
    }
  }
  template <class T>
  void later(std::string_view field, const T& value, const T& /*unknown*/ = {}) {
    (*this)(field, value);
  }

 private:
  Row& row_;
  NumberOf number_of_;
};

// What came of each planned pair of case and GPU, as rows of a report will have it: records as they
// stand in journals would take several times the memory.

/// Texts by number, each kept once.
class Texts {
 public:
  std::uint32_t number_of(const std::string& text);
  const std::string& at(std::uint32_t number) const { return *texts_.at(number); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> texts_;
};

/// Numbers of texts stand in for indices into the strings of the report.
struct HeardMetric {
  MetricRow row;
  std::vector<SampleRow> samples = {};
};

struct HeardOutcome {
  std::uint32_t pair = 0;
  ResultRow row;  // of this attempt alone; no ids
  std::vector<HeardMetric> metrics;
  std::vector<MiscompareRecord> miscompares;
  std::vector<AnswerRecord> answers;
};

/// The attempts of one pair: outcomes in the order of attempts.
struct Attempts {
  std::vector<HeardOutcome*> outcomes;
  std::uint32_t last_started = 0;

  bool still_running() const {
    return last_started > (outcomes.empty() ? 0 : outcomes.back()->row.attempt);
  }
};

class HeardResults {
 public:
  /// Keeps what one journal says.
  void take(const LaunchRecord& launch, HeardCases cases);

  /// Calls visit(pair, attempts) for each planned pair in order; pair = case row * GPUs + GPU. Of
  /// what it visited nothing is kept.
  template <class Visit>
  void each_pair(const LaunchRecord& launch, Visit visit) {
    sort();
    std::size_t next = 0;
    const auto pairs = static_cast<std::uint32_t>(launch.cases.size() * launch.gpus);
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      Attempts attempts;
      for (; next < order_.size() && outcomes_[order_[next]].pair == pair; ++next)
        attempts.outcomes.push_back(&outcomes_[order_[next]]);
      if (const auto started = unended_.find(pair); started != unended_.end())
        attempts.last_started = started->second;
      visit(pair, attempts);
    }
  }

  const Texts& texts() const { return texts_; }
  /// By GPU, of each of its SMs: summed up over the results' shown attempts.
  const std::map<std::uint32_t, std::vector<SmRow>>& sms() const { return sms_; }

 private:
  void sort();
  void add(std::uint32_t pair, OutcomeRecord& from);
  void count_sms(const OutcomeRecord& shown);

  Texts texts_;
  std::unordered_map<std::string, std::uint32_t> case_rows_;
  std::set<std::string, std::less<>> families_;
  std::vector<HeardOutcome> outcomes_;
  std::vector<std::uint32_t> order_;  // of outcomes_, by pair and attempt
  std::unordered_map<std::uint32_t, std::uint32_t>
      unended_;  // by pair: the attempt that began last
  std::map<std::uint32_t, std::vector<SmRow>> sms_;
};

// Which attempt a result shows.

/// Verdicts that a later pass must not hide.
inline bool stays(Verdict verdict) { return is_failure(verdict) || is_lost(verdict); }

/// The last that lost the GPU, else the last bad one, else the last; of pointers in the order of
/// attempts.
template <class Pointer, class VerdictOf>
auto& shown_attempt(const std::vector<Pointer>& attempts, VerdictOf verdict_of) {
  const auto lost = std::find_if(attempts.rbegin(), attempts.rend(),
                                 [&](const auto* each) { return is_lost(verdict_of(each)); });
  if (lost != attempts.rend()) return **lost;
  const auto bad = std::find_if(attempts.rbegin(), attempts.rend(),
                                [&](const auto* each) { return stays(verdict_of(each)); });
  return bad == attempts.rend() ? *attempts.back() : **bad;
}

// A report while it is being made of records.

/// The rows so far, and the text they refer to.
struct Assembly {
  Report report;
  std::unordered_map<std::string, std::uint32_t> indices;

  std::uint32_t index_of(const std::string& text);
  template <class Row, class Record>
  void fill(Row& row, const Record& from) {
    RowFields columns(row, [this](const std::string& text) { return index_of(text); });
    fields(columns, from);
  }
};

/// Lets waivers change the results that are there, and says in provenance what came of each.
void apply_waivers(Assembly& made, const HeardLaunch& all);

/// Adds a result for every planned pair of case and GPU, whether or not anything was heard of it,
/// with its miscompares, metrics and samples. `why_ended` is said where nothing was heard.
void add_results(Assembly& made, const HeardLaunch& all, HeardResults& heard,
                 const std::string& why_ended);

}  // namespace tidemark
