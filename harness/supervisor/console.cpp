// Prints header, troubles and progress.
#include "harness/supervisor/console.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/base/clock.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/supervisor/opening.hpp"
#include "harness/version.hpp"
#include "reports/render/page.hpp"

namespace tidemark {

namespace {

constexpr double kBarEvery = 0.2, kLineEvery = 10, kTallyEvery = 1;  // seconds
constexpr std::uint32_t kUsualColumns = 100;

std::string duration(double seconds) {
  const auto whole = std::llround(seconds);
  return whole < 60 ? fmt::format("{}s", whole) : fmt::format("{}m{:02}s", whole / 60, whole % 60);
}

}  // namespace

std::string progress_text(const Tally& all, std::uint64_t planned, const std::string& eta,
                          std::size_t columns) {
  constexpr std::size_t kNameColumns = 32;
  const std::string head = fmt::format("[{:3}%] ", planned == 0 ? 100 : 100 * all.done / planned);
  const std::string tail =
      fmt::format(" {}/{} results  {} not passed{}", all.done, planned, all.troubled, eta);
  const std::size_t room = columns - std::min(columns, head.size() + tail.size());
  const std::string text =
      fmt::format("{}{:<{}}{}", head, all.now.substr(0, room), std::min(kNameColumns, room), tail);
  return text.substr(0, columns);
}

Console::Console(Mesh& mesh, std::uint64_t planned, bool quiet, Output& out)
    : mesh_(mesh),
      out_(out),
      planned_(planned),
      quiet_(quiet),
      // mpirun gives its ranks a terminal of their own, whatever the user's output is.
      colour_(colour_wanted(mesh.launched())),
      bar_(::isatty(STDERR_FILENO) == 1),
      began_s_(monotonic_s()),
      shown_s_(monotonic_s()),
      others_(mesh.ranks()) {
  // Of the launch before.
  while (mesh.take(Tag::tally)) {
  }
}

void Console::print(const std::string& text) {
  if (quiet_) return;
  end_progress();
  out_.put(text + '\n');
}

void Console::line(const std::string& text) {
  if (mesh_.rank() == 0) print(text);
}

void Console::trouble(const std::string& text, const std::string& of) {
  if (mesh_.rank() == 0) {
    print_trouble(text, of);
  } else {
    mesh_.send(0, Tag::trouble, of + '\n' + text);
  }
}

void Console::print_trouble(const std::string& text, const std::string& of) {
  constexpr std::size_t kMostInFull = 30;  // as many as show has
  if (!of.empty() && !troubles_.insert(of).second) return;
  print(of.empty() || troubles_.size() <= kMostInFull ? text : text.substr(0, text.find('\n')));
}

void Console::count(bool troubled) {
  ++mine_.done;
  if (troubled) ++mine_.troubled;
}

void Console::refresh() {
  const double now = monotonic_s();
  if (mesh_.rank() != 0) {
    if (now - sent_s_ < kTallyEvery) return;
    sent_s_ = now;
    const nlohmann::json tally = {
        {"done", mine_.done}, {"troubled", mine_.troubled}, {"now", mine_.now}};
    mesh_.send(0, Tag::tally, tally.dump());
    return;
  }
  hear_others();
  out_.flush(0);
  if (now - shown_s_ < (bar_ ? kBarEvery : kLineEvery)) return;
  shown_s_ = now;
  show_progress();
}

void Console::hear_others() {
  while (const std::optional<Message> message = mesh_.take(Tag::trouble)) {
    const std::size_t end = message->bytes.find('\n');
    print_trouble(message->bytes.substr(end + 1), message->bytes.substr(0, end));
  }
  while (const std::optional<Message> message = mesh_.take(Tag::tally)) {
    const auto tally = nlohmann::json::parse(message->bytes, nullptr, false);
    if (tally.is_discarded()) continue;
    others_[message->from] = {.done = tally.value("done", std::uint64_t{0}),
                              .troubled = tally.value("troubled", std::uint64_t{0}),
                              .now = tally.value("now", "")};
  }
}

void Console::show_progress() {
  std::uint64_t done = mine_.done;
  std::uint64_t troubled = mine_.troubled;
  for (const Tally& tally : others_) {
    done += tally.done;
    troubled += tally.troubled;
  }
  const double spent = monotonic_s() - began_s_;
  std::string eta;
  if (done > 0 && done < planned_) {
    eta = "  eta " +
          duration(spent / static_cast<double>(done) * static_cast<double>(planned_ - done));
  }
  const Tally all{.done = done, .troubled = troubled, .now = mine_.now};
  if (bar_) {
    // A line that fills the last column moves the cursor on, and the next one no longer covers it.
    const std::size_t columns = terminal_columns(kUsualColumns, STDERR_FILENO) - 1;
    const std::string bar =
        fmt::format("\r{:<{}}", progress_text(all, planned_, eta, columns), columns);
    write_within(STDERR_FILENO, bar, 0);
    bar_shown_ = true;
  } else if (!quiet_) {
    out_.put(progress_text(all, planned_, eta, kUsualColumns) + '\n');
  }
}

void Console::end_progress() {
  if (!bar_shown_) return;
  const std::string blank =
      fmt::format("\r{:<{}}\r", "", terminal_columns(kUsualColumns, STDERR_FILENO) - 1);
  write_within(STDERR_FILENO, blank, 0);
  bar_shown_ = false;
}

// Says what a launch is before its first case.

namespace {

constexpr std::size_t kEnoughCpus = 4;  // for each GPU

/// How many CPUs this process may run on.
std::uint32_t cpus_allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // More than 1024 of them do not fit into the set; those are enough.
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return CPU_SETSIZE;
  return static_cast<std::uint32_t>(CPU_COUNT(&set));
}

std::uint32_t cpus_online() {
  return static_cast<std::uint32_t>(std::max(0L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

void say_header(Console& console, const LaunchOptions& options, std::uint32_t number,
                const Opening& opening, const GpuRecord* first) {
  console.line(fmt::format("tidemark {}  run {}  seed {:#x}  level {}", build_version().version,
                           opening.head.run_id.substr(0, 8), opening.head.seed,
                           name_of(options.level)));
  if (options.launches > 1) {
    console.line(fmt::format(" launch {} of {}", number, options.launches));
  }
  for (const auto& [name, share] : options.slow) {
    console.line(fmt::format(" SLOWED ON PURPOSE: {} by {}", name, percent_of(share)));
  }
  if (!opening.resumed.folder.empty()) {
    console.line(fmt::format(" goes on with run {}: {} results are there",
                             opening.resumed.run_id.substr(0, 8),
                             answered(opening.resumed).size()));
  }
  for (const std::string& text : opening.assignment.left_out) {
    console.line(" LEFT OUT: " + printable(text));
  }
  if (opening.assignment.kind == DeviceKind::virtual_device) {
    console.line(fmt::format(" VIRTUAL device: {} of them; nothing here is measured on a GPU{}",
                             opening.places.size(),
                             options.fault.empty() ? "" : "; fault " + options.fault));
    return;
  }
  std::string line = fmt::format(" nodes {}  gpus {}", opening.nodes, opening.places.size());
  if (first != nullptr) {
    line += " x " + first->name;
    if (!first->driver.empty()) line += "  driver " + first->driver;
    if (first->cuda_driver > 0) {
      line +=
          fmt::format("  cuda {}.{}", first->cuda_driver / 1000, first->cuda_driver % 1000 / 10);
    }
    if (!first->nvml) line += "  nvml: not available";
  }
  console.line(line);
  const std::string few =
      few_cpus(cpus_allowed(), cpus_online(), opening.assignment.gpus.front().size());
  if (!few.empty()) console.line(few);
}

std::string few_cpus(std::uint32_t allowed, std::uint32_t online, std::size_t gpus) {
  if (allowed >= online || allowed >= kEnoughCpus * gpus) return {};
  return fmt::format(
      " this rank may use {} of {} CPUs: checks of products take longer; mpirun --bind-to none",
      allowed, online);
}

}  // namespace tidemark
