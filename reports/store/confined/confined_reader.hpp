// Reads the file of a stranger in a process that can do nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "reports/schema/tables.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

// Takes from the calling process what the reading of a stranger's file does not need: other files,
// memory, time, and the right to do anything but compute and write down what it has read.

struct Confinement {
  std::uint64_t memory_bytes = 0;  // that it may map beside what it has already
  std::uint64_t cpu_s = 0;
  bool filter = true;  // false: as on a kernel without seccomp
};

/// Confines the calling process for good. Of its open files only `keep` stay, and it can open no
/// other: not by the limits (no free descriptor), and not by the filter. Returns whether the kernel
/// took the filter, which also refuses every other call that reaches out of the process. Throws
/// ReportError when a limit cannot be set. Where sanitizers watch, two descriptors are left for a
/// pipe of theirs: there the filter alone refuses files.
bool confine(std::span<const int> keep, const Confinement& confinement);

// What a confined reader writes into its pipe, frame by frame, and the other side's view of it.

enum class FrameKind : std::uint32_t {
  confined = 1,  // number: 1 with the filter, 0 by limits alone. Always the first
  launch,        // the root attributes, packed
  part,          // number: of the part; eight bytes: its elements
  rows,          // row structs of that part
  refused,       // one line: why this is no report. Always the last
  end,           // everything was sent
};

/// In front of each frame, in the byte order of the machine: both ends are one program.
struct FrameHead {
  FrameKind kind{};
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;  // that follow
};

/// Writes a frame; ends the process when nobody takes it any more.
void send_frame(int pipe, FrameKind kind, std::uint32_t number, std::string_view bytes);

/// A sink that writes frames.
RowSink frame_sink(int pipe);

/// The root attributes as bytes, and back; nothing when they are not exactly those of the schema.
std::string packed(const LaunchRow& launch);
std::optional<LaunchRow> unpacked_launch(std::string_view bytes);

/// Frames of other kinds than `rows` are no longer than this.
inline constexpr std::uint64_t kMostFrameBytes = 4u << 20;

// Reads a report in a process of its own that can do nothing else, so that a file made to break
// HDF5 breaks only that process.

struct ReaderLimits {
  Confinement confinement;
  std::chrono::milliseconds patience{0};  // after it the process is killed
  std::uint64_t table_bytes = 0;          // that are taken from it
};

/// What reading a file of this size may need, many times over.
ReaderLimits limits_of(std::uint64_t file_bytes);

/// What the process does: it reads `file` and gives what it finds to the sink, or throws.
using ReadFrom = std::function<void(int file, const RowSink& sink)>;

/// Forks, confines the child to `file`, and collects what it sends. Nothing it sends is believed:
/// sizes, order and references are checked on this side. Throws ReportError with one line that
/// starts with `name` when the child refuses the file, dies, sends nonsense or takes too long; no
/// child is left behind. Can be called from several threads.
Report read_confined(const std::string& name, int file, const ReaderLimits& limits,
                     const ReadFrom& read, Protection& protection);

}  // namespace tidemark
