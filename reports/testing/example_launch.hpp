// A small launch for the tests of reports/: two ranks of one GPU each, three cases.
#pragma once

#include <string>
#include <vector>

#include "reports/journal/record.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

inline LaunchRecord example_launch(std::uint32_t rank) {
  return {.rank = rank,
          .run_id = "3f1c0000-0000-4000-8000-000000000001",
          .series_id = "3f1c0000-0000-4000-8000-000000000000",
          .launch = 2,
          .launches = 5,
          .created_unix_s = 1788220800.25,
          .tool_version = "0.1.0",
          .git_hash = "0123456789ab",
          .kernels_tree = "aaaa",
          .suite_tree = "bbbb",
          .nvcc = "13.0.88",
          .compiler = "12.2.0",
          .level = "quick",
          .device = "cuda",
          .seed = 0xfedcba9876543210,
          .ranks = 2,
          .gpus = 2,
          .arguments = {"tidemark", "run", "--out", "/home/alice/acme/night.h5"},
          .environment = {{"CUDA_HOME", "/opt/acme/cuda"}, {"SLURM_JOB_NODELIST", "node[07-08]"}},
          .cases = {{.name = "load.tile.2d",
                     .kind = "conformance",
                     .scope = "one_gpu",
                     .claim = "every byte of the box arrives",
                     .unit = "",
                     .higher_is_better = true},
                    {.name = "zfill.corner",
                     .kind = "conformance",
                     .scope = "one_gpu",
                     .claim = "what lies outside arrives as zero",
                     .unit = "",
                     .higher_is_better = true},
                    {.name = "gemm.distributed.speed",
                     .kind = "benchmark",
                     .scope = "all_gpus",
                     .claim = "",
                     .unit = "TFLOP/s",
                     .higher_is_better = true}}};
}

inline NodeRecord example_node(std::uint32_t rank) {
  return {.first_rank = rank,
          .hostname = "node07.acme.example",
          .kernel = "6.1.0",
          .os = "Debian 12",
          .cpu = "Xeon 8480C",
          .boot_id = "b007b007-1111-2222-3333-444455556666",
          .mpi = "Open MPI 4.1.4",
          .hdf5 = "1.10.8",
          .logical_cpus = 112,
          .memory_gib = 2015};
}

inline GpuRecord example_gpu(std::uint32_t gpu) {
  GpuRecord record;
  record.gpu_id = record.rank = record.local_index = gpu;
  record.uuid = gpu == 0 ? "GPU-5f1c2d3e-0000-1111-2222-333344445555"
                         : "GPU-77aa88bb-0000-1111-2222-333344445555";
  record.serial = gpu == 0 ? "1654922001111" : "1654922002222";
  record.pci = gpu == 0 ? "00000000:1B:00.0" : "00000000:43:00.0";
  record.name = "NVIDIA H200";
  record.driver = "580.105.08";
  record.nccl = "2.28.3";
  record.cuda_driver = record.cuda_runtime = 13000;
  record.compute_capability = 90;
  record.sm_count = 132;
  record.memory_bytes = 150754820096;
  record.nvml = true;
  record.nvlinks_up = 17;
  record.nvlinks_up_mask = 0x3fffd;  // all of 18 but the second
  record.ecc_enabled = 1;
  record.power_limit_w = 700;
  return record;
}

/// A pass without anything remarkable.
inline OutcomeRecord example_outcome(std::uint32_t gpu, const std::string& case_name) {
  OutcomeRecord record;
  record.gpu = gpu;
  record.case_name = case_name;
  record.verdict = Verdict::pass;
  record.start_unix_s = 1788220801;
  record.seconds = 0.5;
  record.rows_planned = record.rows_run = 12;
  record.sm_rows_run = {12, 0, 4};  // some rows on two CTAs
  record.sm_latency = {321, 0, 330};
  record.sm_rate = {51.75, 0, 51.5};
  record.seed = 0x8000000000000001;
  record.answers = {
      {.subject = "tiled, f32, rank 3, swizzle 64",
       .question = "a sound call",
       .unit = "CUresult",
       .answer = 0,
       .map = {0x1000, -1}},
      {.subject = "device attribute", .question = "97", .unit = "", .answer = 232448, .map = {}}};
  return record;
}

/// A failure with one miscompare.
inline OutcomeRecord example_failure(std::uint32_t gpu, const std::string& case_name) {
  OutcomeRecord record = example_outcome(gpu, case_name);
  record.verdict = Verdict::fail;
  record.rows_failed = 1;
  record.sm_rows_failed = {0, 0, 1};
  record.reason = "1 of 12 rows moved wrong bytes";
  record.replay = "tidemark run --cases " + case_name + " --gpus GPU-77aa88bb --seed 0x1f2e";
  record.miscompares = {{.row = 3,
                         .parameters = R"({"box":[32,4]})",
                         .what = "byte",
                         .text = "element (3, 7): expected 0x00, got 0x5a",
                         .coordinate = {3, 7, 0, 0, 0},
                         .first_offset = 227,
                         .wrong_bytes = 1024,
                         .expected = 0,
                         .actual = 0x5a}};
  return record;
}

/// A measurement of three samples; the slowest first.
inline OutcomeRecord example_speed(std::uint32_t gpu, double slowest) {
  OutcomeRecord record = example_outcome(gpu, "gemm.distributed.speed");
  record.sm_rows_run.clear();  // of what is timed the SMs are not known
  MetricRecord rate{.name = "rate", .unit = "TFLOP/s", .higher_is_better = true, .samples = {}};
  for (int i = 0; i < 3; ++i) {
    rate.samples.push_back({.value = slowest + i,
                            .seconds = 0.01,
                            .telemetry = {.at_unix_s = 1788220802.0 + i,
                                          .sm_mhz = 1700.0F + 10.0F * static_cast<float>(i),
                                          .memory_mhz = 3201,
                                          .power_w = 650,
                                          .temperature_c = 55,
                                          .utilisation = 100,
                                          .throttle_reasons = i == 1 ? 4u : 0u}});
  }
  record.metrics = {rate};
  return record;
}

inline std::string journal_of(const std::vector<Record>& records) {
  std::string text;
  for (const Record& record : records) text += to_line(record);
  return text;
}

/// As a rank writes it, each line with its origin.
inline std::string numbered_journal_of(std::uint32_t rank, const std::vector<Record>& records) {
  std::string text;
  LineOrigin origin{.run_id = example_launch(rank).run_id, .rank = rank};
  for (const Record& record : records) {
    text += to_line(record, origin);
    ++origin.number;
  }
  return text;
}

inline EndRecord example_end(std::uint32_t rank) {
  return {.rank = rank, .at_unix_s = 1788220810, .complete = true, .reason = ""};
}

/// Everything passes on GPU 0; zfill.corner fails on GPU 1.
inline std::vector<std::string> example_journals() {
  return {journal_of({example_launch(0), example_node(0), example_gpu(0),
                      example_outcome(0, "load.tile.2d"), example_outcome(0, "zfill.corner"),
                      example_speed(0, 700), example_end(0)}),
          journal_of({example_launch(1), example_node(1), example_gpu(1),
                      example_outcome(1, "load.tile.2d"), example_failure(1, "zfill.corner"),
                      example_speed(1, 690), example_end(1)})};
}

inline Report example() { return assemble(example_journals(), {}); }

}  // namespace tidemark
