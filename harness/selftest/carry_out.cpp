// One run, the harm, and what the report, the outputs and the code say.
#include "harness/selftest/injections.hpp"

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

#include <fmt/format.h>

#include "harness/base/child_process.hpp"
#include "harness/base/clock.hpp"
#include "harness/mpirun/mpirun.hpp"
#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
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
