// Nodes against cases, a cell each, as inline SVG.
#pragma once

#include <string>
#include <vector>

namespace tidemark {

enum class HeatKind { none, good, bad, warn };

struct HeatCell {
  HeatKind kind = HeatKind::none;
  char mark = ' ';         // a letter, so that nothing hangs on colours alone
  double shade = 0;        // from -1 (worse than the others) to 1 (better): laid over a good cell
  std::string label = {};  // said when pointed at; empty: nothing
};

struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<HeatCell>> cells;  // [row][column]
};

/// The map as an SVG element; nothing where there is no cell.
std::string svg_of(const HeatMap& map);

}  // namespace tidemark
