// A program on the virtual device: the interpreter of its steps.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"

namespace tidemark {

/// What a region holds before a program runs.
std::vector<std::uint8_t> filled_region(const Region& region, const Payload& payload);

/// Takes the steps of `program` one after the other, each by the lowest CTA first. Refused maps
/// and copies that start where none may end it before its first step, without a trace. A CTA that
/// stops gives timeout, with all that the others left. Throws Error for a program that is not sound
/// or too large; and without a fault for what is undefined on a GPU: a tx-count out of its range,
/// an arrival too many, a barrier used before `init` or behind `inval`, its memory used in between.
/// What nobody waits for lands at the end, as on H200s; no document says so. `beside`: other
/// programs run on the device meanwhile.
RunResult run_virtual_program(const Program& program, Fault fault, bool beside = false);

/// The same where regions of MemorySource::peer hold `memory`. They are handed back with the
/// others, as the program left them.
RunResult run_virtual_peer_program(const Program& program, Fault fault,
                                   const std::vector<std::uint8_t>& memory);

}  // namespace tidemark
