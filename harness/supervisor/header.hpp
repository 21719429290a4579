// The first lines of a launch on the terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/command_line/launch_options.hpp"
#include "harness/supervisor/console.hpp"
#include "harness/supervisor/opening.hpp"

namespace tidemark::harness {

/// What this is, where it runs and what is unusual about it; `number` counts launches from 1,
/// `first` stands for all GPUs.
void say_header(Console& console, const LaunchOptions& options, std::uint32_t number,
                const Opening& opening, const GpuRecord* first);

/// That the checks of products, which use every core they get, get few of them: empty where this
/// rank's `gpus` have enough of `allowed` CPUs, or all that are `online`. Open MPI binds each of
/// one or two ranks to one core.
std::string few_cpus(std::uint32_t allowed, std::uint32_t online, std::size_t gpus);

}  // namespace tidemark::harness
