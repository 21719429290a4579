// What a timed product measures, and which products are timed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "suite/case.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

// What the speed of a matrix product is measured in.

/// Edge of the square product whose metrics have plain names, so that reports made at different
/// levels can be compared; those of other sizes carry theirs: "rate_16384",
/// "rate_8192x4096x2048".
std::uint64_t usual_edge(DeviceKind device);

/// Of the product over all GPUs at nightly level: the exchange can hide behind the product from
/// here.
inline constexpr std::uint64_t kNightlyEdge = 16384;

/// Elements between the rows of the products whose pitch is timed: the rows of one start off 16
/// bytes, those of the other on 16 bytes and off lines of L2.
inline constexpr std::uint64_t kPitchesTimed[] = {1, 8};

/// A square product in bf16 with `more` elements between the rows of A, of B and of C.
Gemm pitched_square(std::uint64_t edge, std::uint64_t more, GemmInputs inputs);

/// 2 m n k / total in TFLOP/s, m, n, k those of the whole C and total this rank's own time: the
/// slowest rank says what all of them together reached.
Metric gemm_rate(const Gemm& gemm, const Measurement& measurement);

/// gemm_rate() under the name of the kernel and the edge: "tma_store_4096".
Metric ladder_rate(const Gemm& gemm, const Measurement& measurement);

/// gemm_rate() under the pitch of A: "ld_8193".
Metric pitch_rate(const Gemm& gemm, const Measurement& measurement);

/// Time until both panels were there, in ms.
Metric gemm_exchange(const Gemm& gemm, const Measurement& measurement);

/// Of all ranks, the slowest product alone / the slowest with the exchange, sample by sample: 1
/// where the exchange is wholly hidden behind the product. Equal on all ranks. Nothing where a
/// sample was not taken over a transport.
std::optional<Metric> gemm_efficiency(const Gemm& gemm, const Measurement& measurement);

/// Where the time of a product over all GPUs goes, in one line: the product alone, and what is lost
/// to waiting for rows, to running beside their exchange, and to a slower rank. Medians of this
/// rank's samples. Not a metric: a wait that is nearly nothing has no percentage. Empty for a
/// product of one GPU.
std::string exchange_note(const Gemm& gemm, const Measurement& measurement);

/// One word for all of C over all ranks, to compare runs over other numbers of ranks, routes and
/// drivers with: equal bits, equal words. Empty for a product of one GPU.
std::string digest_note(const Gemm& gemm, const RunResult& last);

// What gemm.distributed.speed times.

/// The product that the user gave; without one, squares by device and level. All in bf16.
std::vector<GemmShape> timed_products(const RunContext& context);

}  // namespace tidemark
