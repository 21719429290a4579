// The fields of the records that become rows of a report: in a journal under these names, in the
// order they are written, and in the column of the same name.
#pragma once

#include "reports/journal/fields.hpp"
#include "reports/journal/record.hpp"

namespace tidemark::reports {

template <class Io>
void fields(Io& io, Is<PlannedCase> auto& r) {
  io("name", r.name), io("kind", r.kind), io("scope", r.scope), io("claim", r.claim);
  io("unit", r.unit), io("higher_is_better", r.higher_is_better);
}

template <class Io>
void fields(Io& io, Is<NodeRecord> auto& r) {
  io("rank", r.rank), io("hostname", r.hostname), io("kernel", r.kernel), io("os", r.os);
  io("cpu", r.cpu), io("boot_id", r.boot_id), io("mpi", r.mpi), io("hdf5", r.hdf5);
  io("logical_cpus", r.logical_cpus), io.later("memory_gib", r.memory_gib);
}

template <class Io>
void fields(Io& io, Is<GpuRecord> auto& r) {
  io("gpu", r.gpu), io("rank", r.rank), io("local_index", r.local_index), io("uuid", r.uuid);
  io("serial", r.serial), io("pci", r.pci), io("name", r.name), io("vbios", r.vbios);
  io("board_part", r.board_part), io("driver", r.driver), io("nccl", r.nccl);
  io("cuda_driver", r.cuda_driver), io("cuda_runtime", r.cuda_runtime);
  io("compute_capability", r.compute_capability), io("sm_count", r.sm_count);
  io("memory_bytes", r.memory_bytes), io("nvml", r.nvml), io("ecc_enabled", r.ecc_enabled);
  io("mig_enabled", r.mig_enabled), io("persistence", r.persistence);
  io("power_limit_w", r.power_limit_w), io("default_power_limit_w", r.default_power_limit_w);
  io("app_sm_mhz", r.app_sm_mhz), io("app_memory_mhz", r.app_memory_mhz);
  io("max_sm_mhz", r.max_sm_mhz), io("nvlinks_up", r.nvlinks_up);
  io("nvlinks_up_mask", r.nvlinks_up_mask);
  io("ecc_corrected", r.ecc_corrected), io("ecc_uncorrected", r.ecc_uncorrected);
  io("remapped_rows_pending", r.remapped_rows_pending);
}

template <class Io>
void fields(Io& io, Is<OutcomeRecord> auto& r) {
  io("gpu", r.gpu), io("case", r.case_name), io("attempt", r.attempt), io("verdict", r.verdict);
  io("reason", r.reason), io("start", r.start_unix_s), io("seconds", r.seconds);
  io("rows_planned", r.rows_planned), io("rows_run", r.rows_run);
  io("rows_failed", r.rows_failed), io("cuda_error", r.cuda_error), io("signal", r.signal);
  io("exit_code", r.exit_code), io("seed", r.seed), io("descriptors", r.descriptors);
  io("replay", r.replay), io("notes", r.notes), io("miscompares", r.miscompares);
  io("metrics", r.metrics);
  io.later("sm_rows_run", r.sm_rows_run), io.later("sm_rows_failed", r.sm_rows_failed);
}

}  // namespace tidemark::reports
