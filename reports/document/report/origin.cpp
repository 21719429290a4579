// What a report was made on and by: notes, events, machines, GPUs, versions.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"
#include "reports/journal/hardware_events.hpp"

namespace tidemark {
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

/// The launch and its nodes.
Facts launch_facts(const Report& report, std::size_t nodes) {
  const LaunchRow& launch = report.launch;
  Facts made;
  made.facts = {{"run",
                 fmt::format("{}  {}{}{}", launch.run_id, known(launch.created_utc),
                             launch.launches > 1
                                 ? fmt::format("  launch {} of {}", launch.launch, launch.launches)
                                 : "",
                             launch.anonymised ? "  (anonymised: names are hashes)" : ""),
                 " "},
                {"level",
                 fmt::format("{}  seed {:#x}  device {}  ranks {} of {} reported", launch.level,
                             launch.seed, launch.is_virtual ? "VIRTUAL" : launch.device,
                             launch.ranks_reported, launch.ranks_expected),
                 " "}};
  for (std::size_t i = 0; i < nodes; ++i) {
    made.facts.push_back({fmt::format("node {}", report.nodes[i].node_id), node_text(report, i)});
  }
  return made;
}

/// Its GPUs by kind, the program and how it was called.
Facts build_facts(const Report& report) {
  Facts made;
  const auto kinds = kinds_of(report);
  for (const auto& [kind, gpus] : kinds) {
    const std::string which = kinds.size() == 1 ? "" : fmt::format(" (GPUs {})", ranges(gpus));
    made.facts.push_back({"GPUs", fmt::format("{} x {}{}", gpus.size(), kind, which), " "});
  }
  const auto of = [&](std::string_view key) { return known(provenance_of(report, key)); };
  made.facts.push_back({"tidemark",
                        fmt::format("{}  git {}  kernels {}  suite {}  nvcc {}  compiler {}",
                                    report.launch.tool_version, of("git_hash"), of("kernels_tree"),
                                    of("suite_tree"), of("nvcc"), of("compiler")),
                        " "});
  for (Fact& fact : std::vector<Fact>{{"arguments", values_under(report, "argument.", false)},
                                      {"environment", values_under(report, "environment.", true)},
                                      {"GEMM table", gemm_table_text(report)}}) {
    if (!fact.value.empty()) made.facts.push_back(std::move(fact));
  }
  return made;
}

/// Each GPU, on a terminal that is to show all.
void add_gpus(Section& section, const Report& report) {
  for (const GpuRow& gpu : report.gpus) {
    if (gpu.reported == 0) continue;
    section.add(
        Line{.text = {fmt::format("  {}  {}  serial {}  PCI {}", place_of(report, gpu.gpu_id),
                                  gpu.uuid.view(), known(report.text(gpu.serial)),
                                  known(report.text(gpu.pci)))},
             .indent = 4},
        kAtTerminal);
  }
}

TextTable gpu_table(const Report& report, std::size_t most) {
  TextTable made{.id = "gpus",
                 .label = "GPUs",
                 .columns = headings({">GPU", "node", ">slot", "UUID", "name", "driver", "VBIOS",
                                      "serial", "PCI", "ECC", "MIG", ">power cap W", ">app SM MHz",
                                      ">NVLinks up", ">rows to remap"})};
  for (const GpuRow& gpu : std::span(report.gpus).first(std::min(most, report.gpus.size()))) {
    const auto text = [&report](std::uint32_t index) { return text_cell(report.text(index)); };
    const auto state = [&gpu](std::int32_t value) {
      return text_cell(gpu.nvml == 0 || value < 0 ? "-" : value == 0 ? "off" : "on");
    };
    const auto read = [&gpu](double value) {
      return number_cell(gpu.nvml == 0 ? std::nan("") : value);
    };
    const double clock = gpu.app_sm_mhz == 0 ? std::nan("") : gpu.app_sm_mhz;
    made.rows.push_back(
        {count_cell(gpu.gpu_id),
         text_cell(gpu.node_id == kNoRow ? "never reported" : host_of(report, gpu.gpu_id)),
         count_cell(gpu.local_index), text_cell(gpu.uuid.view()), text(gpu.name), text(gpu.driver),
         text(gpu.vbios), text(gpu.serial), text(gpu.pci), state(gpu.ecc_enabled),
         state(gpu.mig_enabled), read(gpu.power_limit_w), read(clock),
         read(number_of(gpu.nvlinks_up)), read(number_of(gpu.remapped_rows_pending))});
  }
  return made;
}

}  // namespace

Section notes_of(const Report& report, const ShowOptions& options) {
  Section made{.id = "notes", .heading = "Notes", .bytes = 1'000};
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
  if (notes.empty()) return made;
  const bool listed = options.notes || options.all;
  if (!listed) {
    made.add(Line{.as = Line::As::paragraph,
                  .text = {ours(plural(recorded, "observation") +
                                " recorded, none judged (--notes lists them)")}},
             kNotOnPage);
  }
  for (const auto& [key, note] : notes) {
    std::string where{report.cases[*note.cases.begin()].name.view()};
    if (note.cases.size() > 1) where += fmt::format(" and {} more cases", note.cases.size() - 1);
    if (note.texts.size() > 1) where += fmt::format("; {} other sizes", note.texts.size() - 1);
    made.add(Line{.text = {fmt::format("note: {} ({})", *note.texts.begin(), where)}, .indent = 6},
             listed ? kEveryone : kOnPage);
  }
  return made;
}

Section events_of(const Report& report) {
  Section made{.id = "events", .heading = "Events", .bytes = 3'000};
  const auto line = [&report](std::size_t i) {
    const EventRow& event = report.events[i];
    return Line{
        .text = {fmt::format("event at {:+.1f} s: {} {}{}: {}",
                             event.at_unix_s - report.launch.created_unix_s,
                             report.text(event.source), event.code,
                             event.gpu_id == kNoRow ? "" : " on " + place_of(report, event.gpu_id),
                             report.text(event.text))},
        .indent = 6};
  };
  made.add(List{report.events.size(), {.terminal = 10, .page = 10}, "event", line});
  return made;
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
  std::ranges::stable_sort(order, std::greater{}, [](const auto& of) { return of.first; });
  std::string made;
  for (const auto& [count, model] : order)
    made += fmt::format("{}{} x {}", made.empty() ? "" : "; ", grouped(count), model);
  return made;
}

Section origin_of(const Report& report, const ShowOptions& options) {
  Section made{.id = "origin", .heading = "What it was made on", .link = "made on", .bytes = 6'500};
  const std::size_t nodes = std::min(options.most(8), report.nodes.size());
  constexpr auto kNotInReview = static_cast<Readers>(kAtTerminal | kOnPage);
  made.add(launch_facts(report, nodes), kNotInReview);
  made.leave_out(report.nodes.size(), nodes, "node", kNotInReview);
  made.add(launch_facts(report, report.nodes.size()), kInReview);
  made.add(build_facts(report));
  if (options.all) add_gpus(made, report);
  TextTable gpus = gpu_table(report, options.most(3000));
  const std::size_t shown = gpus.rows.size();
  made.add(std::move(gpus), kOnPage);
  made.leave_out(report.gpus.size(), shown, "GPU", kOnPage);
  return made;
}

}  // namespace tidemark
