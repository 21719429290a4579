// SipHash-2-4: a hash that nobody can compute, or try names against, without its key.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tidemark {

using SipKey = std::array<std::uint64_t, 2>;

/// 64 bits of the text under this key (Aumasson and Bernstein, 2012).
std::uint64_t siphash(const SipKey& key, std::string_view text);

}  // namespace tidemark
