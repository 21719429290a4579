// The host's half of a mismatched announcement: encode, launch, read back, hand over what was seen.
#include "kernels/cuda/expect_tx.hpp"

#include <fmt/core.h>

#include <optional>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/expect_tx_kernel.hpp"
#include "kernels/cuda/tile_load_kernel.hpp"

namespace tidemark::kernels {
namespace {

// Beyond its range a tx-count means nothing, and the recovery could not be relied on.
void require_range(const ExpectTx& op) {
  const std::uint64_t announced = announced_bytes(op, announced_barrier(op));
  const std::uint64_t credit = std::uint64_t{op.simulated[0]} + op.simulated[1];
  if (op.announced > kTxCountMax || announced > kTxCountMax || credit > kTxCountMax)
    throw Error(
        fmt::format("expect_tx: {} bytes announced and {} simulated leave the range of a "
                    "tx-count; take at most {}",
                    announced, credit, kTxCountMax));
}

void require_sound(const ExpectTx& op) {
  if (op.load.map.rank < 1 || op.load.map.rank > kMaxRank)
    throw Error(fmt::format("expect_tx: rank {} is outside 1..{}", op.load.map.rank, kMaxRank));
  static const std::uint32_t largest_window = prepare_expect_tx();
  if (window_bytes(op.load) > largest_window)
    throw Error(
        fmt::format("expect_tx: a window of {} bytes does not fit the {} bytes of shared "
                    "memory that a block has: choose a smaller box",
                    window_bytes(op.load), largest_window));
  require_range(op);
}

void take_ledger(const ExpectTxLedger& seen, const ExpectTx& op, RunResult& result) {
  for (std::uint32_t i = 0; i < barriers_of(op); ++i) {
    const BarrierAccount& account = seen.accounts[i];
    result.transactions.push_back({.complete_before = account.complete_before != 0,
                                   .waited = i == 0 && seen.waited != 0,
                                   .complete = account.complete != 0,
                                   .settled = account.settled != 0,
                                   .next_complete_early = account.next_complete_early != 0,
                                   .next_complete = account.next_complete != 0,
                                   .residue = account.residue,
                                   .pieces_missing = i == 0 ? seen.pieces_missing : 0,
                                   .waited_ns = i == 0 ? seen.waited_ns : 0});
  }
}

/// Everything but the conversion of sticky errors. Fills in what is known as it goes, so that the
/// descriptor is there even when the launch faults.
void run_row(RowWorkspace& workspace, const ExpectTx& op, RunResult& result) {
  require_sound(op);
  const std::size_t windows = std::size_t{blocks_of(op)} * window_pitch(op);
  const std::size_t answer = kLedgerBytes + windows;
  const Encoded encoded = encode_and_allocate(workspace, op.load.map, [&] {
    return RowBytes{.answer = answer, .tensor = source_allocation_bytes(op.load)};
  });
  if (encoded.code != CUDA_SUCCESS) {
    result.fault = DeviceFault::encode_refused;
    result.code = static_cast<std::int32_t>(encoded.code);
    result.note = encode_refusal(encoded.code);
    return;
  }
  result.descriptor = descriptor_bytes(encoded.map);

  const std::size_t source = source_allocation_bytes(op.load);
  const ExpectTxLaunch row{.launch = ++workspace.launches,
                           .op = op,
                           .ledger = workspace.answer.as<ExpectTxLedger>(),
                           .windows = workspace.answer.as<std::uint8_t>() + kLedgerBytes};
  launch_fill_source(op.load, workspace.tensor.data(), workspace.stream.get());
  launch_expect_tx(encoded.map, row, workspace.stream.get());
  read_back(workspace, answer, source);
  const std::optional<ExpectTxLedger> ledger =
      wait_for_ledger<ExpectTxLedger>(workspace, row.launch);
  if (!ledger) {
    result.fault = DeviceFault::timeout;
    result.note = hung_note();
    return;
  }
  take_ledger(*ledger, op, result);
  const auto* const window = workspace.host.as<std::uint8_t>() + kLedgerBytes;
  for (std::uint32_t i = 0; i < blocks_of(op); ++i) {
    const auto* const from = window + std::size_t{i} * window_pitch(op);
    result.bytes.insert(result.bytes.end(), from, from + window_bytes(op.load));
  }
  const auto* const allocation = workspace.host.as<std::uint8_t>() + answer;
  result.surroundings.assign(allocation, allocation + source);
}

}  // namespace

RunResult run_expect_tx(RowWorkspace& workspace, const ExpectTx& op) {
  RunResult result;
  catch_sticky(result, [&] { run_row(workspace, op, result); });
  return result;
}

}  // namespace tidemark::kernels
