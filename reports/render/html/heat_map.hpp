// Nodes against cases, a cell each, as inline SVG.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tidemark::reports {

enum class HeatKind { none, good, bad, warn };

struct HeatCell {
  HeatKind kind = HeatKind::none;
  char mark = ' ';         // a letter, so that nothing hangs on colours alone
  double shade = 0;        // from -1 (worse than the others) to 1 (better): laid over a good cell
  double share = 1;        // of a bad cell: how much of it is bad, above 0; the rest is good
  std::string label = {};  // said when pointed at; empty: nothing
};

struct HeatMap {
  std::string title;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<HeatCell>> cells;  // [row][column]
};

/// So many GPUs get rows of their own; more share those of their nodes.
inline constexpr std::size_t kMapGpus = 32;

/// The map as an SVG element; nothing where there is no cell.
std::string svg_of(const HeatMap& map);

/// The square of a legend; `kind` is a class of page.css.
std::string heat_swatch(const char* kind);

/// The indices below `count` to show, in their order: where more than `most`, those of the lowest
/// rank.
std::vector<std::size_t> most_telling(std::size_t count, std::size_t most,
                                      const std::function<int(std::size_t)>& rank);

}  // namespace tidemark::reports
