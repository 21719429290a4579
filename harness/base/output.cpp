// Output to somebody who may take his time, or never read: `less`, a stuck pipe, a full disk.
#include "harness/base/output.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "harness/base/child_process.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/environment.hpp"
#include "harness/base/errors.hpp"
#include "reports/base/words.hpp"

namespace tidemark {

namespace {

/// Of a terminal one that never waits: it says that it takes bytes when it takes one. A pipe that
/// does so takes PIPE_BUF, and of a file a second descriptor would begin in front.
FileDescriptor impatient(int descriptor) {
  if (::isatty(descriptor) != 1) return FileDescriptor();
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace

Written write_within(int given, std::string_view bytes, double most_s) {
  const double until = monotonic_s() + most_s;
  const FileDescriptor own = impatient(given);
  const int descriptor = own.get() >= 0 ? own.get() : given;
  Written made;
  while (made.bytes < bytes.size()) {
    const double left = std::max(0.0, until - monotonic_s());
    pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int found = ::poll(&ready, 1, static_cast<int>(std::ceil(left * 1e3)));
    if (found < 0 && errno == EINTR) continue;
    if (found == 0) return made;
    const std::string_view next = bytes.substr(made.bytes, PIPE_BUF);
    const ssize_t written = ::write(descriptor, next.data(), next.size());
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) {
      if (left == 0) return made;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    if (written < 0) {
      made.error = errno;
      return made;
    }
    made.bytes += static_cast<std::size_t>(written);
  }
  return made;
}

void write_error(std::string_view text) {
  constexpr double kMostSeconds = 10;
  write_within(STDERR_FILENO, text, kMostSeconds);
}

void print_out(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    throw UsageError(
        fmt::format("cannot write to stdout: {}; see where it goes", std::strerror(errno)));
}

void print_error(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  write_error(fmt::format("tidemark: {}\n", printable(text)));
}

void Output::put(std::string_view text) {
  kept_ += text;
  flush(0);
}

bool Output::flush(double most_s) {
  if (kept_.empty()) return true;
  const Written written = write_within(descriptor_, kept_, most_s);
  kept_.erase(0, written.bytes);
  if (written.error != 0) {
    // EBADF: the user closed stdout and wants no lines.
    lost_ = lost_ || written.error != EBADF;
    kept_.clear();
  }
  return kept_.empty();
}

void Output::finish(const std::function<bool()>& go_on) {
  constexpr double kEvery = 0.1;  // seconds
  while (!flush(kEvery)) {
    if (go_on()) continue;
    lost_ = true;
    kept_.clear();
  }
}

// Asks the environment and the terminal.

bool colour_wanted(bool refused) {
  return !refused && variable_of("NO_COLOR").empty() && isatty(STDOUT_FILENO) == 1;
}

std::uint32_t terminal_columns(std::uint32_t otherwise, int descriptor) {
  constexpr std::uint32_t kMost = 10'000;
  const std::uint32_t columns = whole_number<std::uint32_t>(variable_of("COLUMNS")).value_or(0);
  if (columns > 0 && columns <= kMost) return columns;
  winsize size{};
  // Some terminals, over serial lines or in containers, say 0.
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return otherwise;
}

// Looks at what an output would replace.

void check_replaceable(const std::string& path, std::string_view otherwise,
                       std::string_view option) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) return;
  if (!std::filesystem::is_regular_file(status))
    throw UsageError(fmt::format("{} '{}': is no plain file, and would be replaced; give {}",
                                 option, path, otherwise));
}

// Paths in commands that tidemark prints for its users to run.

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+,:=@%";
  if (text.starts_with('-')) return shell_word("./" + text);  // else it would be an option
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  const std::string shown = printable(text);
  std::string made = shown == text ? "'" : "$'";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (shown == text)
      made += text[i] == '\'' ? "'\\''" : text.substr(i, 1);
    else if (shown[i] != text[i])
      made += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    else
      made += (text[i] == '\'' || text[i] == '\\' ? "\\" : "") + text.substr(i, 1);
  }
  return made + "'";
}

}  // namespace tidemark
