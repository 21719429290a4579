// What devices made of a program, held against the oracle and against each other, as text.
#pragma once

#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/replay/given_program.hpp"
#include "harness/replay/program_worker.hpp"

namespace tidemark {

/// A device and what it made of the program.
struct DeviceRun {
  std::string device;  // "virtual device", "GPU-5f1c2d3e NVIDIA H200"
  DeviceKind kind = DeviceKind::virtual_device;
  ProgramEnd end = {};
};

/// The verdict on one device.
struct DeviceVerdict {
  ExitCode code = ExitCode::ok;
  std::string word;   // "pass", "FAIL", "STICKY", ...
  std::string claim;  // "agrees with the oracle", "2 miscompares", ...
  std::vector<std::string> findings;
};

DeviceVerdict verdict_on(const PreparedProgram& program, const ProgramEnd& end);

/// Where two results differ in what the oracle judges; bytes and observations that documents leave
/// open do not count. One line; empty where they do not differ.
std::string difference_of(const PreparedProgram& program, const RunResult& one,
                          const RunResult& other);

struct JudgedText {
  std::string text;  // of several lines, the last "RESULT: ..."
  ExitCode code = ExitCode::ok;
};

/// All devices that ran, in a table of at most `columns`.
JudgedText judged_text(const PreparedProgram& program, const std::vector<DeviceRun>& runs,
                       bool colour, std::size_t columns);

/// "2 CTAs, 1 barrier, 9 steps (24 with checks)".
std::string size_of(const PreparedProgram& program);

}  // namespace tidemark
