// The ways in which the virtual device can be told to be wrong. A fault changes one step of one
// operation and is defined without looking at any case.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/ops/op.hpp"

namespace tidemark {

enum class Fault : std::uint16_t;  // values and names: kernels/virtual/virtual_device.cpp

inline constexpr Fault kNoFault{0};

struct FaultInfo {
  Fault fault;
  OpKind op;
  std::string_view name;  // lower case with underscores, unique
  std::string_view step;  // which step of the engine it changes, and how
  /// False where the step as it should be is promised by no document: only behaviour.* cases, which
  /// hold a device against a stored measurement, can know that it is wrong.
  bool documented = true;
  /// What it changes is recorded, and not judged: compare tells it, and every case passes.
  bool recorded = false;
};

/// All faults, in the order of their values, kNoFault left out.
std::span<const FaultInfo> faults();

/// The fault called `name`, or kNoFault.
Fault fault_named(std::string_view name);

}  // namespace tidemark
