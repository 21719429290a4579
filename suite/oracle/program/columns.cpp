// Chunks of tiles that threads move: the row and column of the matrix say which, and the tables of
// the PTX ISA where each stands.
#include <cstring>
#include <vector>

#include "suite/oracle/place.hpp"
#include "suite/oracle/program/walk.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kChunk = 16, kRow = 128;

// A matrix of chunks in the window, rows `pitch` bytes apart, or group by group where it is 0.
struct Chunks {
  const TensorMapSpec& map;
  std::uint32_t begin = 0, pitch = 0;

  std::uint32_t rows() const { return map.box[1]; }
  std::uint32_t in_group() const { return map.box[0] * element_bytes(map.type) / kChunk; }
  std::uint32_t columns() const { return in_group() * map.box[2]; }
  std::uint32_t bytes() const { return rows() * columns() * kChunk; }

  // PTX ISA 9.0, 5.5.7.
  std::uint32_t place(std::uint32_t row, std::uint32_t column) const {
    const std::uint32_t group = column / in_group(), within = column % in_group();
    const std::uint32_t plain =
        begin + (pitch != 0 ? row * pitch + column * kChunk
                            : ((group * rows() + row) * in_group() + within) * kChunk);
    const std::uint32_t chunk = plain % kRow / kChunk;
    return plain / kRow * kRow + swizzled_chunk(map.swizzle, plain / kRow % 8, chunk) * kChunk +
           plain % kChunk;
  }
};

// Nothing may come to what is read, and no byte of it may be open. Others may write there only when
// the CTAs have met.
void read(Walk& walk, std::uint32_t rank, const Chunks& from) {
  refuse_landing(walk, rank, from.begin, from.bytes());
  refuse_unknown(walk, rank, from.begin, from.bytes());
  walk.ctas[rank].touched.push_back({from.begin, from.begin + from.bytes()});
}

}  // namespace

void place_rows(Walk& walk, const Step& step, std::uint32_t rank) {
  const TensorMapSpec& map = walk.program.maps[step.map].spec;
  const Chunks from{.map = map, .begin = step.offset};
  const Chunks to{.map = map,
                  .begin = static_cast<std::uint32_t>(step.at[0]),
                  .pitch = from.columns() * kChunk};
  read(walk, rank, from);
  touch(walk, rank, to.begin, to.bytes());
  ExpectedWindow& window = walk.ctas[rank].window;
  for (std::uint32_t row = 0; row < from.rows(); ++row)
    for (std::uint32_t column = 0; column < from.columns(); ++column)
      std::memcpy(&window.bytes[to.place(row, column)], &window.bytes[from.place(row, column)],
                  kChunk);
  overwrite(window, {to.begin, to.begin + to.bytes()});
}

void read_columns(Walk& walk, const Step& step, std::uint32_t rank) {
  const Chunks from{
      .map = walk.program.maps[step.map].spec, .begin = step.offset, .pitch = step.stride};
  const auto to = static_cast<std::uint32_t>(step.at[0]);
  const auto first = static_cast<std::uint32_t>(step.at[1]);
  const Part written{to, to + 32 * kChunk};
  read(walk, rank, from);
  touch(walk, rank, to, 32 * kChunk);
  ExpectedWindow& window = walk.ctas[rank].window;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    std::memcpy(&window.bytes[to + lane * kChunk],
                &window.bytes[from.place(lane % from.rows(), first + lane / from.rows())], kChunk);
  overwrite(window, written);
  window.lanes.push_back({.rows = from.rows(), .first_column = first, .part = written});
}

}  // namespace tidemark
