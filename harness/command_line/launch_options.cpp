// The table of options. Its overloads of take() and text_of() read and write the types of members.
#include "harness/command_line/launch_options.hpp"

#include <fmt/ranges.h>

#include <concepts>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/command_line/option_values.hpp"

namespace tidemark {
namespace {

using Typed = std::vector<std::string>;
using Slowed = std::map<std::string, double>;

/// mpirun takes any number and then all memory of the machine. Larger fleets start mpirun
/// themselves, over their hosts.
constexpr std::uint32_t kMostRanks = 1024;

void take(const LaunchField&, const Typed& typed, bool& to) { to = typed.back() != "false"; }
void take(const LaunchField&, const Typed& typed, std::string& to) { to = typed.back(); }
void take(const LaunchField& of, const Typed& typed, Typed& to) { to = items_of(of.name, typed); }
void take(const LaunchField& of, const Typed& typed, std::unsigned_integral auto& to) {
  to = count_of(of.name, typed.back(), 1, of.most);
}
void take(const LaunchField& of, const Typed& typed, std::int64_t& to) {
  to = count_of(of.name, typed.back(), 0);
}
void take(const LaunchField& of, const Typed& typed, double& to) {
  to = seconds_of(of.name, typed.back());
}
void take(const LaunchField&, const Typed& typed, Level& to) { to = level_of(typed.back()); }
void take(const LaunchField&, const Typed& typed, DeviceChoice& to) {
  to = device_of(typed.back());
}
void take(const LaunchField&, const Typed& typed, std::optional<PanelRoute>& to) {
  to = transport_of(typed.back());
}
void take(const LaunchField&, const Typed& typed, std::optional<std::uint64_t>& to) {
  to = seed_of(typed.back());
}
void take(const LaunchField&, const Typed& typed, Grid& to) { to = grid_of(typed.back()); }
void take(const LaunchField&, const Typed& typed, Slowed& to) {
  for (const std::string& text : typed) {
    if (!to.insert(slow_of(text)).second)
      throw UsageError(fmt::format("--slow '{}': this case was given before; give it once", text));
  }
}

std::string text_of(bool flag) { return flag ? "yes" : ""; }
std::string text_of(const std::string& text) { return text; }
std::string text_of(const Typed& items) { return fmt::format("{}", fmt::join(items, " ")); }
std::string text_of(std::unsigned_integral auto count) {
  return count == 0 ? "" : fmt::format("{}", count);
}
std::string text_of(std::int64_t row) { return row < 0 ? "" : fmt::format("{}", row); }
std::string text_of(double seconds) { return seconds == 0 ? "" : fmt::format("{} s", seconds); }
std::string text_of(Level level) { return std::string(name_of(level)); }
std::string text_of(DeviceChoice device) { return std::string(name_of(device)); }
std::string text_of(std::optional<PanelRoute> route) { return std::string(name_of(route)); }
std::string text_of(std::optional<std::uint64_t> seed) {
  return seed ? fmt::format("{}", *seed) : "";
}
std::string text_of(const Grid& grid) { return grid_text(grid); }
std::string text_of(const Slowed& slowed) {
  Typed items;
  for (const auto& [which, share] : slowed)
    items.push_back(fmt::format("{}={}", which, percent_of(share)));
  return text_of(items);
}

template <class Access>
LaunchField row(Access member, LaunchField field) {
  using Member = std::remove_reference_t<decltype(member(std::declval<LaunchOptions&>()))>;
  field.list = std::is_same_v<Member, Typed> || std::is_same_v<Member, Slowed>;
  field.read = [field, member](LaunchOptions& options, const Typed& typed) {
    take(field, typed, member(options));
  };
  field.text = [member](const LaunchOptions& options) { return text_of(member(options)); };
  return field;
}

template <class Member>
LaunchField row(Member LaunchOptions::*member, LaunchField field) {
  return row(
      [member](auto& options) -> auto& { return options.*member; }, std::move(field));
}

auto size_by(std::uint64_t GemmShape::*size) {
  return [size](auto& options) -> auto& { return options.product.shape.*size; };
}

std::vector<LaunchField> make_fields() {
  using enum OptionReach;
  using Options = LaunchOptions;
  return {
      row(&Options::cases, {"--cases", ranks, "GLOB", "Cases to run, by name or glob (all)"}),
      row(&Options::exclude, {"--exclude", ranks, "GLOB", "Cases to leave out"}),
      row(&Options::level, {"--level", workers, level_names(), "How many cases and rows run ({})"}),
      row(&Options::device, {"--device", ranks, device_names(),
                             "What cases run on: GPUs (auto, cuda), or the virtual device"}),
      row(&Options::gpus, {"--gpus", ranks, "LIST",
                           "Indexes or UUIDs, with commas; virtual device: how many (all)"}),
      row(&Options::expect_gpus,
          {"--expect-gpus", ranks, "N",
           "Exit code 5 where a node has fewer usable GPUs (whatever is there)", kMostRanks}),
      row(&Options::strict_gpus,
          {"--strict-gpus", ranks, "",
           "Exit code 5 for a GPU that is missing, in use, MIG or no Hopper; else it is left out"}),
      row(&Options::transport,
          {"--transport", ranks, transport_names(),
           "How the panels of distributed GEMMs travel (auto: the best that all GPUs allow)"}),
      row(size_by(&GemmShape::n),
          {"--n", workers, "N",
           "Size of the GEMM of gemm.distributed.speed, square; also checked with integers "
           "(8192, nightly also 16384)",
           kMostProductSize}),
      row(size_by(&GemmShape::m),
          {"--m", workers, "N", "Rows of C, with --n for its columns (as --n)", kMostProductSize}),
      row(size_by(&GemmShape::k),
          {"--k", workers, "N", "Columns of A, with --n (as --n)", kMostProductSize}),
      row([](auto& options) -> auto& { return options.product.grid; },
          {"--grid", workers, "RxC",
           "Rows x columns of GPUs of distributed GEMMs, such as 2x4 (fewest bytes moved)"}),
      row(&Options::seed, {"--seed", ranks, "N", "Of all inputs, decimal or 0x... (random)"}),
      row(&Options::out, {"--out", process, "FILE", "The report (tidemark-<host>-<UTC>.h5)"}),
      row(&Options::resume,
          {"--resume", process, "DIR",
           "Run only what has no outcome in these journals (X.h5.run) of an interrupted "
           "launch; repeat its arguments"}),
      row(&Options::json, {"--json", process, "", "End with one line of JSON instead of text"}),
      row(&Options::time_limit_s,
          {"--time-limit", ranks, "TIME", "Stop after this time: 90, 5m, 1.5h"}),
      row(&Options::dry_run, {"--dry-run", process, "", "Print the plan and leave"}),
      row(&Options::anonymize,
          {"--anonymize", ranks, "",
           "Hash hosts, serials and UUIDs; leave out texts of other programs"}),
      row(&Options::strict, {"--strict", ranks, "", "A pass that a waiver names is a failure"}),
      row(&Options::fail_on, {"--fail-on", ranks, "outlier",
                              "Exit code 3 for a GPU slower than the others of its model"}),
      row(&Options::policy, {"--policy", ranks, "FILE", "JSON with waivers of known failures"}),
      row(&Options::ranks,
          {"--ranks", process, "N", "Start mpirun with so many ranks", kMostRanks}),
      row(&Options::launches,
          {"--launches", ranks, "K",
           "So many launches one after the other: --out X.h5 gives X-1.h5, X-2.h5 ...",
           kMostLaunches}),
      row(&Options::slow,
          {"--slow", workers, "CASE=SHARE",
           "Slow a benchmark on purpose, to see that compare finds it: gemm.local.speed=3%"}),
      row(&Options::fault,
          {"--fault", workers, "NAME", "Build this fault into the virtual device"}),
      row(&Options::jit,
          {"--jit", ranks, "",
           "Run what the driver's compiler makes of the kernels, in place of the built code: cases "
           "of one GPU alone, a minute more for each worker"}),
      row(&Options::row, {"--row", workers, "N", "Run this row of the one case chosen"}),
  };
}

}  // namespace

const std::vector<LaunchField>& launch_fields() {
  static const std::vector<LaunchField> fields = make_fields();
  return fields;
}

void read_text(const LaunchField& field, LaunchOptions& options, const std::string& text) {
  if (!text.empty()) field.read(options, field.list ? items_of(field.name, {text}) : Typed{text});
}

std::string report_name(const std::string& out, std::uint32_t number, std::uint32_t launches) {
  if (launches == 1) return out;
  const std::filesystem::path path(out);
  const std::string extension = path.extension().string();
  return fmt::format("{}-{}{}", out.substr(0, out.size() - extension.size()), number, extension);
}

}  // namespace tidemark
