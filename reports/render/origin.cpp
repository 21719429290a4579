// What a report was made on and by: notes, events, machines, GPUs, versions.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "reports/render/parts.hpp"
#include "reports/store/ranges.hpp"

namespace tidemark::reports {
namespace {

std::string known(std::string_view text) { return text.empty() ? "unknown" : std::string(text); }

std::string cuda_version(std::uint32_t version) {
  if (version == 0) return "unknown";
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string switched(std::string_view what, std::int32_t state) {
  return fmt::format("  {} {}", what, state < 0 ? "unknown" : state == 0 ? "off" : "on");
}

/// What GPUs of one kind share; GPUs that differ in it stand on lines of their own.
std::string kind_of(const Report& report, const GpuRow& gpu) {
  if (gpu.reported == 0) return "never reported";
  std::string made = fmt::format(
      "{}  driver {}  CUDA {} (runtime {})  NCCL {}  sm_{}  {} SMs  {} GiB",
      known(report.text(gpu.name)), known(report.text(gpu.driver)), cuda_version(gpu.cuda_driver),
      cuda_version(gpu.cuda_runtime), known(report.text(gpu.nccl)), gpu.compute_capability,
      gpu.sm_count, gpu.memory_bytes >> 30);
  if (gpu.nvml == 0) return made + "  nvml: not available";
  return made + switched("ECC", gpu.ecc_enabled) + switched("MIG", gpu.mig_enabled) +
         fmt::format("  power cap {} W", short_number(gpu.power_limit_w));
}

std::string node_text(const Report& report, std::size_t index) {
  const NodeRow& node = report.nodes[index];
  return fmt::format("{}  {}  kernel {}  {}  {} CPUs  {}  HDF5 {}  ranks {}",
                     known(report.text(node.hostname)), report.text(node.os),
                     known(report.text(node.kernel)), report.text(node.cpu), node.logical_cpus,
                     node.mpi == 0 ? "no MPI" : report.text(node.mpi),
                     known(report.text(node.hdf5)), node.ranks);
}

/// GPUs by what they share.
std::map<std::string, std::vector<std::uint32_t>> kinds_of(const Report& report) {
  std::map<std::string, std::vector<std::uint32_t>> kinds;
  for (const GpuRow& gpu : report.gpus) kinds[kind_of(report, gpu)].push_back(gpu.gpu_id);
  return kinds;
}

void put_nodes(Page& page, const Report& report, bool all) {
  constexpr std::size_t kListed = 8;
  const std::size_t shown = all ? report.nodes.size() : std::min(kListed, report.nodes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    put(page, fmt::format("node {}: {}", report.nodes[i].node_id, node_text(report, i)), 2);
  }
  put_left_out(page, report.nodes.size() - shown, "node");
}

void put_gpus(Page& page, const Report& report, bool each) {
  const auto kinds = kinds_of(report);
  for (const auto& [kind, gpus] : kinds) {
    const std::string which = kinds.size() == 1 ? "" : fmt::format(" (GPUs {})", ranges(gpus));
    put(page, fmt::format("GPUs {} x {}{}", gpus.size(), kind, which), 2);
  }
  for (const GpuRow& gpu : report.gpus) {
    if (!each || gpu.reported == 0) continue;
    put(page,
        fmt::format("  {}  {}  serial {}  PCI {}", place_of(report, gpu.gpu_id), gpu.uuid.view(),
                    known(report.text(gpu.serial)), known(report.text(gpu.pci))),
        4);
  }
}

/// The values of all keys that start so, in order.
std::string values_under(const Report& report, std::string_view prefix, bool with_key) {
  std::string made;
  for (const ProvenanceRow& row : report.provenance) {
    const std::string_view key = report.text(row.key);
    if (!key.starts_with(prefix)) continue;
    if (!made.empty()) made += ' ';
    if (with_key) made += fmt::format("{}=", key.substr(prefix.size()));
    made += report.text(row.value);
  }
  return made;
}

/// Remarks that say the same.
struct Note {
  std::set<std::string> texts;
  std::set<std::uint32_t> cases;
};

/// Each run of digits as one '#'.
std::string without_numbers(std::string_view text) {
  std::string kind;
  for (const char character : text) {
    const bool digit = character >= '0' && character <= '9';
    if (!digit) kind += character;
    if (digit && (kind.empty() || kind.back() != '#')) kind += '#';
  }
  return kind;
}

/// 3 of "row 3, ...", as notes of fault cases begin.
std::optional<std::uint32_t> row_of(std::string_view text) {
  constexpr std::string_view kRow = "row ";
  if (!text.starts_with(kRow)) return std::nullopt;
  text.remove_prefix(kRow.size());
  std::uint32_t row = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, row);
  if (error != std::errc() || next == end || *next != ',') return std::nullopt;
  return row;
}

/// Notes of one key stand as one, in the order of their keys: kind, row, text where it counts.
using NoteKey = std::tuple<std::string, std::uint32_t, std::string>;

NoteKey key_of(const std::string& text, bool all) {
  // Rows are no sizes: each has an outcome of its own.
  if (const auto row = row_of(text)) return {"row #", *row, text};
  return {all ? text : without_numbers(text), 0, {}};
}

/// Its name and hash, where it was not that of the build.
std::string gemm_table_text(const Report& report) {
  const std::string_view hash = provenance_of(report, "gemm_table.hash");
  if (hash.empty()) return {};
  return fmt::format("{} {}", provenance_of(report, "gemm_table.name"), hash);
}

}  // namespace

void put_notes(Page& page, const Report& report, const ShowOptions& options) {
  std::map<NoteKey, Note> notes;
  std::size_t recorded = 0;
  for (const ResultRow& result : report.results) {
    std::string_view rest = report.text(result.notes);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string text(rest.substr(0, end));
      Note& note = notes[key_of(text, options.all)];
      note.texts.insert(text);
      note.cases.insert(result.case_id);
      ++recorded;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (notes.empty()) return;
  put(page, "");
  if (!options.notes && !options.all) {
    put(page, fmt::format("{} recorded, none judged (--notes lists them)",
                          plural(recorded, "observation")));
    return;
  }
  for (const auto& [key, note] : notes) {
    std::string where{report.cases[*note.cases.begin()].name.view()};
    if (note.cases.size() > 1) where += fmt::format(" and {} more cases", note.cases.size() - 1);
    if (note.texts.size() > 1) where += fmt::format("; {} other sizes", note.texts.size() - 1);
    put(page, fmt::format("note: {} ({})", *note.texts.begin(), where), 6);
  }
}

void put_events(Page& page, const Report& report, const ShowOptions& options) {
  constexpr std::size_t kListed = 10;
  if (report.events.empty()) return;
  put(page, "");
  const std::size_t shown =
      options.all ? report.events.size() : std::min(kListed, report.events.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const EventRow& event = report.events[i];
    put(page,
        fmt::format("event at {:+.1f} s: {} {}{}: {}",
                    event.at_unix_s - report.launch.created_unix_s, report.text(event.source),
                    event.code,
                    event.gpu_id == kNoRow ? "" : " on " + place_of(report, event.gpu_id),
                    report.text(event.text)),
        6);
  }
  put_left_out(page, report.events.size() - shown, "event");
}

void put_origin(Page& page, const Report& report, const ShowOptions& options) {
  const LaunchRow& launch = report.launch;
  put(page, "");
  put(page,
      fmt::format("run {}  {}{}{}", launch.run_id, known(launch.created_utc),
                  launch.launches > 1
                      ? fmt::format("  launch {} of {}", launch.launch, launch.launches)
                      : "",
                  launch.anonymised ? "  (anonymised: names are hashes)" : ""),
      2);
  put(page,
      fmt::format("level {}  seed {:#x}  device {}  ranks {} of {} reported", launch.level,
                  launch.seed, launch.is_virtual ? "VIRTUAL" : launch.device, launch.ranks_reported,
                  launch.ranks_expected),
      2);
  put_nodes(page, report, options.all);
  put_gpus(page, report, options.all);
  const std::string nvcc = known(provenance_of(report, "nvcc"));
  put(page,
      fmt::format("tidemark {}  git {}  kernels {}  suite {}  nvcc {}  compiler {}",
                  launch.tool_version, known(provenance_of(report, "git_hash")),
                  known(provenance_of(report, "kernels_tree")),
                  known(provenance_of(report, "suite_tree")), nvcc,
                  known(provenance_of(report, "compiler"))),
      2);
  const std::string arguments = values_under(report, "argument.", false);
  if (!arguments.empty()) put(page, fmt::format("arguments: {}", arguments), 2);
  const std::string environment = values_under(report, "environment.", true);
  if (!environment.empty()) put(page, fmt::format("environment: {}", environment), 2);
  const std::string table = gemm_table_text(report);
  if (!table.empty()) put(page, fmt::format("GEMM table: {}", table), 2);
}

std::string models_of(const Report& report) {
  std::map<std::string, std::size_t> models;
  for (const GpuRow& gpu : report.gpus)
    if (gpu.reported != 0)
      ++models[fmt::format("{}, driver {}", known(report.text(gpu.name)),
                           known(report.text(gpu.driver)))];
  std::vector<std::pair<std::size_t, std::string>> order;
  order.reserve(models.size());
  for (const auto& [model, count] : models) order.emplace_back(count, model);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string made;
  for (const auto& [count, model] : order)
    made += fmt::format("{}{} x {}", made.empty() ? "" : "; ", grouped(count), model);
  return made;
}

std::vector<Fact> facts_of(const Report& report) {
  constexpr std::size_t kNodes = 8;
  const LaunchRow& launch = report.launch;
  std::vector<Fact> made = {
      {"run", launch.run_id},
      {"launch", fmt::format("{} of {}", launch.launch, launch.launches)},
      {"created", known(launch.created_utc)},
      {"level", launch.level},
      {"seed", fmt::format("{:#x}", launch.seed)},
      {"device", launch.is_virtual ? "VIRTUAL" : launch.device},
      {"ranks", fmt::format("{} of {} reported", launch.ranks_reported, launch.ranks_expected)},
      {"tidemark", launch.tool_version}};
  for (const char* key : {"git_hash", "kernels_tree", "suite_tree", "nvcc", "compiler"}) {
    made.push_back({key, known(provenance_of(report, key))});
  }
  for (const auto& [kind, gpus] : kinds_of(report)) {
    made.push_back({fmt::format("GPUs {}", ranges(gpus)), kind});
  }
  for (std::size_t i = 0; i < std::min(kNodes, report.nodes.size()); ++i) {
    made.push_back({fmt::format("node {}", report.nodes[i].node_id), node_text(report, i)});
  }
  if (report.nodes.size() > kNodes) {
    made.push_back({"more nodes", grouped(report.nodes.size() - kNodes)});
  }
  made.push_back({"arguments", values_under(report, "argument.", false)});
  made.push_back({"environment", values_under(report, "environment.", true)});
  if (const std::string slowed = slowed_text(report); !slowed.empty()) {
    made.push_back({"slowed on purpose", slowed});
  }
  if (const std::string table = gemm_table_text(report); !table.empty()) {
    made.push_back({"GEMM table", table});
  }
  return made;
}

}  // namespace tidemark::reports
