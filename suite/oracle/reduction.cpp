// A plain loop over the elements of a chunk, written from the PTX ISA.
#include "suite/oracle/reduction.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark::suite {
namespace {

template <typename Element>
Element reduced(Reduction reduction, Element memory, Element comes) {
  using Bits = std::make_unsigned_t<Element>;  // sums wrap, as two's complement does
  const auto a = static_cast<Bits>(memory), b = static_cast<Bits>(comes);
  switch (reduction) {
    case Reduction::none:
      return comes;
    case Reduction::add:
      return static_cast<Element>(a + b);
    case Reduction::min:
      return std::min(memory, comes);
    case Reduction::max:
      return std::max(memory, comes);
    case Reduction::inc:
      return memory >= comes ? Element{0} : static_cast<Element>(a + 1);
    case Reduction::dec:
      return memory == 0 || memory > comes ? comes : static_cast<Element>(a - 1);
    case Reduction::bit_and:
      return static_cast<Element>(a & b);
    case Reduction::bit_or:
      return static_cast<Element>(a | b);
    case Reduction::bit_xor:
      return static_cast<Element>(a ^ b);
  }
  return comes;
}

template <typename Element>
void reduce_all(Reduction reduction, const std::uint8_t* from, std::uint8_t* to) {
  for (std::uint32_t at = 0; at < 16; at += sizeof(Element)) {
    Element memory, comes;
    std::memcpy(&memory, to + at, sizeof memory);
    std::memcpy(&comes, from + at, sizeof comes);
    memory = reduced(reduction, memory, comes);
    std::memcpy(to + at, &memory, sizeof memory);
  }
}

}  // namespace

void reduce_chunk(Reduction reduction, DataType type, const std::uint8_t* from, std::uint8_t* to) {
  if (!reduces(reduction, type))
    throw Error(fmt::format("store: reduction {} of {} has no prediction",
                            static_cast<int>(reduction), name_of(type)));
  if (type == DataType::u32) reduce_all<std::uint32_t>(reduction, from, to);
  if (type == DataType::s32) reduce_all<std::int32_t>(reduction, from, to);
  if (type == DataType::u64) reduce_all<std::uint64_t>(reduction, from, to);
  if (type == DataType::s64) reduce_all<std::int64_t>(reduction, from, to);
}

}  // namespace tidemark::suite
