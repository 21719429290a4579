// What a supervisor and its worker say to each other: one line of JSON a message, over two pipes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "harness/command_line/launch_options.hpp"
#include "kernels/device.hpp"
#include "kernels/transport.hpp"
#include "suite/case.hpp"

namespace tidemark {

/// File descriptors of a worker beside 0-2. The segment is there only for the relay transport.
inline constexpr int kOrdersFd = 3;
inline constexpr int kRecordsFd = 4;
inline constexpr int kSegmentFd = 5;
inline constexpr int kProgramFd = 6;  // there only for a ProgramOrder

/// First order of every worker: which device to make, and what all its cases share.
struct SetupOrder {
  DeviceKind device = DeviceKind::virtual_device;
  std::uint64_t seed = 0;  // of the launch
  std::uint32_t slot = 0, slots = 1;
  LaunchOptions options = {};  // those that reach workers
};

/// Asks for a fresh NCCL id; given to one worker of the launch.
struct NcclIdOrder {};

enum class TransportKind : std::uint8_t { relay, nccl };

/// Makes the transport that all following all_gpus cases use.
struct TransportOrder {
  TransportKind kind = TransportKind::relay;
  NcclId nccl_id{};
  double seconds = 60;                   // bound of joining
  std::optional<PanelRoute> route = {};  // LaunchOptions::transport; the relay knows no other
};

struct RunOrder {
  std::string case_name;
  std::uint32_t attempt = 1;
  bool alone = false;                      // RunCaseOptions::alone
  std::int64_t row = -1;                   // this one alone; below 0: as LaunchOptions::row says
  std::uint32_t first_row = 0;             // RunCaseOptions::first_row
  std::optional<std::uint64_t> seed = {};  // in the place of SetupOrder::seed
};

/// Runs the program that kProgramFd holds as JSON, exactly as it is there. It is no part of the
/// order, because orders are shorter than PIPE_BUF.
struct ProgramOrder {};

using Order = std::variant<SetupOrder, NcclIdOrder, TransportOrder, RunOrder, ProgramOrder>;

/// The worker has its device.
struct SaidReady {};
/// A case begins. `patience_s` above 0 shortens the supervisor's deadline (for tests of hangs).
struct SaidStarted {
  std::string case_name;
  double patience_s = 0;
};
struct SaidProgress {
  std::uint32_t done = 0, rows = 0;
};
struct SaidOutcome {
  std::string case_name;
  Outcome outcome;
};
struct SaidNcclId {
  NcclId id{};
};
/// What a device made of a program: fault, code, note, bytes, surroundings, trace and SMs.
struct SaidProgram {
  RunResult result;
};
/// The order before could not be carried out (no NCCL, a peer did not join). The worker lives on.
struct SaidTrouble {
  std::string text;
};

using Said = std::variant<SaidReady, SaidStarted, SaidProgress, SaidOutcome, SaidNcclId,
                          SaidTrouble, SaidProgram>;

/// One line, newline included.
std::string order_line(const Order& order);
std::string said_line(const Said& said);

/// The message in a line. Throws Error for a line that holds none.
Order order_in(const std::string& line);
Said said_in(const std::string& line);

}  // namespace tidemark
