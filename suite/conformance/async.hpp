// Builds programs of writes and reductions between the windows of a cluster that complete on a
// barrier there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ops/program/program.hpp"

namespace tidemark {

/// Copies of each round, as steps of Verb::send, st_async or red_async on barrier 0. All windows
/// are filled before the first. Each CTA expects what comes to it in a round, waits for it, and has
/// met the others before the next.
struct AsyncRounds {
  std::uint32_t ctas = 2;
  std::uint32_t window = 0;  // the first and the last kGuardBytes of which are not filled
  std::vector<std::vector<Step>> rounds;
  std::string what;
};

Program program_of(const AsyncRounds& rounds);

/// The bytes that st.async can write at once, and the type of the elements.
struct AsyncWidth {
  DataType type = DataType::u32;
  std::uint32_t bytes = 4;
};
inline constexpr AsyncWidth kAsyncWidths[] = {{DataType::u32, 4},
                                              {DataType::u32, 8},
                                              {DataType::u32, 16},
                                              {DataType::u64, 8},
                                              {DataType::u64, 16}};

/// Each CTA of a cluster of `ctas`, two or more, writes so to each, itself too.
Program stores_of_every_pair(std::uint32_t ctas, const AsyncWidth& width);

/// CTA 0 writes so to CTA 1 at each place of a line of 32 bytes, each in a line of its own.
Program stores_at_places(const AsyncWidth& width);

/// A reduction that elements in shared memory have.
struct SharedReduction {
  Reduction reduction = Reduction::add;
  DataType type = DataType::u32;
};
std::vector<SharedReduction> shared_reductions();
std::string words_of(const SharedReduction& reduction);

/// CTA 1 has any of eight words, most of them at the end of a range, and CTA 0 reduces by any.
Program reductions_of_words(const SharedReduction& how);

/// All of `ctas` CTAs but one reduce a word in the window of that one, for each, three times, and
/// one of them alone after each; in CTA 0 by a thread, a warp and five threads of each.
Program reductions_of_one_word(const SharedReduction& how, std::uint32_t ctas);

/// Each of `ctas` CTAs sends `bytes` to each other one, all to one place, where they are reduced.
Program bulk_reductions(const SharedReduction& how, std::uint32_t ctas, std::uint32_t bytes);

/// Twice twelve copies of all kinds, those whose order does not matter by several CTAs at once; a
/// function of `seed` alone.
Program random_async(std::uint64_t seed);

}  // namespace tidemark
