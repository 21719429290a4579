// Tiles that TMA loads and wgmma multiplies: layouts, phases and swizzles that do not match.
#include <array>
#include <cstdint>

#include "kernels/ops/tile_consume.hpp"
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {

namespace {

inline constexpr std::array<MmaType, kMmaTypes> kEveryMmaType{
    MmaType::f16,  MmaType::bf16, MmaType::tf32, MmaType::e4m3,
    MmaType::e5m2, MmaType::s8,   MmaType::u8};
inline constexpr std::array<Swizzle, 4> kEverySwizzle{Swizzle::none, Swizzle::b32, Swizzle::b64,
                                                      Swizzle::b128};
inline constexpr std::array<std::uint32_t, 5> kEveryN{8, 16, 32, 64, 128};

/// Elements along K of `type` in `spans` whole spans of a K-major tile; without a swizzle a span
/// counts as one step.
constexpr std::uint32_t k_of_spans(MmaType type, Swizzle swizzle, std::uint32_t spans) {
  const std::uint32_t span = swizzle == Swizzle::none ? kStepBytes : swizzle_bytes(swizzle);
  return spans * span / element_bytes(type);
}

/// The narrowest tile of B, 8 columns and up, that fills a span of `swizzle` when N-major.
constexpr std::uint32_t n_of_span(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 8 : swizzle_bytes(swizzle) / 2;
}

WgmmaOperand random_operand(MmaType type, Draws& draws) {
  WgmmaOperand operand;
  if (element_bytes(type) == 2 && draws.below(2) == 0) operand.major = Major::mn;
  operand.swizzle = kEverySwizzle[draws.below(4)];
  operand.read_as = operand.swizzle;
  operand.offset = 128 * draws.below(8);
  return operand;
}

// A place for the tile anywhere between hanging out below and hanging out above, inner coordinates
// on 16 bytes.
void place_at_random(TileConsume& op, Draws& draws) {
  const std::array<std::uint32_t, 3> size{kWgmmaM, op.n, op.k};
  const auto on_16_bytes = static_cast<std::int32_t>(16 / element_bytes(op.type));
  for (std::size_t i = 0; i < 3; ++i) {
    op.extent[i] = size[i] / 2 + draws.below(size[i]);
    const auto reach = static_cast<std::uint32_t>(op.extent[i]) + size[i] / 2;
    const auto from_below = static_cast<std::int32_t>(draws.below(reach));
    op.at[i] = (from_below - static_cast<std::int32_t>(size[i] / 2)) / on_16_bytes * on_16_bytes;
  }
}

/// Both operands laid out alike, read as written, at the start of their 1024 bytes; taken from the
/// inside of matrices whose extents all differ.
TileConsume consumed(MmaType type, Major a, Major b, Swizzle swizzle, std::uint32_t n,
                     std::uint32_t k) {
  const auto inner = static_cast<std::int32_t>(16 / element_bytes(type));
  return {.type = type,
          .n = n,
          .k = k,
          .a = {.major = a, .swizzle = swizzle, .read_as = swizzle},
          .b = {.major = b, .swizzle = swizzle, .read_as = swizzle},
          .extent = {kWgmmaM + 21, n + 27, k + 37},
          .at = {a == Major::k ? 5 : inner, b == Major::k ? 3 : 2 * inner, inner},
          .payload = {}};
}

}  // namespace

TileConsume random_consumed(std::uint64_t seed) {
  Draws draws(seed);
  TileConsume op;
  op.type = kEveryMmaType[draws.below(kMmaTypes)];
  op.a = random_operand(op.type, draws);
  op.b = random_operand(op.type, draws);
  op.n = kEveryN[draws.below(5)];
  while (op.b.major == Major::mn && op.n < n_of_span(op.b.swizzle)) op.n *= 2;
  // Whole spans of both operands: those of one are whole in the other's, or the other way round.
  const std::uint32_t a = op.a.major == Major::k ? k_of_spans(op.type, op.a.swizzle, 1) : 16;
  const std::uint32_t b = op.b.major == Major::k ? k_of_spans(op.type, op.b.swizzle, 1) : 16;
  const std::uint32_t whole = a > b ? a : b;
  op.k = whole * (1 + draws.below(2));
  place_at_random(op, draws);
  return op;
}

namespace {

// A base offset says that the swizzle pattern starts off its boundary. The pattern that TMA writes
// never does, so every base offset but 0 reads something else.
std::vector<Op> base_offset_rows(const RunContext&) {
  struct Kind {
    MmaType type;
    Major major;
  };
  constexpr Kind kKinds[] = {{MmaType::bf16, Major::k}, {MmaType::f16, Major::mn}};
  std::vector<Op> rows;
  for (const auto& [type, major] : kKinds)
    for (const Swizzle swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      const TileConsume right = consumed(type, major, major, swizzle, major == Major::k ? 16 : 64,
                                         k_of_spans(type, swizzle, 1));
      rows.emplace_back(right);
      for (std::uint32_t offset = 1; offset < 8; ++offset) {
        if (offset % (swizzle_bytes(swizzle) / 16) == 0) continue;  // where a pattern starts anyway
        TileConsume op = right;
        (offset % 2 == 0 ? op.a : op.b).base_offset = offset;
        rows.emplace_back(op);
      }
    }
  return rows;
}

const Register kBaseOffset{{
    .name = "consume.base_offset",
    .claim = "the swizzle pattern of a descriptor starts its base offset, in rows of 128 bytes, "
             "behind the boundary where TMA starts it: the product is that of the elements found "
             "so, and another one",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2.2 matrix descriptor format: base offset = (pattern start "
             "address >> 7) & 7; measured on an H200, driver 580.159.04, 2026-11, where the "
             "pattern starts off its boundary",
    .rows = base_offset_rows,
}};

// Both operands K-major, in every type and swizzle.
std::vector<Op> k_major_rows(const RunContext& context) {
  std::vector<Op> rows;
  std::uint32_t turn = 0;
  for (const Swizzle swizzle : kEverySwizzle)
    for (const MmaType type : kEveryMmaType)
      for (std::uint32_t i = 0; i < kEveryN.size(); ++i, ++turn)
        for (const std::uint32_t spans : {1U, 2U, 4U}) {
          // Quick runs take one width in two, in turn, with one depth; nightly ones all.
          if (context.level == Level::quick && (turn % 2 == 1 || spans != 1 + i % 2)) continue;
          rows.emplace_back(consumed(type, Major::k, Major::k, swizzle, kEveryN[i],
                                     k_of_spans(type, swizzle, spans)));
        }
  return rows;
}

const Register kKMajor{{
    .name = "consume.k_major",
    .claim = "wgmma makes the exact product of K-major tiles that TMA has written with the swizzle "
             "that the descriptors name, in every type",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2 shared memory matrix layout, 9.7.15.5.2 wgmma.mma_async, "
             "5.5.7 swizzling modes",
    .rows = k_major_rows,
}};

// Every number of steps along K: inside a swizzle span the start address moves by 32 bytes, between
// spans by a box.
std::vector<Op> k_steps_rows(const RunContext& context) {
  const std::uint32_t most = context.level == Level::quick ? 8 : 16;
  std::vector<Op> rows;
  for (const Swizzle swizzle : kEverySwizzle)
    for (std::uint32_t steps = 1; steps <= most; ++steps) {
      const MmaType type = kEveryMmaType[steps % kMmaTypes];
      const std::uint32_t n = kEveryN[steps % 3];
      const std::uint32_t k = steps * step_elements(type);
      if (k % k_of_spans(type, swizzle, 1) == 0)
        rows.emplace_back(consumed(type, Major::k, Major::k, swizzle, n, k));
      // B without a swizzle: its steps are of another size than those of A.
      TileConsume mixed = consumed(MmaType::bf16, Major::mn, Major::k, swizzle, 16, 16 * steps);
      mixed.b.swizzle = mixed.b.read_as = Swizzle::none;
      rows.emplace_back(mixed);
    }
  return rows;
}

const Register kKSteps{{
    .name = "consume.k_steps",
    .claim = "a descriptor whose start address is moved on by 32 bytes of K reads the next step of "
             "the tile, inside a swizzle span and from one span to the next",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2.2 matrix descriptor format and 9.7.15.5.1.2.1.3 canonical "
             "layouts",
    .rows = k_steps_rows,
}};

TileConsume written(MmaType type, Major major, Swizzle swizzle) {
  return consumed(type, major, major, swizzle, major == Major::k ? 32 : 64,
                  k_of_spans(type, swizzle, 1));
}

// Whether B, read like this, would lead behind itself. A leads into B there.
bool leads_behind(Major major, Swizzle swizzle, Swizzle read_as) {
  if (major == Major::k) return read_as > swizzle;
  return read_as == Swizzle::none || swizzle == Swizzle::b128;
}

// The product of tiles written with `swizzle`, one of which is read as `read_as`: A and B in turn.
TileConsume mismatched(MmaType type, Major major, Swizzle swizzle, Swizzle read_as) {
  TileConsume op = written(type, major, swizzle);
  // Without a swizzle M goes on eight rows of K further: a larger B takes all of it.
  if (major == Major::mn && read_as == Swizzle::none)
    op = consumed(type, major, major, swizzle, 128, k_of_spans(type, swizzle, 2));
  const bool turn = (static_cast<std::uint32_t>(read_as) + (major == Major::k ? 0 : 1) +
                     (type == MmaType::s8 ? 1 : 0)) %
                        2 ==
                    0;
  (turn || leads_behind(major, swizzle, read_as) ? op.a : op.b).read_as = read_as;
  return op;
}

// Descriptors that name another swizzle than the one TMA wrote with, beside the same tiles read as
// they were written. What they lead to follows from where TMA puts a byte and where wgmma looks for
// it, as long as they do not lead out of both tiles.
std::vector<Op> mismatch_rows(const RunContext&) {
  struct Kind {
    MmaType type;
    Major major;
  };
  constexpr Kind kKinds[] = {
      {MmaType::bf16, Major::k}, {MmaType::s8, Major::k}, {MmaType::f16, Major::mn}};
  std::vector<Op> rows;
  for (const auto& [type, major] : kKinds)
    for (const Swizzle swizzle : kEverySwizzle) {
      rows.emplace_back(written(type, major, swizzle));
      for (const Swizzle read_as : kEverySwizzle) {
        if (read_as == swizzle) continue;
        // Four boxes apart, M would go on behind both tiles, which have at most three.
        if (major == Major::mn && swizzle == Swizzle::b128 && read_as == Swizzle::b32) continue;
        rows.emplace_back(mismatched(type, major, swizzle, read_as));
      }
    }
  for (const Swizzle swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    TileConsume op = written(MmaType::bf16, Major::k, swizzle);
    op.a.base_offset = 1;
    rows.emplace_back(op);
  }
  return rows;
}

const Register kMismatch{{
    .name = "consume.mismatch",
    .claim = "a tile that TMA wrote with one swizzle and a descriptor reads with another gives the "
             "exact product of the elements that the descriptor leads to, which is another one",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes, 9.7.15.5.1.2.1.3 canonical layouts, "
             "9.7.15.5.1.2.2 matrix descriptor format",
    .rows = mismatch_rows,
}};

struct Majors {
  Major a, b;
};

// One operand or both with M or N contiguous, which only 16-bit types allow; tiles of one and of
// several swizzle spans.
std::vector<Op> mn_major_rows(const RunContext& context) {
  constexpr Majors kMajors[] = {
      {Major::mn, Major::mn}, {Major::mn, Major::k}, {Major::k, Major::mn}};
  std::vector<Op> rows;
  for (const Swizzle swizzle : kEverySwizzle)
    for (const MmaType type : {MmaType::f16, MmaType::bf16})
      for (const Majors& majors : kMajors)
        for (const std::uint32_t n : kEveryN)
          for (const std::uint32_t spans : {1U, 2U, 3U}) {
            if (majors.b == Major::mn && n < n_of_span(swizzle)) continue;
            // Quick runs take the narrowest tile that has all spans of its kind, and a wider one.
            const std::uint32_t narrow = n_of_span(swizzle) * (type == MmaType::f16 ? 1 : 2);
            if (context.level == Level::quick && (n != narrow || spans == 2)) continue;
            rows.emplace_back(
                consumed(type, majors.a, majors.b, swizzle, n, k_of_spans(type, swizzle, spans)));
          }
  return rows;
}

const Register kMnMajor{{
    .name = "consume.mn_major",
    .claim = "wgmma makes the exact product of tiles that TMA has written with M or N contiguous, "
             "each operand transposed on its own",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2.1 major-ness supported by strides, 9.7.15.5.2 "
             "wgmma.mma_async, imm-trans-a and imm-trans-b",
    .rows = mn_major_rows,
}};

constexpr std::uint32_t kBelow = 1, kAbove = 2;

// Lets the tile hang out along dimension `i`: below by about a third, above by an odd number.
void hang_out(TileConsume& op, std::uint32_t i, std::uint32_t side) {
  const std::uint32_t size[] = {kWgmmaM, op.n, op.k};
  const auto on_16_bytes = static_cast<std::int32_t>(16 / element_bytes(op.type));
  if (side == kBelow) op.at[i] = -on_16_bytes;
  if (side == kAbove)
    op.extent[i] = static_cast<std::uint64_t>(op.at[i]) + size[i] - (size[i] > 16 ? 5 : 3);
}

// Tiles that hang out of their matrices along M, N and K: what lies outside multiplies as zero.
std::vector<Op> outside_rows(const RunContext& context) {
  // One digit a dimension, M, N and K: on which side the tile hangs out.
  constexpr std::uint32_t kSides[][3] = {{0, 0, kAbove},           {0, 0, kBelow},
                                         {kAbove, 0, 0},           {0, kBelow, 0},
                                         {kBelow, kAbove, kBelow}, {kAbove, kAbove, kAbove}};
  std::vector<Op> rows;
  for (const Swizzle swizzle : kEverySwizzle)
    for (const auto& sides : kSides)
      for (const MmaType type : kEveryMmaType) {
        // Quick runs take two types K-major and one MN-major, nightly ones all.
        const bool quick = type == MmaType::bf16 || type == MmaType::s8;
        if (context.level == Level::quick && !quick) continue;
        for (const Major major : {Major::k, Major::mn}) {
          if (major == Major::mn && element_bytes(type) != 2) continue;
          TileConsume op = consumed(type, major, major, swizzle, major == Major::k ? 32 : 64,
                                    k_of_spans(type, swizzle, 1));
          for (std::uint32_t i = 0; i < 3; ++i) hang_out(op, i, sides[i]);
          rows.emplace_back(op);
        }
      }
  return rows;
}

const Register kOutside{{
    .name = "consume.outside",
    .claim = "the product of tiles that hang out of their matrices is that of the matrices as far "
             "as they go",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access, 9.7.15.5.2 wgmma.mma_async",
    .rows = outside_rows,
}};

// Tiles that start off the 1024 bytes on which patterns repeat. TMA's pattern belongs to the
// address, so it starts on such a boundary wherever the tile does, and the base offset is 0.
std::vector<Op> phase_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kEverySwizzle)
    for (std::uint32_t phase = 0; phase < 8; ++phase) {
      TileConsume k_major = consumed(phase % 2 == 0 ? MmaType::bf16 : MmaType::s8, Major::k,
                                     Major::k, swizzle, 16, 0);
      k_major.k = k_of_spans(k_major.type, swizzle, 1);
      k_major.extent[2] = k_major.k + 37;
      TileConsume mn_major = consumed(MmaType::f16, Major::mn, Major::mn, swizzle, 64, 32);
      for (TileConsume* op : {&k_major, &mn_major}) {
        op->a.offset = 128 * phase;
        op->b.offset = 128 * ((phase + 3) % 8);
        rows.emplace_back(*op);
      }
    }
  return rows;
}

const Register kPhase{{
    .name = "consume.phase",
    .claim = "tiles may start on any 128 bytes of shared memory: TMA and wgmma take the swizzle of "
             "the same address bits, and the base offset is 0",
    .cites = "PTX ISA 9.0, 9.7.15.5.1.2.2 matrix descriptor format, base offset; 5.5.7 swizzling "
             "modes",
    .rows = phase_rows,
}};

// Products drawn at random over type, layout of each operand, width, depth, place in the matrices
// and in shared memory; more of them at the higher levels.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {48, 600, 3000}, random_consumed);
}

const Register kRandom{{
    .name = "consume.random",
    .claim = "any tiles that TMA can write and wgmma can read give the exact product, however "
             "their features meet",
    .cites = "PTX ISA 9.0, 9.7.15.5.2 wgmma.mma_async, 9.7.9.25.5.2 cp.async.bulk.tensor",
    .rows = random_rows,
}};

}  // namespace

}  // namespace tidemark
