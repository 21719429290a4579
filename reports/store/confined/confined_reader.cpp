// Fork, confine, collect, reap.
#include "reports/store/confined/confined_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "reports/store/hdf5/dataset.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

// Packs what a report holds into frames.

namespace {

void write_all(int pipe, const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(pipe, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    // Whoever wanted the report is gone, and an exception would say so to nobody.
    if (written <= 0) ::_exit(1);
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

template <class Number>
std::string bytes_of_number(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// Takes bytes off the front, as long as there are enough.
struct Cursor {
  std::string_view left;
  bool enough = true;

  std::string_view take(std::size_t bytes) {
    enough = enough && bytes <= left.size();
    if (!enough) return {};
    const std::string_view taken = left.substr(0, bytes);
    left.remove_prefix(bytes);
    return taken;
  }
  template <class Number>
  Number number() {
    Number value{};
    const std::string_view taken = take(sizeof value);
    if (enough) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
};

}  // namespace

void send_frame(int pipe, FrameKind kind, std::uint32_t number, std::string_view bytes) {
  const FrameHead head{.kind = kind, .number = number, .bytes = bytes.size()};
  write_all(pipe, &head, sizeof head);
  write_all(pipe, bytes.data(), bytes.size());
}

RowSink frame_sink(int pipe) {
  return {
      .launch =
          [pipe](const LaunchRow& launch) {
            send_frame(pipe, FrameKind::launch, 0, packed(launch));
          },
      .begin =
          [pipe](std::size_t part, std::uint64_t elements) {
            send_frame(pipe, FrameKind::part, static_cast<std::uint32_t>(part),
                       bytes_of_number(elements));
          },
      .append = [pipe](std::string_view bytes) { send_frame(pipe, FrameKind::rows, 0, bytes); }};
}

std::string packed(const LaunchRow& launch) {
  std::string bytes;
  for (const LaunchAttribute& attribute : launch_attributes()) {
    std::visit(
        [&](auto member) {
          using Value = std::remove_cvref_t<decltype(launch.*member)>;
          if constexpr (std::is_same_v<Value, std::string>) {
            bytes += bytes_of_number(static_cast<std::uint32_t>((launch.*member).size()));
            bytes += launch.*member;
          } else if constexpr (std::is_same_v<Value, bool>) {
            bytes += launch.*member ? '\1' : '\0';
          } else {
            bytes += bytes_of_number(launch.*member);
          }
        },
        attribute.member);
  }
  return bytes;
}

std::optional<LaunchRow> unpacked_launch(std::string_view bytes) {
  LaunchRow launch;
  Cursor cursor{.left = bytes};
  for (const LaunchAttribute& attribute : launch_attributes()) {
    std::visit(
        [&](auto member) {
          using Value = std::remove_cvref_t<decltype(launch.*member)>;
          if constexpr (std::is_same_v<Value, std::string>) {
            launch.*member = cursor.take(cursor.number<std::uint32_t>());
          } else if constexpr (std::is_same_v<Value, bool>) {
            launch.*member = cursor.number<std::uint8_t>() == 1;
          } else {
            launch.*member = cursor.number<Value>();
          }
        },
        attribute.member);
  }
  if (!cursor.enough || !cursor.left.empty()) return std::nullopt;
  return launch;
}

// Fork, confine, collect, reap.

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kDistrust =
    "it was damaged or made to do harm: get it again from where it came";

/// A child that is gone, one way or another, when its owner is.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  /// How it ended, after it was killed if it had not; nothing when that is not known.
  std::optional<int> end() {
    if (pid_ < 0) return status_;
    ::kill(pid_, SIGKILL);
    // A process that sleeps inside the kernel, on a disk that does not answer, cannot be waited
    // for.
    constexpr std::chrono::seconds kPatience{2};
    for (const auto until = Clock::now() + kPatience; Clock::now() < until;) {
      int status = 0;
      const pid_t got = ::waitpid(pid_, &status, WNOHANG);
      if (got == pid_) status_ = status;
      if (got == pid_ || (got < 0 && errno != EINTR)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    pid_ = -1;
    return status_;
  }

 private:
  pid_t pid_;
  std::optional<int> status_;
};

/// The end of a pipe that is read; whoever has waited until the deadline gets ReportError.
class Frames {
 public:
  Frames(int pipe, std::string name, Clock::time_point deadline)
      : pipe_(pipe), name_(std::move(name)), deadline_(deadline) {}
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;
  ~Frames() { ::close(pipe_); }

  /// Fills `bytes`; false when the writer is gone.
  bool read(std::span<char> bytes) const {
    while (!bytes.empty()) {
      wait();
      const ssize_t got = ::read(pipe_, bytes.data(), bytes.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }

 private:
  void wait() const {
    pollfd polled{.fd = pipe_, .events = POLLIN, .revents = 0};
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      if (left <= 0) {
        throw ReportError(fmt::format("{}: reading it takes too long; {}", name_, kDistrust));
      }
      if (::poll(&polled, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) > 0) return;
    }
  }

  int pipe_;
  std::string name_;
  Clock::time_point deadline_;
};

[[noreturn]] void child_main(int pipe, int file, const std::string& name,
                             const Confinement& confinement, const ReadFrom& read) {
  const auto refuse = [&](const std::string& line) {
    send_frame(pipe, FrameKind::refused, 0, line.substr(0, kMostFrameBytes));
  };
  try {
    const bool filtered = confine(std::array{pipe, file}, confinement);
    send_frame(pipe, FrameKind::confined, filtered ? 1 : 0, {});
    read(file, frame_sink(pipe));
    send_frame(pipe, FrameKind::end, 0, {});
  } catch (const ReportError& error) {
    refuse(error.what());
  } catch (const std::bad_alloc&) {
    refuse(
        fmt::format("{}: reading it takes more memory than any report does; {}", name, kDistrust));
  } catch (const std::exception& error) {
    refuse(fmt::format("{}: cannot be read: {}; {}", name, error.what(), kDistrust));
  }
  // Nothing of the parent's runs here: no destructor, no handler, no buffer of its files.
  ::_exit(0);
}

/// Why the child sent no more.
std::string end_of(Child& child, const std::string& name) {
  const std::optional<int> status = child.end();
  if (status && WIFSIGNALED(*status)) {
    const int number = WTERMSIG(*status);
    if (number == SIGXCPU) return fmt::format("{}: reading it takes too long; {}", name, kDistrust);
    return fmt::format("{}: HDF5 broke on it (signal {}, {}); {}", name, number,
                       ::strsignal(number), kDistrust);
  }
  return fmt::format("{}: its reader ended without a word; {}", name, kDistrust);
}

/// A line of the child's, which a file may have made it say: no byte of it drives a terminal, and
/// it is about this file.
std::string clean_line(std::string_view line, const std::string& name) {
  constexpr std::size_t kMost = 1000;
  const std::string start = name + ": ";
  if (line.starts_with(start)) line.remove_prefix(start.size());
  std::string clean = start;
  for (const char byte : line.substr(0, kMost)) clean += byte >= ' ' && byte <= '~' ? byte : '?';
  return clean;
}

/// Takes frames until the last one; false when the child is gone before it.
bool collect(const Frames& frames, const std::string& name, ReportBuilder& builder,
             Protection& protection) {
  const auto nonsense = [&name] {
    return ReportError(fmt::format("{}: its reader sent nonsense; {}", name, kDistrust));
  };
  for (FrameHead head;;) {
    if (!frames.read({reinterpret_cast<char*>(&head), sizeof head})) return false;
    if (head.kind == FrameKind::rows) {
      if (!frames.read(builder.room(head.bytes))) return false;
      continue;
    }
    if (head.bytes > kMostFrameBytes) throw nonsense();
    std::string bytes(head.bytes, '\0');
    if (!frames.read(bytes)) return false;
    std::uint64_t elements = 0;
    switch (head.kind) {
      case FrameKind::confined:
        protection = head.number == 1 ? Protection::filter : Protection::limits;
        break;
      case FrameKind::launch:
        if (!unpacked_launch(bytes)) throw nonsense();
        builder.launch(*unpacked_launch(bytes));
        break;
      case FrameKind::part:
        if (bytes.size() != sizeof elements) throw nonsense();
        std::memcpy(&elements, bytes.data(), sizeof elements);
        builder.begin(head.number, elements);
        break;
      case FrameKind::refused:
        throw ReportError(clean_line(bytes, name));
      case FrameKind::end:
        return true;
      default:
        throw nonsense();
    }
  }
}

}  // namespace

ReaderLimits limits_of(std::uint64_t file_bytes) {
  // HDF5 holds the file up to three times, beside chunks before and after unpacking.
  constexpr std::uint64_t kMemory = 512u << 20, kCopies = 4, kSlowBytes = 1u << 20;
  constexpr std::uint64_t kCpuSeconds = 20;
  const std::uint64_t more = file_bytes / kSlowBytes;
  return {.confinement = {.memory_bytes = kMemory + kCopies * file_bytes,
                          .cpu_s = kCpuSeconds + more,
                          .filter = true},
          // A report may come over a slow network.
          .patience = std::chrono::seconds(60 + 4 * more),
          .table_bytes = most_table_bytes(file_bytes)};
}

Report read_confined(const std::string& name, int file, const ReaderLimits& limits,
                     const ReadFrom& read, Protection& protection) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw ReportError(fmt::format("{}: no pipe to its reader: {}; close some programs", name,
                                  std::generic_category().message(errno)));
  }
  const Frames frames(pipe[0], name, Clock::now() + limits.patience);
  // As much as anybody may have: each time it is full or empty one of the two has to wake the
  // other. Where the system refuses, the usual 64 KiB remain.
  constexpr int kPipeBytes = 1 << 20;
  ::fcntl(pipe[1], F_SETPIPE_SZ, kPipeBytes);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Where the parent is killed, nobody wants the answer; it may be gone already.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (::getppid() != parent) ::_exit(1);
    child_main(pipe[1], file, name, limits.confinement, read);
  }
  const int error = errno;
  ::close(pipe[1]);
  if (pid < 0) {
    throw ReportError(fmt::format("{}: no process to read it in: {}; close some programs", name,
                                  std::generic_category().message(error)));
  }
  Child child(pid);
  try {
    ReportBuilder builder(name, limits.table_bytes);
    if (!collect(frames, name, builder, protection)) throw ReportError(end_of(child, name));
    child.end();
    return builder.finish();
  } catch (const std::bad_alloc&) {
    throw ReportError(fmt::format("{}: its tables take more memory than there is; {}", name,
                                  "show it on a larger machine"));
  }
}

}  // namespace tidemark
