// Which element of a tensor belongs at a place of a tile that an im2col load brings.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "suite/oracle/place/tile_place.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// The element that byte `byte` of the unswizzled tile belongs to, channels fastest, then pixels.
/// Which pixel that is follows from its number among those of all bounding boxes, without a walk.
/// PTX ISA 9.0, 5.5.4; CUDA Driver API, cuTensorMapEncodeIm2col.
TilePlace im2col_element_at(const TileLoad& load, std::uint32_t byte);

/// Which element of the unswizzled tile is stored to `element` by an im2col store that begins at
/// `at`; none where none is.
std::optional<std::uint32_t> im2col_stored_from(const TensorMapSpec& map,
                                                const std::array<std::int32_t, kMaxRank>& at,
                                                const std::array<std::int64_t, kMaxRank>& element);

/// Throws Error where no document says which pixels an im2col load brings, or a store without its
/// offsets writes.
void refuse_undocumented_pixels(const TileLoad& load);

}  // namespace tidemark::suite
