// Writes and reductions into another CTA's window. A reduction reads what is there when it lands.
#include "kernels/virtual/program/program_async.hpp"

#include <cstring>
#include <utility>

#include "kernels/virtual/copies/faults/tile_store_faults.hpp"
#include "kernels/virtual/copies/reduction.hpp"
#include "kernels/virtual/copies/tile_memory.hpp"
#include "kernels/virtual/program/program_barriers.hpp"
#include "kernels/virtual/program/program_faults.hpp"

namespace tidemark::kernels {
namespace {

// The arithmetic is that of reductions into memory, and has its faults.
Fault fault_of_arithmetic(Fault fault) {
  constexpr std::pair<Fault, Fault> kSame[] = {
      {kFaultAsyncReduceStores, kFaultReduceStores},
      {kFaultAsyncMinAsMax, kFaultReduceMinAsMax},
      {kFaultAsyncSignedAsUnsigned, kFaultReduceSignedAsUnsigned},
      {kFaultAsyncCarryLost, kFaultReduceCarryLost},
      {kFaultAsyncIncUnbounded, kFaultReduceIncUnbounded},
      {kFaultAsyncDecUnbounded, kFaultReduceDecUnbounded},
  };
  for (const auto& [here, there] : kSame)
    if (fault == here) return there;
  return kNoFault;
}

std::array<std::uint8_t, kChunkBytes> bytes_at(const SharedWindow& window, std::int64_t address) {
  std::array<std::uint8_t, kChunkBytes> bytes{};
  const std::int64_t first = address - window.address;
  if (first >= 0 && first + kChunkBytes <= static_cast<std::int64_t>(window.bytes.size()))
    std::memcpy(bytes.data(), &window.bytes[static_cast<std::size_t>(first)], kChunkBytes);
  return bytes;
}

std::uint32_t credit_of(std::uint32_t bytes, Fault fault) {
  if (fault == kFaultAsyncCreditTwice) return 2 * bytes;
  return fault == kFaultAsyncCreditHalf ? bytes / 2 : bytes;
}

// The 16 bytes of the window that the step writes a part of.
Chunk chunk_of(const Turn& turn) {
  const Step& step = turn.step();
  const auto place = static_cast<std::uint32_t>(step.at[0]);
  const std::uint32_t bytes = async_bytes(step), size = element_bytes(step.type);
  const std::uint32_t begin = place % kChunkBytes;
  Chunk chunk{.address = kWindowAddress + place - begin,
              .written = 0,
              .inside = bytes,
              .credit = credit_of(bytes, turn.run.fault)};
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const std::uint32_t word = async_word(turn.run.program.payload, step, i / 4);
    chunk.bytes[begin + i] = static_cast<std::uint8_t>(word >> (8 * (i % 4)));
    const bool lost = turn.run.fault == kFaultAsyncSecondLost && i / size == 1;
    if (!lost) chunk.written |= static_cast<std::uint16_t>(1U << (begin + i));
  }
  return chunk;
}

}  // namespace

std::function<Chunk(std::uint32_t)> reducing(const Turn& turn, const SharedWindow& window,
                                             std::function<Chunk(std::uint32_t)> copy) {
  const Step& step = turn.step();
  const Fault fault = turn.run.fault;
  const SharedWindow before = fault == kFaultAsyncNotAtomic ? window : SharedWindow{};
  return [&window, &step, fault, before, copy = std::move(copy)](std::uint32_t index) {
    Chunk chunk = copy(index);
    const SharedWindow& memory = before.bytes.empty() ? window : before;
    chunk.bytes = reduced(step.reduction, step.type, bytes_at(memory, chunk.address), chunk.bytes,
                          fault_of_arithmetic(fault));
    return chunk;
  };
}

void take_async(const Turn& turn) {
  ProgramRun& run = turn.run;
  const Step& step = turn.step();
  const std::uint32_t to = step.of == kOwnCta ? turn.cta : step.of;
  const Chunk chunk = chunk_of(turn);
  SharedWindow& window = run.ctas[run.fault == kFaultAsyncLandsAtHome ? turn.cta : to].window;
  std::function<Chunk(std::uint32_t)> copy = [chunk](std::uint32_t) { return chunk; };
  if (step.verb == Verb::red_async) copy = reducing(turn, window, std::move(copy));
  const BulkCopy one{
      .chunks = 1,
      .chunk = std::move(copy),
      .destination = chunk.address,
      .shared = &window,
      .barrier = &live_barrier(turn, run.fault == kFaultAsyncCreditStays ? turn.cta : to)};
  const std::uint32_t threads = step.verb == Verb::red_async ? step.count : 1;
  for (std::uint32_t i = 0; i < threads; ++i) {
    BulkCopy of_thread = one;
    if (i > 0 && run.fault == kFaultAsyncThreadLost)
      of_thread.chunk = [chunk](std::uint32_t) {
        Chunk lost = chunk;
        lost.written = 0;
        return lost;
      };
    run.engine.issue(std::move(of_thread));
  }
}

}  // namespace tidemark::kernels
