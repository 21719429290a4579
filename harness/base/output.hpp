// Output to somebody who may take his time, or never read: `less`, a stuck pipe, a full disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tidemark {

// Output to somebody who may take his time, or never read: `less`, a stuck pipe, a full disk.

struct Written {
  std::size_t bytes = 0;
  int error = 0;  // errno of what took no more; 0: nothing wrong, but perhaps too slow
};

/// Writes what the descriptor takes within `most_s` seconds. Never throws.
Written write_within(int descriptor, std::string_view bytes, double most_s);

/// To standard error, and lost after ten seconds: who cannot hear of an error is not to miss its
/// exit code as well.
void write_error(std::string_view text);

/// Writes to stdout. Throws UsageError when it is full or gone: output that was cut is never ok.
void print_out(const std::string& text);

/// Writes one line to stderr, "tidemark: text". Line breaks in it become spaces, and what could
/// drive a terminal becomes '?'.
void print_error(std::string text);

/// Keeps what a descriptor does not take at once.
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  void put(std::string_view text);
  /// Gives the reader up to `most_s` seconds. True where nothing is left.
  bool flush(double most_s);
  /// Waits for the reader as long as `go_on` says; what is left then is lost.
  void finish(const std::function<bool()>& go_on);
  /// True when something was not taken.
  bool lost() const { return lost_; }

 private:
  int descriptor_;
  std::string kept_;
  bool lost_ = false;
};

// What is known of the terminal that output goes to.

/// Whether stdout takes colours: a terminal, no `refused`, no NO_COLOR (https://no-color.org: set
/// and not empty).
bool colour_wanted(bool refused);

/// Columns of a line: COLUMNS where it is a number from 1 to 10,000, else what the terminal behind
/// `descriptor` says (1: stdout), else `otherwise`.
std::uint32_t terminal_columns(std::uint32_t otherwise, int descriptor = 1);

// An output that replaces a file in one step.

/// Throws UsageError where a rename would put a plain file in the place of what `path` names,
/// whatever that was. `otherwise`: "or no --out".
void check_replaceable(const std::string& path, std::string_view otherwise,
                       std::string_view option = "--out");

// Paths in commands that tidemark prints for its users to run.

/// `text` as one word of a POSIX shell that can be printed: as it is, in single quotes, or in
/// $'...' where bytes cannot be shown.
std::string shell_word(const std::string& text);

}  // namespace tidemark
