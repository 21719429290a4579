// How a product is shared out: a grid of ranks, a block of C for each, and who owns which rows of
// the panels. K is never split, so every element of C is one rank's sum in one order.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/gemm/gemm.hpp"
#include "suite/case.hpp"
#include "suite/gemm/product.hpp"

namespace tidemark {

/// The grid of `ranks` ranks over which the fewest bytes are received for C m x n; of two equal
/// ones the one with more columns. K multiplies every grid's bytes alike and decides nothing.
/// Throws Error when `ranks` is 0.
Grid plan_grid(std::uint32_t ranks, std::uint64_t m, std::uint64_t n);

/// Bytes of bf16 that all ranks together receive: each A panel by all but its owners in a grid row,
/// each B panel by all but its owners in a grid column.
std::uint64_t bytes_received(const Grid& grid, std::uint64_t m, std::uint64_t n, std::uint64_t k);

/// Part `index` of `count` things in `parts` consecutive parts: whole groups of 16 where every part
/// gets at least one, else single things; sizes differ by at most one group. May be empty.
Range part_of(std::uint64_t count, std::uint32_t parts, std::uint32_t index);

/// How large the pieces are that travel, and are waited for, one by one.
struct Chunking {
  std::uint64_t bytes = 0;
  std::uint32_t most = 0;  // pieces of one owner
};
Chunking chunking_of(PanelRoute route);

/// Into how many pieces the part of a panel that one rank owns is cut: `rows` of `row_bytes` each.
/// At least two where there are rows for two, so that every product waits for more than one.
std::uint32_t chunks_of(std::uint64_t rows, std::uint64_t row_bytes, const Chunking& chunking);

/// This rank's share of the product that `whole` describes by m, n, k, inputs, output, engine,
/// route and seed; all else in it is filled in. Without a transport the rank makes its panels
/// itself. A grid without rows is planned. Throws Error when `rank` is not below `ranks`, or the
/// grid is not of `ranks`.
Gemm distributed_gemm(Gemm whole, std::uint32_t rank, std::uint32_t ranks, Transport* transport,
                      Grid grid = {.rows = 0, .cols = 0});

/// The whole product, which every rank computes on its own and compares with what the others got.
Gemm voted_gemm(Gemm whole, const RunContext& context);

/// The same of what a case is given, by the route that is usual in this launch and on the grid that
/// the user gave.
Gemm distributed_gemm(Gemm whole, const RunContext& context);

}  // namespace tidemark
