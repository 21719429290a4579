// What a wait for shards says that ended without them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/transport.hpp"

namespace tidemark::kernels {

/// A shard that the transport did not call ready.
struct AwaitedShard {
  std::string_view panel;  // in words: "panel B"
  Shard shard;
  std::size_t index = 0;  // in the panel
};

/// In words, for `rank`, which has waited for `seconds`; `awaited` are all that are missing, at
/// least one:
///   "waits for GPU 3: panel B, shard 0 (rows 0 to 2) not ready within 20 s"
/// Of several ranks it names all, since the shards of one may stand behind those of another:
///   "waits for GPUs 1, 2: panel A, shard 8 (rows 512 to 682) and others not ready within 20 s"
/// Which rank has not read a shard of `rank` itself is not known:
///   "waits until others have read panel A, shard 1 (rows 64 to 128): not within 20 s"
std::string late_shards(std::span<const AwaitedShard> awaited, std::uint32_t rank, double seconds);

}  // namespace tidemark::kernels
