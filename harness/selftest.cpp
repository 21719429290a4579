// The table of injections; one run, the harm, and what the report, the outputs and the code say.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "harness/base/child_process.hpp"
#include "harness/base/clock.hpp"
#include "harness/mpirun.hpp"
#include "harness/selftest.hpp"
#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

std::span<const Injection> injections() {
  // The case that is harmed, and one that has to pass behind it.
  static const std::vector<std::string> cases = {"--cases", "load.tile.rank1", "zfill.whole"};
  static const std::vector<Injection> all = {
      {.name = "wrong byte",
       .how = "a TMA load flips one bit",
       .arguments = {"--cases", "load.tile.rank2"},
       .fault = "load_bit_flipped",
       .expected = {.case_name = "load.tile.rank2", .says = "1 of 256 tile bytes are wrong"}},
      {.name = "NaN in a product",
       .how = "a GEMM stores a NaN where a number belongs",
       .arguments = {"--cases", "gemm.local.nan"},
       .fault = "gemm_nan_spread",
       .expected = {.case_name = "gemm.local.nan", .says = "got nan"}},
      {.name = "lost credit",
       .how = "a TMA load credits its mbarrier 16 bytes too few",
       .arguments = {"--cases", "load.tile.rank2"},
       .fault = "load_credit_short",
       .expected = {.case_name = "load.tile.rank2",
                    .verdict = Verdict::hang,
                    .says = "the wait of CTA 0 on barrier 0 ended by its bound"}},
      {.name = "silent skip",
       .how = "a worker says pass and has run no row",
       .arguments = cases,
       .hook = "silent_skip@load.tile.rank1",
       .expected = {.exit = 4,
                    .case_name = "load.tile.rank1",
                    .verdict = Verdict::tool_error,
                    .next = "zfill.whole",
                    .says = "said pass"}},
      {.name = "barrier hang",
       .how = "no phase of an mbarrier completes",
       .arguments = {"--cases", "expect_tx.exact"},
       .fault = "load_phase_never_flips",
       .expected = {.case_name = "expect_tx.exact",
                    .verdict = Verdict::hang,
                    .says = "ended by its bound"}},
      {.name = "endless kernel",
       .how = "a worker makes no progress and does not end",
       .arguments = cases,
       .hook = "hang@load.tile.rank1",
       .expected = {.case_name = "load.tile.rank1",
                    .verdict = Verdict::hang,
                    .next = "zfill.whole",
                    .says = "no progress for 1 s"}},
      {.name = "trap",
       .how = "a row ends in CUDA error 719, as a trap does",
       .arguments = cases,
       .fault = "load_misaligned_as_719",
       .hook = "illegal@load.tile.rank1",
       .expected = {.case_name = "load.tile.rank1",
                    .verdict = Verdict::sticky,
                    .next = "zfill.whole",
                    .says = "(code 719)"}},
      {.name = "misaligned access",
       .how = "a row ends in CUDA error 716",
       .arguments = cases,
       .hook = "illegal@load.tile.rank1",
       .expected = {.case_name = "load.tile.rank1",
                    .verdict = Verdict::sticky,
                    .next = "zfill.whole",
                    .says = "(code 716): misaligned address"}},
      {.name = "SIGSEGV",
       .how = "a worker dies of SIGSEGV",
       .arguments = cases,
       .hook = "crash@load.tile.rank1",
       .expected = {.case_name = "load.tile.rank1",
                    .verdict = Verdict::crash,
                    .next = "zfill.whole",
                    .says = "signal 11"}},
      {.name = "abort",
       .how = "a worker calls abort",
       .arguments = cases,
       .hook = "abort@load.tile.rank1",
       .expected = {.case_name = "load.tile.rank1",
                    .verdict = Verdict::crash,
                    .next = "zfill.whole",
                    .says = "signal 6"}},
      {.name = "killed worker",
       .how = "SIGKILL to a worker and to the next one, as the OOM killer does",
       .arguments = cases,
       .hook = "kill@load.tile.rank1",
       .expected = {.exit = 4,
                    .case_name = "load.tile.rank1",
                    .verdict = Verdict::tool_error,
                    .next = "zfill.whole",
                    .says = "killed from outside (out of memory?)"}},
      {.name = "out of memory",
       .how = "an allocation of a worker fails",
       .arguments = cases,
       .hook = "out_of_memory@load.tile.rank1",
       .expected = {.exit = 4,
                    .case_name = "load.tile.rank1",
                    .verdict = Verdict::tool_error,
                    .next = "zfill.whole",
                    .says = "bad_alloc"}},
      {.name = "stuck collective",
       .how = "one of two workers never comes to the distributed GEMM",
       .arguments = {"--gpus", "2", "--cases", "gemm.distributed.integer",
                     "gemm.distributed.normal"},
       .hook = "hang@gemm.distributed.integer#1",
       .expected = {.case_name = "gemm.distributed.integer",
                    .gpu = 1,
                    .verdict = Verdict::hang,
                    .next = "gemm.distributed.normal",
                    .says = "hung in the same round"}},
      {.name = "SIGSTOP",
       .how = "a worker is stopped",
       .arguments = cases,
       .hook = "stop@load.tile.rank1",
       .expected = {.case_name = "load.tile.rank1",
                    .verdict = Verdict::hang,
                    .next = "zfill.whole",
                    .says = "its worker was stopped"}},
      {.name = "killed supervisor",
       .how = "SIGKILL to the only supervisor; its reporter is left",
       .arguments = cases,
       .hook = "kill_supervisor@zfill.whole",
       .expected = {.exit = 128 + 9,
                    .case_name = "zfill.whole",
                    .verdict = Verdict::not_run,
                    .next = "load.tile.rank1",
                    .complete = false,
                    .says = "rank 0 was gone"}},
      {.name = "killed rank",
       .how = "SIGKILL to rank 1 of 2 under mpirun",
       .arguments = {"--ranks", "2", "--cases", "load.tile.rank1", "zfill.whole"},
       .hook = "kill_supervisor@zfill.whole#1",
       .starts_ranks = true,
       .expected = {.exit = kAnyFailure,
                    .case_name = "zfill.whole",
                    .gpu = 1,
                    .verdict = Verdict::not_run,
                    .next = "load.tile.rank1",
                    .complete = false,
                    .says = "rank 1"}},
      {.name = "truncated journal",
       .how = "the last 400 bytes of a journal are cut off, then recover",
       .arguments = cases,
       .deed = Deed::cut_journal,
       .expected = {.exit = 4,
                    .case_name = "zfill.whole",
                    .verdict = Verdict::not_run,
                    .next = "load.tile.rank1",
                    .complete = false,
                    .says = "did not get to the end"}},
      {.name = "bit-flipped journal",
       .how = "one bit of an outcome in a journal is flipped, then recover",
       .arguments = cases,
       .deed = Deed::flip_journal,
       .expected = {.exit = 4,
                    .case_name = "zfill.whole",
                    .verdict = Verdict::not_run,
                    .next = "load.tile.rank1",
                    .complete = false,
                    .says = "damaged"}},
      {.name = "full disk",
       .how = "no file may be longer than 16 KiB (RLIMIT_FSIZE): the report cannot be written",
       .arguments = cases,
       .deed = Deed::small_files,
       .expected = {.exit = 2, .says = "journals are kept"}},
      {.name = "full disk behind stdout",
       .how = "stdout is /dev/full",
       .arguments = cases,
       .deed = Deed::full_stdout,
       .expected = {.exit = 2,
                    .case_name = "load.tile.rank1",
                    .verdict = Verdict::pass,
                    .next = "zfill.whole",
                    .says = "stdout"}},
      {.name = "hostile report",
       .how = "one bit of a report is flipped, at 48 places one by one, then show",
       .arguments = cases,
       .deed = Deed::change_report,
       .expected = {.exit = 2, .says = "refused, none shown otherwise"}},
      {.name = "truncated report",
       .how = "the second half of a report is cut off, then show",
       .arguments = cases,
       .deed = Deed::cut_report,
       .expected = {.exit = 2, .says = "truncated or damaged"}},
  };
  return all;
}

namespace {

namespace fs = std::filesystem;

constexpr double kRunSeconds = 60, kReadSeconds = 30, kReporterSeconds = 20;
constexpr rlim_t kSmallFile = 16 << 10;  // between a journal of two cases, 4 KiB, and its report
constexpr std::size_t kFlips = 48;

/// Files that this process and its children write stay below a size; a write beyond it is refused
/// as on a full disk, instead of ending the process by SIGXFSZ.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : action_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = std::min(bytes, before_.rlim_max), .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, action_);
  }

 private:
  rlimit before_{};
  void (*action_)(int);
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// One injection under way.
class Trial {
 public:
  Trial(const Injection& injection, std::string program)
      : injection_(injection), program_(std::move(program)) {}

  Noticed carry_out() {
    const bool journals =
        injection_.deed == Deed::cut_journal || injection_.deed == Deed::flip_journal;
    const bool small = journals || (injection_.deed == Deed::small_files && injection_.injected);
    run(small);
    if (journals) recover();
    if (injection_.deed == Deed::change_report) show_changed();
    if (injection_.deed == Deed::cut_report) show_cut();
    return judged();
  }

 private:
  std::string report() const { return folder_.file("r.h5"); }

  void call(const std::vector<std::string>& arguments, double seconds,
            const ChildSurroundings& surroundings) {
    std::vector<std::string> argv = {program_};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    answer_ = run_bounded(argv, seconds, surroundings);
    // Not started, stuck, dead, a bug of tidemark: nothing that an injection may lead to.
    const int expected = injection_.expected.exit;
    const bool died = answer_.status > 128 && expected != answer_.status && expected != kAnyFailure;
    if (!answer_.started || answer_.timed_out || died || answer_.status == 70) broke_ = true;
    said_ += answer_.out + answer_.err;
  }

  void run(bool small) {
    std::vector<std::string> arguments = {"run", "--device", "virtual", "--seed",
                                          "7",   "--out",    report()};
    arguments.insert(arguments.end(), injection_.arguments.begin(), injection_.arguments.end());
    ChildSurroundings surroundings{
        .settings = launcher_settings(),
        .out = injection_.deed == Deed::full_stdout && injection_.injected ? "/dev/full" : ""};
    // Those of whoever tests tidemark must not join in.
    surroundings.settings.emplace_back("TIDEMARK_TEST_HOOK",
                                       injection_.injected ? injection_.hook : "");
    surroundings.settings.emplace_back("TIDEMARK_TEST_DELAYS", "");
    if (!injection_.fault.empty() && injection_.injected) {
      arguments.emplace_back("--fault");
      arguments.emplace_back(injection_.fault);
    }
    std::optional<FileLimit> limit;
    if (small) limit.emplace(kSmallFile);
    call(arguments, kRunSeconds, surroundings);
  }

  /// The harm to the journal that the full disk left, then a report of it.
  void recover() {
    const std::string journal = report() + ".run/rank-00000.jsonl";
    std::string text = content_of(journal);
    const std::size_t outcome = text.rfind("\"outcome\"");
    if (outcome == std::string::npos) {
      said_ += "the run left no journal with an outcome";
      return;
    }
    if (injection_.injected && injection_.deed == Deed::cut_journal) text.resize(outcome + 9);
    if (injection_.injected && injection_.deed == Deed::flip_journal)
      text[outcome + 2] = 'q';  // 'u' by one bit
    write(journal, text);
    call({"recover", report() + ".run", "--out", report()}, kReadSeconds, {});
  }

  void show_changed() {
    const std::string good = content_of(report());
    call({"show", "--json", report()}, kReadSeconds, {});
    const std::string shown = answer_.out;
    std::size_t refused = 0, otherwise = 0;
    for (std::size_t i = 0; i < kFlips && !good.empty(); ++i) {
      std::string bad = good;
      char& byte = bad[good.size() * i / kFlips];
      if (injection_.injected) byte = static_cast<char>(byte ^ (1 << i % 8));
      write(report(), bad);
      call({"show", "--json", report()}, kReadSeconds, {});
      if (answer_.status == 2)
        ++refused;
      else if (answer_.status != 0 || answer_.out != shown)
        ++otherwise;
    }
    answer_.status = refused > 0 && otherwise == 0 ? 2 : otherwise > 0 ? 1 : 0;
    said_ += fmt::format("{} of {} changes refused, {} shown otherwise", refused, kFlips,
                         otherwise == 0 ? "none" : fmt::format("{}", otherwise));
  }

  void show_cut() {
    std::string bytes = content_of(report());
    if (injection_.injected) bytes.resize(bytes.size() / 2);
    write(report(), bytes);
    call({"show", report()}, kReadSeconds, {});
  }

  /// Where the supervisor is gone, its reporter writes: waits for the report, and until it has
  /// removed the journals, so that nobody writes into a folder that is being removed.
  void wait_for_report() const {
    const double until = monotonic_s() + kReporterSeconds;
    while ((!fs::exists(report()) || fs::exists(report() + ".run")) && monotonic_s() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  const ResultRow* result_of(const Report& all, std::string_view name, std::uint32_t gpu) const {
    for (const ResultRow& row : all.results)
      if (row.gpu_id == gpu && all.cases.at(row.case_id).name.view() == name) return &row;
    return nullptr;
  }

  /// Adds what the report says to `seen`; false where it is not what has to be.
  bool report_is_right(std::string& seen) {
    const Expected& expected = injection_.expected;
    if (!expected.complete && injection_.deed == Deed::none) wait_for_report();
    try {
      const Report all = read_report(report());
      said_ += all.launch.incomplete_reason;
      for (const ResultRow& row : all.results) said_ += all.text(row.reason);
      const ResultRow* const hit = result_of(all, expected.case_name, expected.gpu);
      const ResultRow* const next =
          expected.next.empty() ? nullptr : result_of(all, expected.next, expected.gpu);
      seen = fmt::format("{} of {}, ", hit == nullptr ? "no result" : name_of(hit->verdict),
                         expected.case_name);
      const bool next_passed =
          expected.next.empty() || (next != nullptr && next->verdict == Verdict::pass);
      if (!next_passed) seen += fmt::format("no pass of {}, ", expected.next);
      if (!all.launch.complete) seen += "incomplete, ";
      return hit != nullptr && hit->verdict == expected.verdict && next_passed &&
             all.launch.complete == expected.complete;
    } catch (const ReportError& error) {
      seen = fmt::format("no report ({}), ", error.what());
      return false;
    }
  }

  Noticed judged() {
    const Expected& expected = injection_.expected;
    Noticed noticed;
    if (injection_.starts_ranks && answer_.status == static_cast<int>(ExitCode::environment))
      return {.notice = Notice::skipped, .seen = said_.substr(0, said_.find('\n'))};
    bool right = true;
    if (!expected.case_name.empty()) right = report_is_right(noticed.seen);
    const bool code =
        expected.exit == kAnyFailure ? answer_.status > 0 : answer_.status == expected.exit;
    noticed.seen += answer_.timed_out ? "no end" : fmt::format("exit {}", answer_.status);
    const bool said = said_.find(expected.says) != std::string::npos;
    if (!said) noticed.seen += fmt::format(", nothing says '{}'", expected.says);
    noticed.notice = broke_                  ? Notice::broke
                     : right && code && said ? Notice::noticed
                                             : Notice::missed;
    return noticed;
  }

  const Injection& injection_;
  std::string program_;
  ScratchFolder folder_;
  ChildAnswer answer_;
  std::string said_;  // by all processes and the report
  bool broke_ = false;
};

}  // namespace

std::string_view name_of(Notice notice) {
  switch (notice) {
    case Notice::noticed:
      return "noticed";
    case Notice::missed:
      return "missed";
    case Notice::broke:
      return "broke";
    case Notice::skipped:
      return "skipped";
  }
  return "";
}

std::string text_of(const Expected& expected) {
  std::string text;
  if (!expected.case_name.empty())
    text = fmt::format("{} of {}, ", name_of(expected.verdict), expected.case_name);
  if (!expected.complete) text += "incomplete, ";
  return text + (expected.exit == kAnyFailure ? std::string("any exit but 0")
                                              : fmt::format("exit {}", expected.exit));
}

Noticed carry_out(const Injection& injection, const std::string& program) {
  if (injection.starts_ranks && launcher_rank())
    return {.notice = Notice::skipped, .seen = "this process is a rank of mpirun itself"};
  return Trial(injection, program).carry_out();
}

}  // namespace tidemark
