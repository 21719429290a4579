// What a CUDA reproducer declares in front of its kernel: only what the rest of the file uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/ops/program/program.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

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

/// Whether a step reads 8 bytes of a region.
bool reads_region(const Step& step);

/// The i-th 8 bytes of memory that is filled as a region of `element` is, in code.
std::string_view source_in_code(DataType element);

/// The same of a region that is not poison, whatever its numbers.
std::string region_in_code(const Region& region);

/// Snapshot steps.
std::size_t snapshots_of(const Program& program);

}  // namespace tidemark::suite
