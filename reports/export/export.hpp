// A report for monitoring and for test executives, in the formats that they read.
#pragma once

#include <string>
#include <vector>

#include "reports/store/report.hpp"

namespace tidemark {

/// What is written, and a line for each thing that should be in it and cannot.
struct Exported {
  std::string text;
  std::vector<std::string> left_out = {};
};

/// Prometheus' text exposition format 0.0.4, as node_exporter's textfile collector reads it: HELP
/// and TYPE before each family, no timestamps, each sample once. Families are named tidemark_...;
/// every sample has the labels level and first_node, and virtual="1" where the report is of the
/// virtual device. Numbers of a result that did not pass are left out. Throws ReportError where the
/// report holds one thing twice.
std::string prometheus_of(const Report& report);

/// The same with a sample for each case and GPU, passes too, and with spread and number of the
/// samples behind each median: hundreds a GPU instead of a few dozen.
std::string all_prometheus_of(const Report& report);

/// OCP Test & Validation output specification, version 2.0 (opencomputeproject/ocp-diag-core,
/// json_spec): a JSON object a line, schemaVersion first. A case is a test step, a GPU a
/// hardwareInfo, a result a diagnosis, a median a measurement. What the virtual device says is
/// UNKNOWN there, and its run was skipped: no hardware was tested.
std::string ocp_of(const Report& report);

/// The GPUs that no job should get, one a line: host, UUID and reason, tabs between; nothing where
/// there are none. A reason is at most 128 printable characters. Named are GPUs that the
/// launch left out ('-' where their UUID is not known), with failures that no waiver names, lost,
/// with Xids of sick hardware or memory rows to be remapped; not those of a case over all GPUs that
/// several of them failed, or in which one hung that no other names, since which one is sick is not
/// known. Left out is a GPU or host whose name could be something else in a command. Throws
/// ReportError where the report is of the virtual device or anonymised.
Exported drain_of(const Report& report);

}  // namespace tidemark
