// A worker reads thousands of changed reports in its own process, which is fast; what it did last
// stands in memory it shares with the process that started it.
#include "ci/lab/fuzz/campaign.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <new>
#include <stdexcept>
#include <string_view>

#include "reports/store/confined/sanitized.hpp"
#include "reports/store/hdf5/image.hpp"

namespace tidemark {
namespace {

constexpr int kMostFrames = 64;
constexpr std::uint64_t kBatch = 4000;  // executions of one worker: HDF5 leaks where it fails
constexpr int kPatienceS = 10;          // of processor time for one execution

/// What a worker and its parent share.
struct Shared {
  std::atomic<std::uint64_t> number, executions, read, refused, out_of_memory, contained;
  std::bitset<4096> ways;
  std::array<char, 256> unexpected;  // what() of an error that is no ReportError
  std::array<void*, kMostFrames> frames;
  int depth;
};

Shared* shared = nullptr;

extern "C" void remember_where(int number) {
  shared->depth = backtrace(shared->frames.data(), kMostFrames);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void catch_deaths() {
  // HDF5 may recurse until the stack is full; the handler needs one of its own.
  static std::array<char, 1u << 16> stack;
  const stack_t alternative{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = remember_where;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_NODEFER);
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPROF}) {
    sigaction(number, &action, nullptr);
  }
  void* once = nullptr;
  backtrace(&once, 1);  // loads what it needs before something is broken
}

void limit_worker() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &none);
  if constexpr (kAddressSanitized) return;  // it maps terabytes
  constexpr rlim_t kMemory = rlim_t{2} << 30;
  const rlimit memory{.rlim_cur = kMemory, .rlim_max = kMemory};
  setrlimit(RLIMIT_AS, &memory);
}

/// Equal for lines that differ in numbers or quoted names only.
std::size_t way_of(std::string_view line) {
  std::string kept;
  bool quoted = false;
  for (const char byte : line) {
    if (byte == '\'') quoted = !quoted;
    if (!quoted && (byte < '0' || byte > '9')) kept += byte;
  }
  return std::hash<std::string>{}(kept);
}

void execute(const std::string& image, bool confined) {
  constexpr const char* kName = "mutated";
  try {
    if (confined) {
      const std::string path = fmt::format("/dev/shm/tidemark-fuzz.{}", ::getpid());
      std::ofstream(path, std::ios::binary) << image;
      read_report(path);
    } else {
      report_of(image, kName);
    }
    ++shared->read;
  } catch (const ReportError& error) {
    const std::string_view line = error.what();
    if (line.find('\n') != line.npos) throw std::logic_error("an error of two lines");
    if (!confined && !line.starts_with("mutated: ")) throw std::logic_error(std::string(line));
    if (line.find("HDF5 broke on it") != line.npos) ++shared->contained;
    ++shared->refused;
    shared->ways.set(way_of(line) % shared->ways.size());
  } catch (const std::bad_alloc&) {
    ++shared->out_of_memory;
  }
}

[[noreturn]] void work(const std::vector<Seed>& seeds, const CampaignOptions& options,
                       std::uint64_t first, std::uint64_t end) {
  catch_deaths();
  limit_worker();
  try {
    for (std::uint64_t number = first; number < end; ++number) {
      shared->number = number;
      const itimerval patience{.it_interval = {}, .it_value = {.tv_sec = kPatienceS, .tv_usec = 0}};
      setitimer(ITIMER_PROF, &patience, nullptr);
      execute(mutated(seeds, number), options.confined);
      ++shared->executions;
    }
  } catch (const std::exception& error) {
    std::strncpy(shared->unexpected.data(), error.what(), shared->unexpected.size() - 1);
    ::_exit(2);
  }
  ::_exit(0);
}

bool is_of_the_system(std::string_view library) {
  return library.find("/libc.so") != library.npos || library.find("san.so") != library.npos;
}

/// The innermost frame that is not the C library's or the handler's: "libhdf5.so.103+0x1234 name".
std::string place_of_death(bool& in_hdf5) {
  in_hdf5 = false;
  bool interrupted = false;  // what called the handler is the C library's
  for (int i = 0; i < shared->depth; ++i) {
    void* const frame = shared->frames[static_cast<std::size_t>(i)];
    Dl_info info{};
    if (dladdr(frame, &info) == 0) continue;
    const std::string_view library(info.dli_fname);
    interrupted = interrupted || library.find("/libc.so") != library.npos;
    if (!interrupted || is_of_the_system(library)) continue;
    in_hdf5 = library.find("libhdf5") != library.npos;
    const auto offset = static_cast<const char*>(frame) - static_cast<const char*>(info.dli_fbase);
    return fmt::format("{}+{:#x} {}", library.substr(library.rfind('/') + 1), offset,
                       info.dli_sname == nullptr ? "" : info.dli_sname);
  }
  return "unknown place";
}

void note_death(CampaignResult& result, int status) {
  const std::uint64_t number = shared->number;
  bool in_hdf5 = false;
  std::string place;
  if (WIFSIGNALED(status)) {
    place = place_of_death(in_hdf5);
    place += fmt::format(", {}",
                         WTERMSIG(status) == SIGPROF ? "over time" : strsignal(WTERMSIG(status)));
  } else {
    place = fmt::format("error '{}'", shared->unexpected.data());
  }
  Death& death = (in_hdf5 ? result.hdf5_deaths : result.own_deaths)[place];
  if (death.times++ == 0) death.first = number;
}

}  // namespace

CampaignResult run_campaign(const std::vector<Seed>& seeds, const CampaignOptions& options) {
  using Clock = std::chrono::steady_clock;
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  shared = new (memory) Shared{};
  CampaignResult result;
  const Clock::time_point start = Clock::now();
  const auto spent = [&start] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const std::uint64_t end = options.first + options.executions;
  for (std::uint64_t next = options.first; next < end;) {
    if (options.seconds > 0 && spent() >= options.seconds) break;
    shared->number = next;
    shared->depth = 0;
    const std::uint64_t batch_end = std::min(end, next + kBatch);
    const pid_t pid = fork();
    if (pid == 0) work(seeds, options, next, batch_end);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) throw std::runtime_error("no worker");
    const bool whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!whole) {
      note_death(result, status);
      ++shared->executions;
    }
    next = whole ? batch_end : shared->number + 1;
  }
  result.executions = shared->executions;
  result.read = shared->read;
  result.refused = shared->refused;
  result.out_of_memory = shared->out_of_memory;
  result.ways_of_refusal = shared->ways.count();
  result.contained = shared->contained;
  result.seconds = spent();
  munmap(memory, sizeof(Shared));
  return result;
}

}  // namespace tidemark
