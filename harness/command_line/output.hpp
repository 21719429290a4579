// Output to somebody who may take his time, or never read: `less`, a stuck pipe, a full disk.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tidemark::harness {

struct Written {
  std::size_t bytes = 0;
  int error = 0;  // errno of what took no more; 0: nothing wrong, but perhaps too slow
};

/// Writes what the descriptor takes within `most_s` seconds. Never throws.
Written write_within(int descriptor, std::string_view bytes, double most_s);

/// To standard error, and lost after ten seconds: who cannot hear of an error is not to miss its
/// exit code as well.
void write_error(std::string_view text);

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

}  // namespace tidemark::harness
