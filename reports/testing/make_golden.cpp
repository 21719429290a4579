// make_golden FOLDER: writes the golden reports anew, after a change of the schema, and what show
// says of one, after a change of its words.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "reports/testing/golden_launches.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "make_golden: give the folder to write to: make_golden reports/golden\n");
    return 2;
  }
  try {
    for (const tidemark::GoldenLaunch& golden : tidemark::kGoldenLaunches) {
      const std::string path = fmt::format("{}/{}", argv[1], golden.file);
      tidemark::write_report(tidemark::report_of(golden), path, tidemark::NameInUse::replace);
      fmt::print("{}\n", path);
    }
    const auto write = [&](std::string_view name, const std::string& bytes) {
      const std::string path = fmt::format("{}/{}", argv[1], name);
      std::ofstream file(path, std::ios::binary);
      file << bytes;
      if (!file.flush()) throw tidemark::ReportError(path + ": cannot be written");
      fmt::print("{}\n", path);
    };
    write(tidemark::kNewerMinor, tidemark::image_of_newer_minor());
    for (const tidemark::GoldenView& view : tidemark::kGoldenViews) {
      write(view.file, text_of(view));
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_golden: {}\n", error.what());
    return 2;
  }
}
