// Work on a disk that may hang, or be away for a moment as a network file system is.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/base/error.hpp"

namespace tidemark {

/// Seconds in which a disk that is well has answered, however busy; and for what is no result.
inline constexpr double kDiskSeconds = 60, kDiskSecondsAtEnd = 5;
/// Where a network file system is away for a moment.
inline constexpr int kDiskTries = 3;

/// Does `work` in a thread of its own. It may hang and outlive the caller: it must own what it
/// uses.
template <class Work>
auto aside(const Work& work) {
  const auto task = std::make_shared<std::packaged_task<std::invoke_result_t<Work>()>>(work);
  auto result = task->get_future();
  try {
    std::thread([task] { (*task)(); }).detach();
  } catch (const std::system_error&) {
    (*task)();  // where no thread can be had
  }
  return result;
}

/// What `work` returns or throws, done aside; `meanwhile` is called while it lasts. Throws
/// ReportError that names `path` where it lasts longer than `seconds` in which this process runs.
/// Another ReportError is thrown at the last of `tries`, which are a second apart.
template <class Work>
auto on_disk(
    const std::string& path, double seconds, const Work& work,
    const std::function<void()>& meanwhile = [] {}, int tries = 1) {
  using Seconds = std::chrono::duration<double>;
  constexpr Seconds kTurn(0.01), kLongestTurn(1);  // longer: this process was stopped
  auto result = aside(work);
  Seconds waited(0);
  for (auto last = std::chrono::steady_clock::now();
       result.wait_for(kTurn) != std::future_status::ready;) {
    const auto now = std::chrono::steady_clock::now();
    waited += std::min<Seconds>(now - std::exchange(last, now), kLongestTurn);
    if (waited.count() > seconds)
      refuse(path, fmt::format("the disk has not answered for {:.0f} s", seconds),
             "check its file system");
    meanwhile();
  }
  try {
    return result.get();
  } catch (const ReportError&) {
    if (tries <= 1) throw;
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return on_disk(path, seconds, work, meanwhile, tries - 1);
}

/// Whether something of this name is there, links followed. Throws ReportError where that cannot be
/// seen: a failure is not absence.
bool is_there(const std::string& path);

/// All of a plain file of at most `most` bytes; with `to_hole` what stands before 64 KiB of zeros.
/// Throws ReportError that begins with `name`: what cannot be read is not its end, and a pipe would
/// be waited for without end. Where it is longer, or no plain file, it is an UnfitFile.
std::string file_text(const std::string& path, std::size_t most, const std::string& name,
                      std::string_view hint, bool to_hole = false);

/// Makes the names in a folder durable; the empty path is the working directory. Some network file
/// systems cannot do it; files that are synced themselves are whole either way.
void sync_folder(const std::string& path);

/// Removes files, and folders that are empty, in this order, once `open` is closed. What cannot be
/// removed stays.
void remove_on_disk(const std::vector<std::string>& paths, int open = -1);

}  // namespace tidemark
