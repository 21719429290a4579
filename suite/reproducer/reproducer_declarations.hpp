// What a CUDA reproducer declares in front of its kernel: only what the rest of the file uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// Declarations by their place in the file.
struct DeclarationTexts {
  std::string state, instructions, functions, host;
};

/// Those that `user`, the kernel and main(), needs.
DeclarationTexts declarations_for(const Program& program, std::string_view user);

/// The constants that `user`, the rest of the file, names.
std::string constants_for(const Program& program, std::string_view user);

/// Whether `text` has `name` as a word of its own.
bool mentions(std::string_view text, std::string_view name);

/// Whether a step takes a parity that is known only when it is taken.
bool keeps_phases(const Program& program);

/// Snapshot steps.
std::size_t snapshots_of(const Program& program);

}  // namespace tidemark
