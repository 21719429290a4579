// SipHash-2-4 as its paper has it.
#include "reports/base/hash.hpp"

#include <bit>
#include <cstddef>

namespace tidemark {
namespace {

struct State {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1, v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0, v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1, v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2, v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t siphash(const SipKey& key, std::string_view text) {
  State state{.v0 = key[0] ^ 0x736f6d6570736575,
              .v1 = key[1] ^ 0x646f72616e646f6d,
              .v2 = key[0] ^ 0x6c7967656e657261,
              .v3 = key[1] ^ 0x7465646279746573};
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint64_t byte = static_cast<unsigned char>(text[i]);
    word |= byte << 8 * (i % 8);
    if (i % 8 == 7) {
      state.take(word);
      word = 0;
    }
  }
  state.take(word | std::uint64_t{text.size()} << 56);
  state.v2 ^= 0xff;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace tidemark
