// A case is data plus a prediction: rows of parameters, and what must come of each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/op.hpp"
#include "suite/gemm/product.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

enum class CaseKind : std::uint8_t { conformance, benchmark };
enum class CaseScope : std::uint8_t {
  one_gpu,   // each GPU runs it on its own
  all_gpus,  // all GPUs of the launch run it together
};
enum class Level : std::uint8_t { quick, nightly, soak };

/// As lists and reports have them.
constexpr std::string_view name_of(CaseKind kind) {
  return kind == CaseKind::benchmark ? "benchmark" : "conformance";
}
constexpr std::string_view name_of(CaseScope scope) {
  return scope == CaseScope::all_gpus ? "all_gpus" : "one_gpu";
}

/// How much of what the command line says of distributed products a case follows.
enum class ProductUse : std::uint8_t {
  none,
  route,  // how panels travel, and the grid
  sizes,  // the same, and the sizes
};

/// What a case may know when it makes its rows.
struct RunContext {
  Level level = Level::quick;
  std::uint64_t seed = 0;  // of this case: the same on all ranks
  DeviceKind device = DeviceKind::virtual_device;
  std::uint32_t rank = 0, ranks = 1;
  bool first = true;  // of the GPUs of the launch: keeps what an encoder answers to all of them
  Transport* transport = nullptr;  // all_gpus cases only
  /// The routes that `transport` can take, equal on all ranks, the usual one first.
  std::vector<PanelRoute> routes = {};
  std::string why_route = {};   // the first of them: "all 4 GPUs reach each other's memory"
  ProductOptions product = {};  // what the user gave, of cases whose Case::product is not none
};

/// What a benchmark's metric is printed beside.
struct MetricStep {
  std::string over;      // the metric of this case that it is a step up from; empty: none
  double published = 0;  // what others reached by the same step, in the case's unit; 0: not known
  std::string_view published_by = {};  // who, on what, under which conditions; where `published` is
};

/// How a row of a fault case has to end.
struct ExpectedError {
  std::int32_t code = 0;  // the sticky error (cudaError_t, DeviceFault::sticky)
  std::string_view copy;  // what the row does, for notes: "a store to row -1"
};

/// One case. Names are never changed and never used again.
struct Case {
  std::string_view name;   // "load.tile.2d": lower case, dots, general to special
  std::string_view claim;  // one sentence that can be false
  std::string_view cites;  // who promised it
  CaseKind kind = CaseKind::conformance;
  CaseScope scope = CaseScope::one_gpu;
  Level level = Level::quick;  // the lowest level that runs it
  std::string_view correct_by =
      {};                      // benchmarks: the case that must have passed in the same launch
  std::string_view unit = {};  // benchmarks: of the main metric
  bool higher_is_better = true;
  /// At most, on a GPU at quick; a worker that gives no sign for ten times as long hangs.
  double seconds = 0.5;

  ProductUse product = ProductUse::none;

  /// all_gpus cases: a launch of fewer skips it. On one GPU a ring has no neighbour.
  std::uint32_t fewest_gpus = 1;

  /// The parameter sets. The runner sets Payload and seeds of each row from RunContext::seed and
  /// the row's index, so a row can be run alone.
  std::vector<Op> (*rows)(const RunContext&) = nullptr;

  /// Turns one row's measurement into metrics; null for cases that only run theirs.
  std::vector<Metric> (*metrics)(const Op&, const Measurement&) = nullptr;

  /// Benchmarks whose metrics are steps of a ladder: what `metric` is printed beside. Null for all
  /// others.
  MetricStep (*step)(std::string_view metric) = nullptr;

  /// Behaviour cases: holds a row against what was measured where the documents stop; the case
  /// says on what and when. Asked only of rows that are right as far as documents go; empty where
  /// the device did as measured. Null for all other cases.
  std::vector<Miscompare> (*unlike_measured)(const Op&, const RunResult&) = nullptr;

  /// Says in a few words what the device did where nobody promised anything and nothing is judged;
  /// empty where there is nothing to say. Asked of each run that is right as far as it is judged;
  /// the outcome notes each wording once, with the number of its runs.
  std::string (*observed)(const Op&, const RunResult&) = nullptr;

  /// Fault cases: how row `row` has to end; a pass is this code and no other. Null for all other
  /// cases. The process has lost its GPU after it, so that such a case is of one_gpu, and each of
  /// its rows runs once, in a process of its own (RunCaseOptions::only_row). Since each leaves an
  /// Xid in the kernel log, its level is soak.
  ExpectedError (*expected_error)(std::uint32_t row) = nullptr;
};

/// Registers a case at start-up; one for each case.
struct Register {
  explicit Register(const Case& declared);
};

/// Every registered case, sorted by name.
std::span<const Case> all_cases();

/// The case called `name`, or null.
const Case* case_named(std::string_view name);

/// `seed` of the launch mixed with the case's name.
std::uint64_t case_seed(std::uint64_t launch_seed, std::string_view name);

/// A row in one line of JSON: its program, without checks, as `run --program` takes it; of a
/// PeerTile the program that runs, with its checks, and the ranks; of a Gemm its members.
std::string parameters_of(const Op& op);

struct RunCaseOptions {
  std::int64_t only_row = -1;   // run this row alone
  std::uint32_t first_row = 0;  // run none before this one, of all
  double slow = 0;              // Timing::slow, of a benchmark
  bool alone = false;           // no launch has the programs of more than one row
  void (*progress)(void*, std::uint32_t done, std::uint32_t rows) = nullptr;
  void* progress_arg = nullptr;
};

/// Runs a case on a device and judges it. Device faults and wrong bytes are in the Outcome; an
/// Error becomes Judgement::tool_error. Stops at the first row after which the device cannot be
/// used.
Outcome run_case(const Case& which, Device& device, const RunContext& context,
                 const RunCaseOptions& options = {});

// FNV-1a with 64 bits: the same number on every machine, which std::hash does not promise.

inline constexpr std::uint64_t kFnv1aOfNothing = 0xcbf29ce484222325ULL;

/// The hash of what `hash` is of, followed by `bytes`.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnv1aOfNothing) {
  for (const char c : bytes) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ULL;
  return hash;
}

// Names of cases: what the registry refuses.

/// True for two or more words with dots between them, each of lower-case letters, digits and
/// underscores and none beginning with an underscore.
bool well_formed_case_name(std::string_view name);

/// `cases` sorted by name. Throws Error where two have one name, and where a name is malformed.
std::vector<Case> sorted_catalogue(std::vector<Case> cases);

}  // namespace tidemark
