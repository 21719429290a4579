// FNV-1a with 64 bits: the same number on every machine, which std::hash does not promise.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark {

inline constexpr std::uint64_t kFnv1aOfNothing = 0xcbf29ce484222325ULL;

/// The hash of what `hash` is of, followed by `bytes`.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnv1aOfNothing) {
  for (const char c : bytes) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace tidemark
