// What rank 0 of a large fleet has to do at its end, on simulated journals: reading the journals of
// all ranks, making the report, writing it and reading it back. Prints seconds and the most memory
// for each size of the fleet, each in a process of its own.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "reports/store/report.hpp"

namespace tidemark {
namespace {

struct Typed {
  std::vector<std::uint32_t> gpus = {100, 1000, 10000};
  std::uint32_t cases = 168, metrics = 0, samples = 200;
  std::string folder = std::filesystem::temp_directory_path();
};

// Numbers that stand for those of a rank, in the lines of a template.
constexpr std::uint32_t kRank = 4'111'111'111, kGpu = 4'222'222'222;
constexpr double kSeconds = 0.123123123, kValue = 777.123123;

/// Lengths are those of a quick launch on one H100: 40 KiB of plan, 1 KiB an outcome.
LaunchRecord launch_of(const Typed& typed, std::uint32_t gpus) {
  LaunchRecord launch{.rank = kRank,
                      .run_id = "3f1c0000-0000-4000-8000-000000000001",
                      .series_id = "3f1c0000-0000-4000-8000-000000000001",
                      .created_unix_s = 1788220800.25,
                      .tool_version = "0.1.0",
                      .git_hash = "0123456789ab",
                      .kernels_tree = "d75dcb7c7616f735",
                      .suite_tree = "a8b506ff2c5b217f",
                      .nvcc = "13.0.88",
                      .compiler = "12.2.0",
                      .level = "quick",
                      .device = "cuda",
                      .seed = 7,
                      .ranks = gpus,
                      .gpus = gpus,
                      .arguments = {"tidemark", "run", "--out", "/shared/night.h5"},
                      .environment = {},
                      .cases = {}};
  for (std::uint32_t i = 0; i < typed.cases; ++i) {
    launch.cases.push_back({.name = fmt::format("simulated.family{}.case_{:03}", i % 20, i),
                            .kind = i < typed.metrics ? "benchmark" : "conformance",
                            .scope = "one_gpu",
                            .claim = std::string(110, static_cast<char>('a' + i % 26)),
                            .unit = i < typed.metrics ? "TFLOP/s" : ""});
  }
  return launch;
}

OutcomeRecord outcome_of(const Typed& typed, std::uint32_t i, const std::string& name) {
  OutcomeRecord outcome{.gpu = kGpu,
                        .case_name = name,
                        .verdict = Verdict::pass,
                        .reason = {},
                        .start_unix_s = 1788220800 + kSeconds,
                        .seconds = kSeconds,
                        .rows_planned = 264,
                        .rows_run = 264,
                        .sm_rows_run = std::vector<std::uint32_t>(132, 2),
                        .sm_rows_failed = {},
                        .sm_latency = {},
                        .sm_rate = {},
                        .seed = 0x1cedab79d144e65e,
                        .replay = "tidemark run --cases " + name + " --seed 0x1cedab79d144e65e",
                        .notes = {},
                        .miscompares = {},
                        .metrics = {},
                        .answers = {}};
  if (i % 8 == 0) outcome.notes = {std::string(200, 'n')};
  if (i >= typed.metrics) return outcome;
  MetricRecord metric{.name = "rate", .unit = "TFLOP/s", .samples = {}};
  for (std::uint32_t sample = 0; sample < typed.samples; ++sample) {
    metric.samples.push_back({.value = kValue,
                              .seconds = kSeconds,
                              .telemetry = {.at_unix_s = 1788220800 + sample * 0.01,
                                            .sm_mhz = 1980,
                                            .memory_mhz = 2619,
                                            .power_w = 350,
                                            .temperature_c = 45,
                                            .utilisation = 100,
                                            .throttle_reasons = 0}});
  }
  outcome.metrics.push_back(metric);
  return outcome;
}

/// A line of every journal, with room for the numbers of a rank.
class LineTemplate {
 public:
  explicit LineTemplate(std::string_view line) {
    constexpr std::size_t kTail = std::string_view("89abcdef\"}\n").size();
    line.remove_suffix(kTail);
    const auto is_next = [&](std::string_view text) { return line.starts_with(text); };
    const std::string rank = std::to_string(kRank), gpu = std::to_string(kGpu);
    std::string text;
    while (!line.empty()) {
      const std::string_view mark = is_next(rank)          ? std::string_view(rank)
                                    : is_next(gpu)         ? std::string_view(gpu)
                                    : is_next("123123123") ? std::string_view("123123123")
                                    : is_next("123123,")   ? std::string_view("123123")
                                                           : std::string_view();
      if (mark.empty()) {
        text += line.front();
        line.remove_prefix(1);
        continue;
      }
      parts_.push_back({std::exchange(text, {}), mark.size() == 10});
      line.remove_prefix(mark.size());
    }
    last_ = text;
  }

  void add_to(std::string& journal, std::uint32_t rank) const {
    constexpr std::size_t kKey = std::string_view(",\"crc\":\"").size();
    const std::size_t begin = journal.size();
    std::uint32_t digits = rank + 1;
    for (const Part& part : parts_) {
      digits = digits * 1664525U + 1013904223U;
      journal += part.before;
      journal += part.number ? std::to_string(rank) : std::to_string(digits % 900'000 + 100'000);
    }
    journal += last_;
    const std::string_view covered = std::string_view(journal).substr(begin);
    const auto crc =
        crc32_z(0, reinterpret_cast<const Bytef*>(covered.data()), covered.size() - kKey);
    journal += fmt::format("{:08x}\"}}\n", crc);
  }

 private:
  struct Part {
    std::string before;
    bool number = false;  // the rank itself, else digits that differ everywhere
  };
  std::vector<Part> parts_;
  std::string last_;
};

std::vector<LineTemplate> journal_template(const Typed& typed, std::uint32_t gpus) {
  std::vector<LineTemplate> lines;
  LineOrigin origin{.run_id = launch_of(typed, gpus).run_id, .rank = kRank};
  const auto add = [&](const Record& record) {
    lines.emplace_back(to_line(record, origin));
    ++origin.number;
  };
  const LaunchRecord launch = launch_of(typed, gpus);
  add(launch);
  add(NodeRecord{.first_rank = kRank,
                 .hostname = fmt::format("node{}", kRank),
                 .kernel = "6.1.0",
                 .os = "Debian 12",
                 .cpu = "Xeon 8480C",
                 .boot_id = fmt::format("b007b007-1111-2222-3333-{}", kRank),
                 .mpi = "Open MPI 4.1.4",
                 .hdf5 = "1.10.8",
                 .logical_cpus = 112});
  add(GpuRecord{.gpu_id = kGpu,
                .rank = kRank,
                .uuid = fmt::format("GPU-0a1b2c3d-{}", kRank),
                .serial = std::to_string(kRank),
                .pci = "00000000:0F:00.0",
                .name = "NVIDIA H100 80GB HBM3",
                .vbios = "96.00.89.00.01",
                .board_part = "692-2G520-0200-000",
                .driver = "590.44.01",
                .nccl = "2.28.3"});
  for (std::uint32_t i = 0; i < typed.cases; ++i) {
    const std::string& name = launch.cases[i].name;
    add(StartRecord{.gpu = kGpu, .case_name = name, .at_unix_s = 1788220800 + kSeconds});
    add(outcome_of(typed, i, name));
  }
  add(EndRecord{.rank = kRank, .at_unix_s = 1788220900.5});
  return lines;
}

/// Both numbers are those of the rank: one GPU a rank.
Journals simulated(const Typed& typed, std::uint32_t gpus) {
  const auto lines =
      std::make_shared<const std::vector<LineTemplate>>(journal_template(typed, gpus));
  return {gpus, [lines](std::size_t rank) {
            std::string journal;
            for (const LineTemplate& line : *lines)
              line.add_to(journal, static_cast<std::uint32_t>(rank));
            return journal;
          }};
}

double seconds_of(const auto& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void measure(const Typed& typed, std::uint32_t gpus) {
  const Journals journals = simulated(typed, gpus);
  const std::string out = fmt::format("{}/report_scale.{}.h5", typed.folder, ::getpid());
  Report report;
  const double made = seconds_of([&] { report = assemble(journals, {}); });
  if (!report.launch.complete || report.launch.damaged_lines != 0)
    throw std::runtime_error("the report is not whole: " + report.launch.incomplete_reason);
  const double written = seconds_of([&] { write_report(report, out); });
  const std::uintmax_t bytes = std::filesystem::file_size(out);
  std::filesystem::remove(out);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  fmt::print("| {} | {} | {:.0f} | {:.1f} | {:.1f} | {:.1f} | {} | {:.1f} |\n", gpus,
             report.results.size(), static_cast<double>(journals.at(0).size()) / 1024, made,
             written, seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss / 1024,
             static_cast<double>(bytes) / (1 << 20));
}

int run(const Typed& typed) {
  fmt::print(
      "| GPUs | results | KiB a journal | s to read | s to write | s of CPU | MiB at most | MiB of "
      "report |\n");
  fmt::print("|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const std::uint32_t gpus : typed.gpus) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        measure(typed, gpus);
      } catch (const std::exception& error) {
        fmt::print(stderr, "report_scale: {} GPUs: {}\n", gpus, error.what());
        ::_exit(1);
      }
      std::fflush(stdout);
      ::_exit(0);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  tidemark::Typed typed;
  CLI::App app("What rank 0 does at the end of a launch, on simulated journals");
  app.add_option("--gpus", typed.gpus, "Sizes of the fleet (100 1000 10000)");
  app.add_option("--cases", typed.cases, "Cases a GPU (168)");
  app.add_option("--metrics", typed.metrics, "Of these, benchmarks with one metric (0)");
  app.add_option("--samples", typed.samples, "Samples a metric (200)");
  app.add_option("--folder", typed.folder, "Where the report goes, and is removed");
  CLI11_PARSE(app, argc, argv);
  return tidemark::run(typed);
}
