// Which element of a tensor belongs at a place of a tile that an im2col load brings.
#pragma once

#include <cstdint>

#include "suite/oracle/place/tile_place.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// The element that byte `byte` of the unswizzled tile belongs to, channels fastest, then pixels.
/// Which pixel that is follows from its number among those of all bounding boxes, without a walk.
/// PTX ISA 9.0, 5.5.4; CUDA Driver API, cuTensorMapEncodeIm2col.
TilePlace im2col_element_at(const TileLoad& load, std::uint32_t byte);

/// Throws Error where no document says which pixels an im2col load brings, or a store without its
/// offsets writes, by a map that cuda.h allows.
void refuse_undocumented_pixels(const TileLoad& load);

}  // namespace tidemark::suite
