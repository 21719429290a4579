// The one description of every table and root attribute.
#include "reports/schema/tables.hpp"

#include <cstring>
#include <tuple>
#include <utility>

namespace tidemark {
namespace {

// Type and elements of a member.
using Described = std::pair<ColumnType, std::size_t>;
constexpr Described described(bool) { return {ColumnType::u8, 1}; }
constexpr Described described(std::uint8_t) { return {ColumnType::u8, 1}; }
constexpr Described described(std::uint32_t) { return {ColumnType::u32, 1}; }
constexpr Described described(std::int32_t) { return {ColumnType::i32, 1}; }
constexpr Described described(std::int64_t) { return {ColumnType::i64, 1}; }
constexpr Described described(std::uint64_t) { return {ColumnType::u64, 1}; }
constexpr Described described(float) { return {ColumnType::f32, 1}; }
constexpr Described described(double) { return {ColumnType::f64, 1}; }
constexpr Described described(Verdict) { return {ColumnType::verdict, 1}; }
Described described(const std::string&) { return {ColumnType::text, 0}; }
template <std::size_t N>
constexpr Described described(const FixedText<N>&) {
  return {ColumnType::text, N};
}
template <std::size_t N>
constexpr Described described(const std::array<std::int64_t, N>&) {
  return {ColumnType::i64, N};
}

/// Type and place are taken from the member itself, so that a description cannot drift from it.
template <class Row, class Member>
Column column(Member Row::*member, std::string_view name, std::string_view meaning,
              std::string_view unit = {}) {
  static_assert(std::is_standard_layout_v<Row>);
  static const Row row{};
  const auto* const start = reinterpret_cast<const std::byte*>(&row);
  const auto* const place = reinterpret_cast<const std::byte*>(&(row.*member));
  return {.name = name,
          .type = described(row.*member).first,
          .count = described(row.*member).second,
          .offset = static_cast<std::size_t>(place - start),
          .unit = unit,
          .meaning = meaning,
          .in_journal = name};
}

template <class Row, class Member>
Column reference(Member Row::*member, std::string_view name, std::string_view table,
                 std::string_view meaning) {
  Column made = column(member, name, meaning);
  std::tie(made.type, made.count) = described(std::uint32_t{});
  made.refers = table;
  return made;
}

template <class Row, class Member>
Column text(Member Row::*member, std::string_view name, std::string_view meaning) {
  return reference(member, name, kStringBytes, meaning);
}

Column in_journal(std::string_view name, Column made) {
  made.in_journal = name;
  return made;
}

Column added(Column made) { return in_journal({}, made); }

Column or_none(Column made) {
  made.none_allowed = true;
  return made;
}

Column as_fact(FactRole role, std::string_view fact, Column made) {
  made.role = role;
  made.fact = fact;
  return made;
}

/// Not known where it has the value of a blank row.
Column setup(std::string_view fact, Column made) { return as_fact(FactRole::setup, fact, made); }

/// Of which the value of a blank row, 0, is one that can be read; kUnknownCount is not.
Column counted(std::string_view fact, Column made) {
  made.default_is_known = true;
  return setup(fact, made);
}

Column by_nvml(Column made) {
  made.by_nvml = true;
  return made;
}

Column subject(std::string_view fact, Column made) {
  return as_fact(FactRole::subject, fact, made);
}

Column identity(Column made) {
  const std::string_view name = made.name;
  made.default_is_known = true;
  return as_fact(FactRole::identity, name, made);
}

using enum Disclosure;

/// `prefix`: of its hashes.
Column is(Disclosure disclosure, Column made, std::string_view prefix = {}) {
  made.disclosure = disclosure;
  made.hash_prefix = prefix;
  return made;
}

/// `columns` of a record are in the order of its fields in a journal.
template <class Row>
Table table(std::string_view name, std::string_view meaning, const std::vector<Column>& columns) {
  Table made{.name = name, .meaning = meaning, .row_bytes = sizeof(Row), .columns = columns};
  if constexpr (std::is_trivially_copyable_v<Row>) {
    std::ranges::sort(made.columns, {}, &Column::offset);
    made.blank = blank_of(Row{}, made.columns);
  }
  return made;
}

/// Of a column or a table.
template <class Made>
Made since(std::uint32_t minor, Made made) {
  made.since = minor;
  return made;
}

template <class In>
Table described(NodeFacts<In>*) {
  using R = NodeFacts<In>;
  return table<R>(
      "nodes", "the machines of the launch",
      {added(column(&R::node_id, "node_id", "row number")),
       in_journal("rank",
                  identity(column(&R::first_rank, "first_rank", "lowest rank that ran there"))),
       added(setup("node_ranks", column(&R::ranks, "ranks", "ranks that ran there"))),
       setup("node", is(hashed, text(&R::hostname, "hostname", "name of the machine"), "host-")),
       setup("kernel", is(kept, text(&R::kernel, "kernel", "release of its kernel"))),
       setup("os", is(kept, text(&R::os, "os", "its operating system"))),
       setup("cpu", is(kept, text(&R::cpu, "cpu", "model of its processors"))),
       identity(is(hashed, text(&R::boot_id, "boot_id", "kernel's id of this boot"), "boot-")),
       setup("mpi", is(kept, text(&R::mpi, "mpi", "MPI library and version"))),
       setup("hdf5", is(kept, text(&R::hdf5, "hdf5", "HDF5 library version"))),
       setup("cpus", column(&R::logical_cpus, "logical_cpus", "logical processors")),
       since(2, setup("node_memory", column(&R::memory_gib, "memory_gib",
                                            "memory of the machine, rounded", "GiB")))});
}

template <class In>
Table described(GpuFacts<In>*) {
  using R = GpuFacts<In>;
  return table<R>(
      "gpus", "the GPUs (or virtual devices), counted over all ranks",
      {in_journal("gpu", column(&R::gpu_id, "gpu_id", "row number")),
       added(
           or_none(reference(&R::node_id, "node_id", "nodes", "machine; 4294967295 when unknown"))),
       identity(column(&R::rank, "rank", "rank that drove it; 4294967295 when unknown")),
       identity(column(&R::local_index, "local_index", "index of the GPU on its machine")),
       added(column(&R::reported, "reported",
                    "1 when its rank described it; 0: all else is unknown")),
       is(hashed, column(&R::uuid, "uuid", "UUID of the GPU"), "GPU-anon-"),
       identity(is(hashed, text(&R::serial, "serial", "serial number"), "serial-")),
       identity(is(hashed, text(&R::pci, "pci", "PCI address"), "pci-")),
       setup("product", is(kept, text(&R::name, "name", "product name"))),
       setup("vbios", is(kept, text(&R::vbios, "vbios", "VBIOS version"))),
       setup("board_part", is(kept, text(&R::board_part, "board_part", "board part number"))),
       subject("driver", is(kept, text(&R::driver, "driver", "driver version"))),
       setup("nccl", is(kept, text(&R::nccl, "nccl", "NCCL version"))),
       subject("cuda_driver", column(&R::cuda_driver, "cuda_driver",
                                     "CUDA version of the driver, 13000 for 13.0")),
       setup("cuda_runtime",
             column(&R::cuda_runtime, "cuda_runtime", "CUDA version of the runtime")),
       setup("compute_capability",
             column(&R::compute_capability, "compute_capability", "90 for sm_90")),
       setup("sm_count", column(&R::sm_count, "sm_count", "streaming multiprocessors")),
       setup("memory", column(&R::memory_bytes, "memory_bytes", "device memory", "B")),
       column(&R::nvml, "nvml", "1 when NVML was read; 0: clocks, power and ECC are unknown"),
       by_nvml(setup("ecc", column(&R::ecc_enabled, "ecc_enabled", "1 on, 0 off, -1 unknown"))),
       by_nvml(setup("mig", column(&R::mig_enabled, "mig_enabled", "1 on, 0 off, -1 unknown"))),
       by_nvml(
           setup("persistence", column(&R::persistence, "persistence", "1 on, 0 off, -1 unknown"))),
       by_nvml(setup("power_cap",
                     column(&R::power_limit_w, "power_limit_w", "power cap in force", "W"))),
       by_nvml(setup("default_power_cap", column(&R::default_power_limit_w, "default_power_limit_w",
                                                 "power cap as shipped", "W"))),
       by_nvml(setup("app_sm_clock",
                     column(&R::app_sm_mhz, "app_sm_mhz", "application clock of the SMs", "MHz"))),
       by_nvml(setup("app_memory_clock", column(&R::app_memory_mhz, "app_memory_mhz",
                                                "application clock of the memory", "MHz"))),
       by_nvml(setup("max_sm_clock",
                     column(&R::max_sm_mhz, "max_sm_mhz", "highest clock of the SMs", "MHz"))),
       by_nvml(counted("nvlinks_up", column(&R::nvlinks_up, "nvlinks_up", "NVLinks that are up"))),
       by_nvml(counted("nvlinks_up_mask",
                       column(&R::nvlinks_up_mask, "nvlinks_up_mask", "bit i: NVLink i is up"))),
       by_nvml(counted("ecc_corrected", column(&R::ecc_corrected, "ecc_corrected",
                                               "volatile count when the launch began"))),
       by_nvml(counted("ecc_uncorrected", column(&R::ecc_uncorrected, "ecc_uncorrected",
                                                 "volatile count when the launch began"))),
       by_nvml(counted("remapped_rows", column(&R::remapped_rows_pending, "remapped_rows_pending",
                                               "memory rows waiting to be remapped")))});
}

template <class In>
Table described(CaseFacts<In>*) {
  using R = CaseFacts<In>;
  return table<R>(
      "cases", "the planned cases; each is planned once on each GPU",
      {added(column(&R::case_id, "case_id", "row number")),
       is(kept, column(&R::name, "name", "name of the case")),
       is(kept, text(&R::kind, "kind", "conformance or benchmark")),
       is(kept, text(&R::scope, "scope", "one_gpu or all_gpus")),
       is(kept, text(&R::claim, "claim", "what the case holds to be true")),
       is(kept, text(&R::unit, "unit", "of the main metric of a benchmark")),
       column(&R::higher_is_better, "higher_is_better", "1 when more is better, else 0")});
}

Table described(ResultRow*) {
  using R = ResultRow;
  return table<R>(
      "results", "what came of each planned case on each GPU; one row for every pair",
      {column(&R::result_id, "result_id", "row number"),
       reference(&R::case_id, "case_id", "cases", "the case"),
       reference(&R::gpu_id, "gpu_id", "gpus", "the GPU"),
       column(&R::attempt, "attempt", "the attempt this row shows; 0 when none ended"),
       column(&R::attempts, "attempts", "attempts that ended"),
       column(&R::verdict, "verdict", "over all attempts"),
       column(&R::rows_planned, "rows_planned", "parameter sets of the case"),
       column(&R::rows_run, "rows_run", "parameter sets that ran"),
       column(&R::rows_failed, "rows_failed", "parameter sets that failed"),
       column(&R::start_unix_s, "start_unix_s",
              "start, since 1970-01-01 UTC; NaN when no attempt ended", "s"),
       column(&R::seconds, "seconds", "duration; NaN when no attempt ended", "s"),
       column(&R::cuda_error, "cuda_error", "cudaError_t, 0 for none"),
       column(&R::signal, "signal", "signal that ended the worker, 0 for none"),
       column(&R::exit_code, "exit_code", "exit code of the worker"),
       column(&R::seed, "seed", "seed of the case"),
       column(&R::descriptor_digest, "descriptor_digest",
              "FNV-1a 64 over its tensor maps, 0 without any"),
       is(rewritten, text(&R::reason, "reason", "why it is no pass")),
       is(rewritten, text(&R::replay, "replay", "command line that runs it again")),
       is(rewritten, text(&R::notes, "notes", "remarks, one a line")),
       column(&R::sm_mhz, "sm_mhz", "mean over its samples, NaN without", "MHz"),
       column(&R::memory_mhz, "memory_mhz", "mean over its samples, NaN without", "MHz"),
       column(&R::power_w, "power_w", "mean over its samples, NaN without", "W"),
       column(&R::temperature_c, "temperature_c", "mean over its samples, NaN without", "C"),
       column(&R::utilisation, "utilisation", "mean over its samples, NaN without", "%"),
       column(&R::throttle_reasons, "throttle_reasons", "NVML bits, or-ed over its samples")});
}

Table described(MiscompareRow*) {
  using R = MiscompareRow;
  return table<R>("miscompares", "what was wrong: the first miscompares of each failed attempt",
                  {reference(&R::result_id, "result_id", "results", "the result it belongs to"),
                   column(&R::attempt, "attempt", "the attempt it was seen in"),
                   column(&R::row, "row", "parameter set of the case"),
                   is(kept, text(&R::parameters, "parameters", "of that row, JSON")),
                   is(kept, text(&R::what, "what", "what was compared: byte, guard, ...")),
                   is(kept, text(&R::text, "text", "the miscompare in one line")),
                   column(&R::dimensions, "dimensions", "coordinates that count, of the five"),
                   column(&R::coordinate, "coordinate", "place in the tensor, in elements"),
                   column(&R::first_offset, "first_offset", "of the first wrong byte", "B"),
                   column(&R::wrong_bytes, "wrong_bytes", "wrong bytes in this row", "B"),
                   column(&R::expected, "expected", "value that had to be there"),
                   column(&R::actual, "actual", "value that was there")});
}

Table described(SmRow*) {
  using R = SmRow;
  return since(
      1,
      table<R>(
          "sms",
          "the SMs that were visited, by GPU and number; over all results, in each "
          "the attempt it shows",
          {reference(&R::gpu_id, "gpu_id", "gpus", "the GPU"),
           column(&R::sm, "sm", "number of the SM (%smid), below 1024"),
           column(&R::rows_run, "rows_run",
                  "parameter sets that visited it with any of their runs or CTAs"),
           column(&R::rows_failed, "rows_failed", "of those, the parameter sets that failed"),
           since(3, column(&R::latency, "latency",
                           "of a load of 16 bytes from L2, alone on its SM; 0: not measured",
                           "cycles")),
           since(3, column(&R::rate, "rate",
                           "of bulk copies from L2 while all SMs copy; 0: not measured", "GB/s")),
           since(4, column(&R::families, "families",
                           "bit i: rows of family i, in alphabetical order, visited it"))}));
}

Table described(MetricRow*) {
  using R = MetricRow;
  return table<R>(
      "metrics", "what was measured; statistics over the finite samples, NaN without any",
      {reference(&R::result_id, "result_id", "results", "the result it belongs to"),
       is(kept, text(&R::name, "name", "name of the metric")),
       is(kept, text(&R::unit, "unit", "unit of all values")),
       column(&R::higher_is_better, "higher_is_better", "1 when more is better, else 0"),
       column(&R::n, "n", "samples"), column(&R::median, "median", "median"),
       column(&R::mad, "mad", "median distance from the median, not scaled"),
       column(&R::min, "min", "least"), column(&R::max, "max", "greatest"),
       column(&R::mean, "mean", "arithmetic mean"),
       column(&R::first_sample, "first_sample", "row of samples; n rows from there")});
}

Table described(SampleRow*) {
  using R = SampleRow;
  return table<R>("samples", "every timed sample, with the sensor reading nearest to it",
                  {reference(&R::metric_id, "metric_id", "metrics", "the metric it belongs to"),
                   column(&R::value, "value", "in the metric's unit"),
                   column(&R::seconds, "seconds", "duration of the sample", "s"),
                   column(&R::at_unix_s, "at_unix_s",
                          "when it was taken, since 1970-01-01 UTC; NaN when not known", "s"),
                   column(&R::sm_mhz, "sm_mhz", "clock of the SMs, NaN when not read", "MHz"),
                   column(&R::memory_mhz, "memory_mhz", "clock of the memory", "MHz"),
                   column(&R::power_w, "power_w", "power", "W"),
                   column(&R::temperature_c, "temperature_c", "temperature", "C"),
                   column(&R::utilisation, "utilisation", "busy share", "%"),
                   column(&R::throttle_reasons, "throttle_reasons", "NVML bits, 0 when not read")});
}

Table described(AnswerRow*) {
  using R = AnswerRow;
  return since(
      4, table<R>("answers",
                  "what drivers answered: encoders of tensor maps, limits, facts of kernels; of an "
                  "encoder in the process of the first GPU alone",
                  {reference(&R::result_id, "result_id", "results", "the result it belongs to"),
                   is(kept, text(&R::subject, "subject", "what the question is about")),
                   is(kept, text(&R::question, "question", "of a call, what it has changed")),
                   is(kept, text(&R::unit, "unit", "of the answer")),
                   column(&R::answer, "answer", "a number, or the CUresult of a call"),
                   column(&R::map, "map",
                          "the 128 bytes of the tensor map, little endian; 0 where refused")}));
}

Table described(EventRow*) {
  using R = EventRow;
  return table<R>(
      "events", "what happened beside the cases",
      {column(&R::at_unix_s, "at_unix_s", "since 1970-01-01 UTC", "s"),
       column(&R::rank, "rank", "rank that wrote it down; 4294967295 when not known"),
       or_none(reference(&R::gpu_id, "gpu_id", "gpus", "GPU; 4294967295 when not of one")),
       is(kept, text(&R::source, "source", "nvml, supervisor, reporter or signal")),
       column(&R::code, "code", "Xid or signal number"),
       is(rewritten, text(&R::text, "text", "one line"))});
}

Table described(ProvenanceRow*) {
  using R = ProvenanceRow;
  return table<R>(
      "provenance", "what the launch was made by: build, arguments, environment",
      {is(kept, text(&R::key, "key", "git_hash, kernels_tree, argument.0, environment.NAME, ...")),
       is(rewritten, text(&R::value, "value", "its value"))});
}

Table described(StringIndexRow*) {
  using R = StringIndexRow;
  return table<R>("string_index",
                  "where each string stands in the bytes of strings; row 0 is empty",
                  {column(&R::offset, "offset", "of the first byte", "B"),
                   column(&R::length, "length", "bytes of UTF-8", "B")});
}

}  // namespace

template <class Row>
const Table& table_of() {
  static const Table made = described(static_cast<Row*>(nullptr));
  return made;
}
template const Table& table_of<NodeRecord>();
template const Table& table_of<GpuRecord>();
template const Table& table_of<PlannedCase>();
template const Table& table_of<NodeRow>();
template const Table& table_of<GpuRow>();
template const Table& table_of<CaseRow>();
template const Table& table_of<ResultRow>();
template const Table& table_of<MiscompareRow>();
template const Table& table_of<SmRow>();
template const Table& table_of<MetricRow>();
template const Table& table_of<SampleRow>();
template const Table& table_of<AnswerRow>();
template const Table& table_of<EventRow>();
template const Table& table_of<ProvenanceRow>();
template const Table& table_of<StringIndexRow>();

std::string_view name_of(ColumnType type) {
  constexpr std::array<std::string_view, 9> kNames = {"u8",  "u32", "i32",  "u64",    "i64",
                                                      "f32", "f64", "text", "verdict"};
  return kNames[static_cast<std::size_t>(type)];
}

std::size_t bytes_of(const Column& column) {
  return visit_type(column, [&](auto element) { return column.count * sizeof element; });
}

double number_in(const Column& column, const std::byte* row) {
  if (column.type == ColumnType::text) return 0;
  return visit_type(column, [&](auto number) {
    std::memcpy(&number, row + column.offset, sizeof number);
    return static_cast<double>(number);
  });
}

std::uint32_t index_in(const Column& column, const std::byte* row) {
  std::uint32_t index = 0;
  std::memcpy(&index, row + column.offset, sizeof index);
  return index;
}

std::span<const Table* const> tables() {
  static const std::array<const Table*, 12> all = {
      &table_of<NodeRow>(),   &table_of<GpuRow>(),        &table_of<CaseRow>(),
      &table_of<ResultRow>(), &table_of<MiscompareRow>(), &table_of<SmRow>(),
      &table_of<MetricRow>(), &table_of<SampleRow>(),     &table_of<AnswerRow>(),
      &table_of<EventRow>(),  &table_of<ProvenanceRow>(), &table_of<StringIndexRow>()};
  return all;
}

std::span<const LaunchAttribute> launch_attributes() {
  using R = LaunchRow;
  static const std::array<LaunchAttribute, 18> all = {{
      {"run_id", &R::run_id, "UUID of the launch", kept},
      {"series_id", &R::series_id, "run_id of the first launch of the same command", kept},
      {"launch", &R::launch, "which launch of its command, from 1"},
      {"launches", &R::launches, "launches of its command"},
      {"created_utc", &R::created_utc, "when it began, ISO 8601", kept},
      {"created_unix_s", &R::created_unix_s, "when it began, seconds since 1970-01-01 UTC"},
      {"tool_version", &R::tool_version, "of the tidemark that ran", kept},
      {"level", &R::level, "quick, nightly or soak", kept},
      {"device", &R::device, "cuda or virtual", kept},
      {"seed", &R::seed, "of the launch"},
      {"virtual", &R::is_virtual, "1: nothing was measured on a GPU"},
      {"anonymised", &R::anonymised, "1: names and serial numbers are hashes"},
      {"complete", &R::complete, "1: every rank ended as it should and no journal line is lost"},
      {"incomplete_reason", &R::incomplete_reason, "why not complete", rewritten},
      {"ranks_expected", &R::ranks_expected, "ranks of the launch"},
      {"ranks_reported", &R::ranks_reported, "ranks that left a journal"},
      {"gpus", &R::gpus, "GPUs over all ranks"},
      {"damaged_lines", &R::damaged_lines, "journal lines that could not be used"},
  }};
  return all;
}

}  // namespace tidemark
