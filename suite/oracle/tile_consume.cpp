// Predicts a consumed tile as the product of two integer matrices. An operand whose descriptor says
// what its tensor map did is pulled from where its tensor has it in the source: shared memory,
// swizzles and descriptors do not come into it. Only one that is read in another way than it was
// written is looked up through them.
#include <cstring>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/consumed_shared.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark::suite {
namespace {

// Where the documents stop, there is nothing to predict: a guess would become a verdict.
void refuse_the_undocumented(const TileConsume& op) {
  if (const std::string_view why = shape_refusal(op); !why.empty())
    throw Error(fmt::format("tile consume: no prediction where {}", why));
  if (op.extent[0] == 0 || op.extent[1] == 0 || op.extent[2] == 0)
    throw Error("tile consume: an extent of 0 has no prediction; take 1 or more");
  for (const GemmOperand which : {GemmOperand::a, GemmOperand::b}) {
    const ConsumedOperand& operand = which == GemmOperand::a ? op.a : op.b;
    const std::int64_t first = operand.major == Major::k ? op.at[2]
                               : which == GemmOperand::a ? op.at[0]
                                                         : op.at[1];
    if (first * element_bytes(op.type) % 16 != 0)
      throw Error(
          fmt::format("tile consume: inner coordinate {} is off 16 bytes, which faults", first));
    // PTX ISA 9.0, 9.7.15.5.1.2.2: without a swizzle the field is not valid, and a pattern that
    // starts where patterns do has base offset 0 and no other.
    const std::uint32_t period = operand.read_as == Swizzle::b128  ? 8
                                 : operand.read_as == Swizzle::b64 ? 4
                                 : operand.read_as == Swizzle::b32 ? 2
                                                                   : 1;
    if (operand.base_offset != 0 && operand.base_offset % period == 0)
      throw Error(fmt::format("tile consume: base offset {} means nothing in a pattern of {} rows",
                              operand.base_offset, period));
  }
}

// One matrix of the product, row by row: its rows are rows of A or columns of B.
using Matrix = std::vector<std::int64_t>;

// Index `mn` and `k` of A (or of B) in its tensor; nothing lies outside but zeros.
std::int64_t element(const TileConsume& op, bool is_a, std::int64_t mn, std::int64_t k) {
  const auto mn_extent = static_cast<std::int64_t>(is_a ? op.extent[0] : op.extent[1]);
  const auto k_extent = static_cast<std::int64_t>(op.extent[2]);
  if (mn < 0 || mn >= mn_extent || k < 0 || k >= k_extent) return 0;
  const GemmOperand which = is_a ? GemmOperand::a : GemmOperand::b;
  const auto pitch = static_cast<std::int64_t>(tensor_pitch(op, which));
  const std::int64_t size = element_bytes(op.type);
  const bool k_major = (is_a ? op.a : op.b).major == Major::k;
  const std::int64_t inside = k_major ? mn * pitch + k * size : k * pitch + mn * size;
  const auto tensor = static_cast<std::int64_t>(kGuardBytes + tensor_start(op, which));
  return integer_of(op.type, source_bits(op, static_cast<std::uint64_t>(tensor + inside)));
}

Matrix pulled(const TileConsume& op, bool is_a) {
  Matrix matrix;
  for (std::int64_t mn = 0; mn < (is_a ? 64 : op.n); ++mn)
    for (std::int64_t k = 0; k < op.k; ++k)
      matrix.push_back(element(op, is_a, op.at[is_a ? 0 : 1] + mn, op.at[2] + k));
  return matrix;
}

Matrix multiplied(const TileConsume& op, GemmOperand which,
                  const std::vector<std::uint8_t>& source) {
  const ConsumedOperand& operand = operand_of(op, which);
  if (operand.read_as == operand.swizzle && operand.base_offset == 0)
    return pulled(op, which == GemmOperand::a);
  return found_by_descriptors(op, which, loaded_tiles(op, source));
}

std::vector<std::uint8_t> source_allocation(const TileConsume& op) {
  std::vector<std::uint8_t> source(source_allocation_bytes(op));
  for (std::uint64_t i = 0; i < source.size() / 4; ++i) {
    const std::uint32_t word = source_element_word(op, i);
    std::memcpy(&source[4 * i], &word, 4);
  }
  return source;
}

std::uint32_t as_stored(MmaType type, std::int64_t sum) {
  if (type == MmaType::s8 || type == MmaType::u8) return static_cast<std::uint32_t>(sum);
  const auto value = static_cast<float>(sum);  // below 2^24, so exact
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return bits;
}

}  // namespace

Expectation predict(const TileConsume& op) {
  refuse_the_undocumented(op);
  Expectation expectation;
  expectation.bytes.resize(result_bytes(op));
  for (std::uint32_t i = 0; i < expectation.bytes.size(); ++i)
    expectation.bytes[i] = poison_byte(op.payload, i);
  expectation.surroundings = source_allocation(op);
  const Matrix a = multiplied(op, GemmOperand::a, expectation.surroundings);
  const Matrix b = multiplied(op, GemmOperand::b, expectation.surroundings);
  std::uint8_t* to = &expectation.bytes[kGuardBytes];
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < op.n; ++j, to += 4) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < op.k; ++k) sum += a[i * op.k + k] * b[j * op.k + k];
      const std::uint32_t bits = as_stored(op.type, sum);
      std::memcpy(to, &bits, 4);
    }
  const std::uint32_t size = element_bytes(op.type);
  expectation.ledger.complete = true;
  expectation.ledger.announced = std::uint64_t{size} * op.k * (64 + op.n);
  return expectation;
}

}  // namespace tidemark::suite
