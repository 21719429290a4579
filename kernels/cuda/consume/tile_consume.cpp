// The host's half of a consumed tile: encode both maps, launch, read back, say what came of it.
#include "kernels/cuda/consume/tile_consume.hpp"

#include <fmt/core.h>

#include <optional>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/consume/tile_consume_kernel.hpp"
#include "kernels/cuda/encode.hpp"

namespace tidemark::kernels {
namespace {

void require_sound(const TileConsume& op) {
  if (const std::string_view why = shape_refusal(op); !why.empty())
    throw Error(fmt::format("tile consume: {}", why));
  if (window_bytes(op) > kConsumeWindowMax)
    throw Error(
        fmt::format("tile consume: a window of {} bytes does not fit the {} bytes of "
                    "shared memory that a block has: choose smaller tiles",
                    window_bytes(op), kConsumeWindowMax));
}

void refused(CUresult code, RunResult& result) {
  result.fault = DeviceFault::encode_refused;
  result.code = static_cast<std::int32_t>(code);
  result.note = encode_refusal(code);
}

void take_ledger(const TileConsumeLedger& seen, RunResult& result) {
  result.ledger = {.complete_before_issue = seen.complete_before_issue != 0,
                   .complete = seen.complete != 0,
                   .next_complete_early = seen.next_complete_early != 0,
                   .announced = seen.announced};
  if (seen.complete != 0) return;
  result.fault = DeviceFault::timeout;
  result.note = fmt::format("phase 0 did not complete in {} us, and nothing was multiplied",
                            seen.waited_ns / 1000);
}

/// Everything but the conversion of sticky errors. Fills in what is known as it goes, so that the
/// descriptor is there even when the launch faults.
void run_row(RowWorkspace& workspace, const TileConsume& op, RunResult& result) {
  require_sound(op);
  const std::size_t answer = kLedgerBytes + result_bytes(op);
  const std::size_t source = source_allocation_bytes(op);
  const Encoded a = encode_and_allocate(workspace, box_load(op, GemmOperand::a, 0).map, [&] {
    return RowBytes{.answer = answer, .tensor = source};
  });
  if (a.code != CUDA_SUCCESS) return refused(a.code, result);
  result.descriptor = descriptor_bytes(a.map);
  const TensorMapSpec b_map = box_load(op, GemmOperand::b, 0).map;
  const Encoded b = encode(b_map, workspace.tensor.data() + kGuardBytes + b_map.base_offset);
  if (b.code != CUDA_SUCCESS) return refused(b.code, result);

  const TileConsumeLaunch row{.launch = ++workspace.launches,
                              .op = op,
                              .ledger = workspace.answer.as<TileConsumeLedger>(),
                              .result = workspace.answer.as<std::uint8_t>() + kLedgerBytes};
  launch_fill_source(op, workspace.tensor.data(), workspace.stream.get());
  launch_tile_consume(a.map, b.map, row, workspace.stream.get());
  read_back(workspace, answer, source);
  const std::optional<TileConsumeLedger> ledger =
      wait_for_ledger<TileConsumeLedger>(workspace, row.launch);
  if (!ledger) {
    result.fault = DeviceFault::timeout;
    result.note = hung_note();
    return;
  }
  take_ledger(*ledger, result);
  const auto* const c = workspace.host.as<std::uint8_t>() + kLedgerBytes;
  const auto* const allocation = workspace.host.as<std::uint8_t>() + answer;
  result.bytes.assign(c, c + result_bytes(op));
  result.surroundings.assign(allocation, allocation + source);
}

}  // namespace

RunResult run_tile_consume(RowWorkspace& workspace, const TileConsume& op) {
  RunResult result;
  catch_sticky(result, [&] { run_row(workspace, op, result); });
  return result;
}

}  // namespace tidemark::kernels
