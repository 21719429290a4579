// What the opening of a large launch costs rank 0 and another rank, with the views of all others
// simulated. Prints seconds, what each rank gets to hear, and the most memory of both together.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "harness/supervisor/opening.hpp"

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

/// What passes between rank 0 and rank 1. The view of rank 1 is that of all others, too.
struct Passed {
  std::mutex mutex;
  std::string view, told;
  std::size_t told_bytes = 0;
  Clock::time_point told_at;

  std::string view_now() {
    const std::lock_guard lock(mutex);
    return view;
  }
};

Link link_of_0(std::uint32_t ranks, Passed& passed) {
  Link link = std::move(local_links(1).front());
  link.ranks = ranks;
  link.send = [&passed](std::uint32_t to, Tag tag, const SharedBytes& bytes) {
    if (tag != Tag::spread || to != 1) return;
    const std::lock_guard lock(passed.mutex);
    passed.told = *bytes;
    passed.told_bytes = bytes->size();
    passed.told_at = Clock::now();
  };
  link.receive = [&passed, next = 1U, ranks]() mutable -> std::optional<Message> {
    if (next == ranks) return std::nullopt;
    return Message{.from = next++, .tag = Tag::collect, .bytes = passed.view_now()};
  };
  return link;
}

Link link_of_1(std::uint32_t ranks, Passed& passed) {
  Link link = std::move(local_links(1).front());
  link.rank = 1;
  link.ranks = ranks;
  link.send = [&passed](std::uint32_t, Tag tag, const SharedBytes& bytes) {
    const std::lock_guard lock(passed.mutex);
    if (tag == Tag::collect) passed.view = *bytes;
  };
  link.receive = [&passed]() -> std::optional<Message> {
    const std::lock_guard lock(passed.mutex);
    if (passed.told.empty()) return std::nullopt;
    return Message{.from = 0, .tag = Tag::spread, .bytes = std::exchange(passed.told, {})};
  };
  return link;
}

void measure(std::uint32_t ranks) {
  LaunchOptions options;
  options.device = DeviceChoice::virtual_device;
  options.out = fmt::format("{}/opening_scale.{}.h5",
                            std::filesystem::temp_directory_path().string(), ::getpid());
  StopWatch stop(0);
  Passed passed;
  double on_1 = 0;
  std::thread other([&] {
    StopWatch mine(0);
    Mesh mesh(link_of_1(ranks, passed), true);
    static_cast<void>(open_launch(options, 1, mesh, mine));
    on_1 = seconds_since(passed.told_at);
  });
  while (passed.view_now().empty()) rest();
  Mesh mesh(link_of_0(ranks, passed), true);
  const auto began = Clock::now();
  const std::optional<Opening> opening = open_launch(options, 1, mesh, stop);
  const double on_0 = seconds_since(began);
  other.join();
  if (!opening || opening->places.size() != ranks) throw std::runtime_error("not all ranks opened");
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  fmt::print("| {} | {:.2f} | {:.2f} | {} | {} |\n", ranks, on_0, on_1, passed.told_bytes / 1024,
             used.ru_maxrss / 1024);
}

}  // namespace
}  // namespace tidemark

int main() {
  fmt::print(
      "| ranks | s on rank 0 | s on rank 1 | KiB told | MiB at most |\n|--:|--:|--:|--:|--:|\n");
  for (const std::uint32_t ranks : {100U, 1000U, 10000U, 100000U}) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      tidemark::measure(ranks);
      std::fflush(stdout);
      ::_exit(0);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  return 0;
}
