// Holds every case against every fault of the operations it uses: a case that runs on a device that
// is visibly wrong, and passes, is worth nothing. Visible is computed, never declared.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "suite/case.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/encoder_rules.hpp"
#include "suite/oracle/program.hpp"
#include "suite/runner.hpp"

namespace tidemark {
namespace {

/// Whether running `op` takes the steps of `kind`: those of its own and of every operation that it
/// is made of. A fault of `kind` can then show in it.
bool takes_steps_of(const Op& op, OpKind kind) {
  if (kind == OpKind::program) return is_program(op);
  if (static_cast<OpKind>(op.index()) == kind) return true;
  if (const auto* peer = std::get_if<PeerTile>(&op))
    return kind == (peer->way == PeerWay::load ? OpKind::tile_load : OpKind::tile_store);
  return kind == OpKind::tile_load && !std::holds_alternative<Gemm>(op) &&
         !std::holds_alternative<Stress>(op) && !std::holds_alternative<Encode>(op) &&
         !std::holds_alternative<DriverFacts>(op) && !std::holds_alternative<TileStore>(op);
}

// Without a transport, as here, the virtual device plays the other ranks.
RunContext context_of(const Case& which) {
  return {.seed = case_seed(30, which.name), .ranks = which.fewest_gpus};
}

// What a program leaves open, what a race decides and what is only recorded is not compared: no
// fault shows in it. Of a program that is to end in an error, which has no prediction, all counts.
RunResult judged(const Op& op, const RunResult& result) {
  RunResult judged = result;
  if (const auto* call = std::get_if<Encode>(&op);
      call != nullptr && documented_answer(*call) == DocumentedAnswer::open)
    judged.code = 0;
  if (!is_program(op)) return judged;
  ProgramExpectation expected;
  try {
    expected = predict(checked_program(op));
  } catch (const Error&) {
    return judged;
  }
  for (std::size_t i = 0; i < std::min(judged.trace.size(), expected.trace.size()); ++i)
    judged.trace[i] &= expected.trace[i].judged;
  std::size_t window = 0;
  for (const auto& snapshot : expected.snapshots) {
    const auto& compare = snapshot.window.compare;
    for (std::size_t i = 0; i < compare.size() && window + i < judged.bytes.size(); ++i)
      if (compare[i] == Compare::recorded) judged.bytes[window + i] = 0;
    const auto& other = snapshot.window.other;  // a box in flight may have landed
    for (std::size_t i = 0; i < other.size() && window + i < judged.bytes.size(); ++i)
      if (judged.bytes[window + i] == other[i]) judged.bytes[window + i] = snapshot.window.bytes[i];
    window += snapshot.window.bytes.size();
  }
  const auto& compare = expected.region_compare;
  for (std::size_t i = 0; i < std::min(judged.surroundings.size(), compare.size()); ++i)
    if (compare[i] == Compare::recorded) judged.surroundings[i] = 0;
  return judged;
}

bool equal(const RunResult& a, const RunResult& b) {
  return a.trace == b.trace && a.fault == b.fault && a.code == b.code && a.bytes == b.bytes &&
         a.surroundings == b.surroundings && a.stress == b.stress &&
         a.wrong_words == b.wrong_words &&
         std::ranges::equal(a.answers, b.answers, {}, &DriverAnswer::answer, &DriverAnswer::answer);
}

// Most faults show nothing on most rows: predictions cost more than all else here.
bool same(const Op& op, const RunResult& a, const RunResult& b) {
  return equal(a, b) || equal(judged(op, a), judged(op, b));
}

// Bytes of the result, in memory or shared memory, that differ; what copies leave later is not
// counted again.
std::size_t changed_bytes(const RunResult& a, const RunResult& b) {
  const auto changed = [](const std::vector<std::uint8_t>& one, const auto& other) {
    if (one.size() != other.size()) return std::max(one.size(), other.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < one.size(); ++i) wrong += one[i] != other[i] ? 1 : 0;
    return wrong;
  };
  return changed(a.bytes, b.bytes) + changed(a.surroundings, b.surroundings);
}

RunResult run_with(Fault fault, const Op& op) {
  const auto device = make_device(DeviceKind::virtual_device, fault);
  if (!is_program(op)) return device->run(op);
  // As in a launch of a GPU another one runs beside it: one without steps takes no time.
  const std::array programs{checked_program(op), Program{}};
  return device->run_programs(programs).front();
}

// A row of the quick level as it runs, and what a device without faults makes of it.
struct FaultlessRun {
  std::uint32_t row = 0;
  Op op;
  RunResult result;
};

std::vector<FaultlessRun> faultless_runs(const Case& which) {
  const RunContext context = context_of(which);
  const std::vector<Op> rows = which.rows(context);
  std::vector<FaultlessRun> runs;
  for (std::uint32_t row = 0; row < rows.size(); ++row)
    for (std::uint32_t run = 0; run < runs_of(rows[row]); ++run) {
      const Op op = seeded(rows[row], context.seed, row, run == 1);
      runs.push_back({.row = row, .op = op, .result = run_with(kNoFault, op)});
    }
  return runs;
}

enum class Cell : char { foreign = ' ', not_visible = '.', caught = '#', survivor = '!' };

// A row on which the fault shows nothing gives the faultless results and passes, so only rows where
// it shows need to be judged. `least` becomes the fewest bytes that the fault changed where it
// showed.
Cell cell_of(const Case& which, const std::vector<FaultlessRun>& runs, const FaultInfo& fault,
             std::size_t& least) {
  Cell cell = Cell::foreign;
  for (const FaultlessRun& run : runs) {
    if (!takes_steps_of(run.op, fault.op)) continue;
    // What no document promises, only a case that holds a stored measurement can get wrong.
    if (!fault.documented && !which.name.starts_with("behaviour.")) continue;
    if (cell == Cell::foreign) cell = Cell::not_visible;
    const RunResult faulty = run_with(fault.fault, run.op);
    if (same(run.op, run.result, faulty)) continue;
    least = std::min(least, changed_bytes(run.result, faulty));
    const auto device = make_device(DeviceKind::virtual_device, fault.fault);
    const Outcome outcome = run_case(which, *device, context_of(which), {.only_row = run.row});
    const bool caught =
        outcome.judgement != Judgement::pass && outcome.judgement != Judgement::tool_error;
    cell = caught ? Cell::caught : Cell::survivor;
    // Each row of a fault case is a claim of its own: all that show the fault have to catch it.
    const bool decided = which.expected_error != nullptr ? !caught : caught;
    if (decided) return cell;
  }
  return cell;
}

// What sanitizers look for is in the engines, and all faults take an hour there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStep = 8;
#else
constexpr std::size_t kStep = 1;
#endif

// All, or one in kStep.
const std::vector<FaultInfo>& tried_faults() {
  static const std::vector<FaultInfo> tried = [] {
    std::vector<FaultInfo> some;
    for (std::size_t i = 0; i < faults().size(); i += kStep)
      if (!faults()[i].recorded) some.push_back(faults()[i]);
    return some;
  }();
  return tried;
}

// One column a case, one line a fault.
using Matrix = std::map<std::string_view, std::string>;

void print_matrix(const Matrix& matrix, const std::vector<std::string_view>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i)
    std::printf("  column %2zu: %s\n", i + 1, std::string(cases[i]).c_str());
  for (const FaultInfo& fault : tried_faults())
    std::printf("  %-36s %s\n", std::string(fault.name).c_str(), matrix.at(fault.name).c_str());
  std::printf("  # caught  ! survivor  . not visible\n");
}

std::size_t count(const std::string& line, Cell cell) {
  return static_cast<std::size_t>(std::count(line.begin(), line.end(), static_cast<char>(cell)));
}

// Calls `work` with 0 to count - 1, on as many threads as there are cores.
template <class Work>
void on_all_cores(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    workers.push_back(std::async(std::launch::async, [&] {
      for (std::size_t at = next++; at < count; at = next++) work(at);
    }));
  for (std::future<void>& worker : workers) worker.get();
}

// What one case makes of all faults, in their order. They know nothing of each other, and take two
// minutes one after the other, under sanitizers more than twenty.
struct Column {
  std::string cells;
  std::vector<std::size_t> least;  // bytes that each changed, of any row
};

Column column_of(const Case& which) {
  const std::vector<FaultlessRun> runs = faultless_runs(which);
  const std::size_t count = tried_faults().size();
  Column column{.cells = std::string(count, ' '),
                .least = std::vector<std::size_t>(count, SIZE_MAX)};
  on_all_cores(count, [&](std::size_t i) {
    column.cells[i] = static_cast<char>(cell_of(which, runs, tried_faults()[i], column.least[i]));
  });
  return column;
}

TEST(FaultMatrix, NoVisibleFaultSurvivesAndEachIsSeenTwice) {
  Matrix matrix;
  std::map<std::string_view, std::size_t> least;  // bytes that a fault changed, of any row
  for (const FaultInfo& fault : tried_faults()) least[fault.name] = SIZE_MAX;
  std::vector<std::string_view> cases;
  for (const Case& which : all_cases()) {
    if (which.kind != CaseKind::conformance) continue;
    cases.push_back(which.name);
    const Column column = column_of(which);
    for (std::size_t i = 0; i < tried_faults().size(); ++i) {
      const FaultInfo& fault = tried_faults()[i];
      matrix[fault.name] += column.cells[i];
      least[fault.name] = std::min(least[fault.name], column.least[i]);
      EXPECT_NE(column.cells[i], static_cast<char>(Cell::survivor))
          << which.name << " passes in spite of " << fault.name << ": " << fault.step;
    }
    if (kStep == 1) {
      EXPECT_GE(count(column.cells, Cell::caught), 3U) << which.name << " can hardly fail";
    }
  }
  print_matrix(matrix, cases);
  std::size_t visible = 0, survivors = 0;
  for (const FaultInfo& fault : tried_faults()) {
    const std::string& line = matrix.at(fault.name);
    const std::size_t seen = count(line, Cell::caught) + count(line, Cell::survivor);
    EXPECT_GE(seen, fault.documented ? 2U : 1U)
        << fault.name << " shows in too few cases: " << fault.step;
    visible += seen;
    survivors += count(line, Cell::survivor);
  }
  // Changes of one 16-byte chunk at most, or of a barrier's count alone: the small ones are what a
  // test passes over.
  const auto small =
      std::count_if(least.begin(), least.end(), [](const auto& one) { return one.second <= 16; });
  std::printf(
      "  %zu faults, %td of them change 16 bytes or less, %zu visible pairs, %zu survivors\n",
      tried_faults().size(), small, visible, survivors);
  EXPECT_GE(tried_faults().size(), 40U);
  EXPECT_GE(small, 25 / static_cast<std::ptrdiff_t>(kStep));
  EXPECT_GT(visible, 0U);
  EXPECT_EQ(survivors, 0U);
}

// Gemm results are judged without a stored prediction; suite/gemm/verify_test.cpp flips theirs.
template <typename Row>
void expect_flipped_byte_noticed(const Row& row, const RunResult& result) {
  if constexpr (requires { program_of(row); }) {
    const Program program = with_checks(program_of(row));
    ProgramExpectation expected = predict(program);
    ASSERT_TRUE(compare(program, expected, result, 0).empty());
    std::vector<std::uint8_t>& window = expected.snapshots.front().window.bytes;
    const std::vector<Compare>& compared = expected.snapshots.front().window.compare;
    std::size_t middle = window.size() / 2;
    while (!compared.empty() && compared[middle] != Compare::exact) ++middle;
    window[middle] ^= 0x04;
    const auto found = compare(program, expected, result, 17);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].row, 17U);
    EXPECT_EQ(found[0].first_offset, middle);
    EXPECT_EQ(found[0].expected, window[middle]);
    EXPECT_EQ(found[0].actual, result.bytes[middle]);
  } else if constexpr (requires { predict(row); }) {
    Expectation expected = predict(row);
    ASSERT_TRUE(compare(row, expected, result, 0).empty());
    std::size_t middle = expected.bytes.size() / 2;
    while (!expected.compare.empty() && expected.compare[middle] != Compare::exact) ++middle;
    expected.bytes[middle] ^= 0x04;
    const auto found = compare(row, expected, result, 17);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].row, 17U);
    EXPECT_EQ(found[0].first_offset, middle);
    EXPECT_EQ(found[0].wrong_bytes, 1U);
    EXPECT_EQ(found[0].expected, expected.bytes[middle]);
    EXPECT_EQ(found[0].actual, result.bytes[middle]);
    EXPECT_NE(found[0].text.find("expected"), std::string::npos) << found[0].text;
  }
}

TEST(FaultMatrix, OneFlippedByteOfAPredictionIsNoticedInEachCase) {
  for (const Case& which : all_cases()) {
    const RunContext context = context_of(which);
    if (which.kind != CaseKind::conformance) continue;
    if (which.expected_error != nullptr)
      continue;  // no byte is predicted; the next test flips the error
    const Op op = seeded(which.rows(context).front(), context.seed, 0);
    const RunResult result = run_with(kNoFault, op);
    SCOPED_TRACE(which.name);
    std::visit([&](const auto& row) { expect_flipped_byte_noticed(row, result); }, op);
  }
}

TEST(FaultMatrix, AFlippedBitOfTheExpectedErrorIsNoticedInEachRowThatHasOne) {
  static const Case* flipping = nullptr;
  std::size_t tried = 0;
  for (const Case& which : all_cases()) {
    if (which.expected_error == nullptr) continue;
    flipping = &which;
    Case flipped = which;
    flipped.expected_error = [](std::uint32_t row) {
      ExpectedError error = flipping->expected_error(row);
      error.code ^= 0x04;
      return error;
    };
    const std::size_t rows = which.rows(context_of(which)).size();
    for (std::uint32_t row = 0; row < rows; ++row, ++tried) {
      SCOPED_TRACE(which.expected_error(row).copy);
      const auto device = make_device(DeviceKind::virtual_device);
      const Outcome outcome = run_case(flipped, *device, context_of(which), {.only_row = row});
      EXPECT_EQ(outcome.judgement, Judgement::fail);
      ASSERT_EQ(outcome.miscompares.size(), 1U);
      const auto actual = static_cast<std::uint64_t>(which.expected_error(row).code);
      EXPECT_EQ(outcome.miscompares[0].expected, actual ^ 0x04);
      EXPECT_EQ(outcome.miscompares[0].actual, actual);
      EXPECT_TRUE(outcome.device_spent);
    }
  }
  EXPECT_GE(tried, 13U);
}

TEST(Faults, HaveUniqueNamesThatFindThem) {
  std::set<std::string_view> names;
  for (const FaultInfo& fault : faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_EQ(fault_named(fault.name), fault.fault) << fault.name;
    EXPECT_NE(fault.fault, kNoFault);
    EXPECT_FALSE(fault.step.empty()) << fault.name;
  }
  EXPECT_EQ(fault_named("no_such_fault"), kNoFault);
}

}  // namespace
}  // namespace tidemark
