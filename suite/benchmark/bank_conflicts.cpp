// How long a warp takes to read a column of a tile: each swizzle at its own width, tiles without a
// swizzle, and the 16 x 16 chunks that conflict until they are split into 16 x 8 groups.
#include <fmt/format.h>

#include "suite/case.hpp"
#include "suite/conformance/atom_read.hpp"

namespace tidemark {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128})
    rows.emplace_back(atom_read(DataType::bf16, swizzle, 0, 16, 2));
  for (const std::uint32_t row_bytes : {32U, 64U, 128U})
    rows.emplace_back(atom_read(DataType::bf16, Swizzle::none, row_bytes, 16, 2));
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b128}) {
    TileRead whole = atom_read(DataType::bf16, swizzle, 128, 16, 2);
    whole.placement = TilePlacement::unsplit;
    rows.emplace_back(whole);
  }
  return rows;
}

std::string layout_of(const TileRead& read) {
  const std::uint32_t swizzle = swizzle_bytes(read.load.map.swizzle);
  const std::uint32_t pitch = group_row_bytes(read.load.map) *
                              (read.placement == TilePlacement::unsplit ? read.load.map.box[2] : 1);
  return fmt::format("pitch{}_swizzle{}_predicted{}", pitch, swizzle, predicted_wavefronts(read));
}

std::vector<Metric> metrics(const Op& op, const Measurement& measurement) {
  Metric metric;
  metric.name = layout_of(std::get<TileRead>(op));
  metric.unit = "cycles";
  metric.higher_is_better = false;
  for (const TimedSample& sample : measurement.samples) {
    metric.values.push_back(sample.cycles);
    metric.at_unix_s.push_back(sample.at_unix_s);
    metric.seconds.push_back(sample.total_ns * 1e-9);
  }
  return {metric};
}

const Register kCase{{
    .name = "load.atom3d.bank_conflicts",
    .claim = "cycles that shared memory needs for one warp to read a column of 16-byte chunks; "
             "'predicted' in a layout's name is how many it would need by its addresses alone",
    .cites = "tidemark: measured, not promised",
    .kind = CaseKind::benchmark,
    .correct_by = "load.atom3d.unsplit",
    .unit = "cycles",
    .higher_is_better = false,
    .rows = rows,
    .metrics = metrics,
}};

}  // namespace
}  // namespace tidemark
