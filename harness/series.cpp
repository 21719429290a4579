// Names, and a meeting between launches.
#include "harness/series.hpp"

#include <fmt/ranges.h>

#include <filesystem>

namespace tidemark {

std::string report_name(const std::string& out, std::uint32_t number, std::uint32_t launches) {
  if (launches == 1) return out;
  const std::filesystem::path path(out);
  const std::string extension = path.extension().string();
  return fmt::format("{}-{}{}", out.substr(0, out.size() - extension.size()), number, extension);
}

bool all_go_on(Mesh& mesh, StopWatch& stop) {
  Patience patience{
      .silence_s = 60, .total_s = 600, .meanwhile = [&stop] { return !stop.check(); }};
  // A rank that was told to stop has a second before mpirun kills it.
  if (stop.check()) patience = {.silence_s = 0.4, .total_s = 0.4};
  const FirstWord first = mesh.first_word(stop.check() ? stop.check()->text : "", patience);
  if (!first.text.empty()) stop.stop({.text = first.text, .signal = 0, .heard = true});
  if (!first.silent.empty()) {
    stop.stop({.text = fmt::format("rank {} was silent", fmt::join(first.silent, ", ")),
               .signal = 0,
               .heard = true});
  }
  return !stop.check();
}

}  // namespace tidemark
