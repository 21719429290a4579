// Limits first; then a filter, written as a plain BPF program: a list of calls that may be made.
#include "reports/store/confined/confined_reader.hpp"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <vector>

#include "reports/base/error.hpp"
#include "reports/store/confined/sanitized.hpp"

namespace tidemark {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter: the limits alone hold
#endif

/// Reading, writing and seeking in what is open, memory, and leaving.
constexpr std::array kAllowed = {
    SYS_read,          SYS_write,           SYS_close,       SYS_lseek,
    SYS_munmap,        SYS_mremap,          SYS_brk,         SYS_madvise,
    SYS_futex,         SYS_rt_sigreturn,    SYS_exit,        SYS_rt_sigprocmask,
    SYS_clock_gettime, SYS_restart_syscall, SYS_sched_yield, SYS_getpid,
    SYS_gettid,        SYS_getrandom,       SYS_exit_group};

/// AddressSanitizer asks on which stack it is before an exception is thrown or a process left;
/// UBSan asks through a pipe of its own whether an object is there before a virtual function of it
/// is called, fmt's included. Both end the process when they are not told.
constexpr std::array kAllowedWhenSanitized = {SYS_sigaltstack, SYS_pipe2};
constexpr std::size_t kDescriptorsWhenSanitized = 2;

/// Memory may be had, but none that can be executed.
constexpr std::array kAllowedUnlessExecutable = {SYS_mmap, SYS_mprotect};

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter answer(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

/// Goes on with the next instruction when the loaded word is `value`, else skips `skip` of them.
sock_filter unless_equal(long value, std::uint8_t skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(value), 0, skip);
}

void allow(std::vector<sock_filter>& program, std::span<const int> calls) {
  for (const int call : calls) {
    program.push_back(unless_equal(call, 1));
    program.push_back(answer(SECCOMP_RET_ALLOW));
  }
}

std::vector<sock_filter> filter_program() {
  // Refused calls fail and do not kill: HDF5 tries to open the name of its file in memory, which
  // has to fail anyway.
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  constexpr std::size_t kProtection = offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t);
  // Numbers of calls mean something else under another architecture's convention.
  std::vector<sock_filter> program;
  program.push_back(load(offsetof(seccomp_data, arch)));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  program.push_back(answer(kRefuse));
  program.push_back(load(offsetof(seccomp_data, nr)));
  allow(program, kAllowed);
  if constexpr (kAddressSanitized) allow(program, kAllowedWhenSanitized);
  for (const long call : kAllowedUnlessExecutable) {
    program.push_back(unless_equal(call, 4));
    program.push_back(load(kProtection));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0));
    program.push_back(answer(SECCOMP_RET_ALLOW));
    program.push_back(answer(kRefuse));
  }
  program.push_back(answer(kRefuse));
  return program;
}

bool install_filter() {
  if (kArchitecture == 0) return false;
  std::vector<sock_filter> program = filter_program();
  const sock_fprog all{.len = static_cast<unsigned short>(program.size()),
                       .filter = program.data()};
  // Without it only root may install one; and what is executed never gains a right from then on.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0) == 0;
}

void close_range_of(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  // Kernels before 5.9 do not know that call.
  rlimit open_files{};
  getrlimit(RLIMIT_NOFILE, &open_files);
  const auto end = std::min<rlim_t>({last, open_files.rlim_max, 1u << 20});
  for (rlim_t fd = first; fd <= end; ++fd) ::close(static_cast<int>(fd));
}

void close_all_but(std::span<const int> keep) {
  std::vector<int> kept(keep.begin(), keep.end());
  std::ranges::sort(kept);
  unsigned next = 0;
  for (const int fd : kept) {
    if (fd > 0) close_range_of(next, static_cast<unsigned>(fd) - 1);
    next = static_cast<unsigned>(fd) + 1;
  }
  close_range_of(next, ~0u);
}

/// What the process has mapped already; under a sanitizer that is terabytes.
std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit(int resource, std::uint64_t soft, std::uint64_t hard) {
  rlimit now{};
  getrlimit(static_cast<__rlimit_resource>(resource), &now);
  const rlimit wanted{.rlim_cur = std::min<rlim_t>(soft, now.rlim_max),
                      .rlim_max = std::min<rlim_t>(hard, now.rlim_max)};
  if (setrlimit(static_cast<__rlimit_resource>(resource), &wanted) != 0) {
    throw ReportError(fmt::format("limit {} of a process cannot be set", resource));
  }
}

}  // namespace

bool confine(std::span<const int> keep, const Confinement& confinement) {
  // Handlers of the program this was forked from would write into its journals.
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  const std::uint64_t memory = mapped_bytes() + confinement.memory_bytes;
  close_all_but(keep);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // no core, even where a program collects them
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_FSIZE, 0, 0);
  // The limit is on numbers: as many as are taken at most, and two.
  const std::size_t numbers = kAddressSanitized ? keep.size() + kDescriptorsWhenSanitized : 0;
  limit(RLIMIT_NOFILE, numbers, numbers);
  limit(RLIMIT_NPROC, 0, 0);
  limit(RLIMIT_AS, memory, memory);
  // First a signal that says why, then one that nothing can stop.
  limit(RLIMIT_CPU, confinement.cpu_s, confinement.cpu_s + 2);
  return confinement.filter && install_filter();
}

}  // namespace tidemark
