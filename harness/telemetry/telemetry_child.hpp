// The process that polls NVML for a supervisor, and the lines of its pipe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/room.hpp"
#include "reports/journal/record.hpp"

namespace tidemark::harness {

// What the process that polls NVML writes into its pipe: one line a reading or event.

/// A reading of one GPU; `gpu` counts over all ranks.
struct GpuReading {
  std::uint32_t gpu = 0;
  TelemetryPoint point = {};
};

/// "5 1788220802.25 1755 3200 433.25 61 97 4\n", at most 200 bytes. Events are lines of a journal.
std::string to_line(const GpuReading& reading);

/// Nothing for any other line; `line` is without its end.
std::optional<GpuReading> reading_in(const std::string& line);
std::optional<EventRecord> event_in(const std::string& line);

enum class Sent {
  whole,
  no_room,  // the reader is behind
  closed,   // nobody reads any more
};

/// Writes a line of at most PIPE_BUF bytes to a non-blocking pipe, whole or not at all.
Sent send_line(int fd, const std::string& line);

// The process that polls NVML for a supervisor.

/// `__telemetry LIBRARY GPU UUID [GPU UUID]...`: writes readings and events to stdout, a pipe,
/// until nobody reads it. Returns the exit status; 1 where NVML or all of the GPUs are not there.
int telemetry_main(int argc, char** argv);

}  // namespace tidemark::harness
