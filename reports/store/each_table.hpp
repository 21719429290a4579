// Walks the tables of a report together with their descriptions.
#pragma once

#include "reports/store/report.hpp"

namespace tidemark::reports {

/// Calls visit(const Table&, rows) for each vector of rows, in the order of the schema. The text is
/// not a vector of rows and left out.
template <class AnyReport, class Visit>
void for_each_table(AnyReport& report, Visit visit) {
  visit(table_of<NodeRow>(), report.nodes);
  visit(table_of<GpuRow>(), report.gpus);
  visit(table_of<CaseRow>(), report.cases);
  visit(table_of<ResultRow>(), report.results);
  visit(table_of<MiscompareRow>(), report.miscompares);
  visit(table_of<SmRow>(), report.sms);
  visit(table_of<MetricRow>(), report.metrics);
  visit(table_of<SampleRow>(), report.samples);
  visit(table_of<EventRow>(), report.events);
  visit(table_of<ProvenanceRow>(), report.provenance);
}

}  // namespace tidemark::reports
