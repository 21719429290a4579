// Lets the project's own tests and `selftest` see every verdict: TIDEMARK_TEST_HOOK, read by
// workers, and by ranks for "device". In any other run the variable is absent and nothing here does
// anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/fault.hpp"

namespace tidemark {

enum class HookAction : std::uint8_t {
  crash,                // SIGSEGV after two rows of three
  hang,                 // no progress, a patience of one second
  exit,                 // status 3
  slow,                 // three seconds of progress, then the case as usual
  minute,               // a minute of it: for what is stopped meanwhile
  fail,                 // a fail in attempt 1 alone
  sticky,               // the outcome of a sticky CUDA error
  illegal,              // row 1 becomes a load that ends in CUDA error 716, misaligned address
  all_illegal,          // every row does
  illegal_instruction,  // row 1 becomes a load that ends in CUDA error 715
  endless,  // row 1 becomes a kernel of 15 minutes, a patience of one second. For GPUs: the virtual
            // device is at its end at once
  late_crash,       // SIGSEGV in row 2 of a case whose rows have workers of their own
  abort,            // SIGABRT
  kill,             // SIGKILL to itself, as the OOM killer ends it
  stop,             // SIGSTOP, a patience of one second
  impatient,        // its waits for other GPUs end after 0.3 s
  out_of_memory,    // an allocation of the case fails
  silent_skip,      // a pass, although no row ran
  kill_supervisor,  // SIGKILL to the process that started the worker
  fault,            // the virtual device has TestHook::fault for this case
};

/// "crash@load.tile.2d" on every slot, "crash@load.tile.2d#1" on slot 1 alone, "crash_once@..." in
/// the first attempt alone; the name of a fault of the virtual device in place of an action builds
/// that fault in. The case name "ready" stands for the moment before the worker says that it is
/// ready, "program" for a program that it is given, "transport" for the making of one, which any
/// action refuses, "device" for the virtual device of a rank, which any action takes away.
struct TestHook {
  HookAction action = HookAction::crash;
  std::string case_name;
  std::int64_t slot = -1;  // -1: every slot
  Fault fault = kNoFault;
  bool once = false;  // in the first attempt alone
};

/// The hooks that `text` names, spaces between; what is malformed or names no action is none.
std::vector<TestHook> test_hooks(const char* text);

/// The first action that is to be taken now, faults aside; null where there is none.
const TestHook* hook_at(const std::vector<TestHook>& hooks, std::string_view case_name,
                        std::uint32_t slot, std::uint32_t attempt = 1);

/// The first fault that the virtual device is to have for this case.
Fault fault_at(const std::vector<TestHook>& hooks, std::string_view case_name, std::uint32_t slot);

}  // namespace tidemark
