// Mismatched announcements on the GPU: one launch a row, on memory that is kept from row to row.
#pragma once

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/expect_tx.hpp"

namespace tidemark::kernels {

/// Runs one row (kernels/ops/expect_tx.hpp). A refused map and a sticky error are in the result; a
/// phase that did not complete is in its transactions. Throws Error for a rank outside 1..5, for a
/// window that shared memory cannot hold, for bytes beyond the range of a tx-count, and after a
/// kernel that never ended.
RunResult run_expect_tx(RowWorkspace& workspace, const ExpectTx& op);

}  // namespace tidemark::kernels
