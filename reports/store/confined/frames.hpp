// What a confined reader writes into its pipe, frame by frame, and the other side's view of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reports/schema/tables.hpp"
#include "reports/store/hdf5/image.hpp"

namespace tidemark::reports {

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

}  // namespace tidemark::reports
