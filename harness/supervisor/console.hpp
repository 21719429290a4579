// What a person sees while a launch runs. Only rank 0 prints; the others send it their lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/base/output.hpp"
#include "harness/command_line/launch_options.hpp"
#include "harness/relay/mesh.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

struct Opening;

/// How far one rank has come.
struct Tally {
  std::uint64_t done = 0, troubled = 0;  // results; of them no pass, waived or skip
  std::string now;                       // the case it is at
};

/// "[ 94%] gemm.distributed.routes   286/302 results  0 not passed  eta 1s" in at most `columns`
/// characters: of what does not fit, the name of the case goes first.
std::string progress_text(const Tally& all, std::uint64_t planned, const std::string& eta,
                          std::size_t columns);

class Console {
 public:
  /// `quiet`: nothing on standard output but the last line (--json).
  Console(Mesh& mesh, std::uint64_t planned, bool quiet, Output& out);

  /// A line of the header or the end; printed by rank 0, ignored elsewhere.
  void line(const std::string& text);
  /// Lines about something that went wrong; from any rank. `of`: "fail load.x", of which the first
  /// text alone is printed, of many just its first line: the report has all.
  void trouble(const std::string& text, const std::string& of = {});
  /// One more result of this rank.
  void count(bool troubled);
  void at(const std::string& case_name) { mine_.now = case_name; }

  /// Prints what other ranks have sent, and progress when it is time: a bar on a terminal, a line
  /// every ten seconds elsewhere.
  void refresh();
  /// Wipes the bar before something else is printed.
  void end_progress();

  bool colour() const { return colour_; }
  /// Standard output of rank 0. A reader who takes his time costs the launch nothing: what he did
  /// not take yet is kept, and the report says the same.
  Output& out() { return out_; }

 private:
  void hear_others();
  void show_progress();
  void print(const std::string& text);
  void print_trouble(const std::string& text, const std::string& of);

  Mesh& mesh_;
  Output& out_;
  std::uint64_t planned_ = 0;
  bool quiet_ = false, colour_ = false, bar_ = false, bar_shown_ = false;
  double began_s_ = 0, shown_s_ = 0, sent_s_ = 0;
  std::set<std::string> troubles_;  // what was printed
  Tally mine_;
  std::vector<Tally> others_;  // by rank
};

// The first lines of a launch on the terminal.

/// What this is, where it runs and what is unusual about it; `number` counts launches from 1,
/// `first` stands for all GPUs.
void say_header(Console& console, const LaunchOptions& options, std::uint32_t number,
                const Opening& opening, const GpuRecord* first);

/// That the checks of products, which use every core they get, get few of them: empty where this
/// rank's `gpus` have enough of `allowed` CPUs, or all that are `online`. Open MPI binds each of
/// one or two ranks to one core.
std::string few_cpus(std::uint32_t allowed, std::uint32_t online, std::size_t gpus);

}  // namespace tidemark
