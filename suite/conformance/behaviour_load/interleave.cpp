// Loads by interleaved maps: what a unit, a slice and the element stride of dimension 0 are, which
// no document says.
#include "suite/conformance/interleave.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : interleaved_loads()) {
    rows.emplace_back(load);
    rows.emplace_back(with_element_strides(load));
    for (const bool far : {false, true}) rows.emplace_back(over_end(load, far));
  }
  for (const std::int32_t slice : {-1, 0, 2, 3}) {  // of three
    TileLoad load = interleaved_load(DataType::f16, Interleave::b16, 4);
    load.at[2] = slice;
    load.map.fill = Fill::nan;
    rows.emplace_back(load);
  }
  return rows;
}

const Register kCase{{
    .name = "behaviour.load.interleave",
    .claim =
        "a load by an interleaved map takes units of 16 or 32 bytes along dimension 0, whatever "
        "the type, an element stride apart, of one slice of channels, and packs its rows",
    .cites = "measured on an H100, driver 580.159.04, 2026-11; PTX ISA 9.0, 5.5.6, names NC/8HWC8 "
             "and NC/16HWC16 alone",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
