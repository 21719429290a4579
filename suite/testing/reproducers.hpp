// What tests of reproducers share: nvcc, and small programs to be written out.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "suite/reproducer/reproducer.hpp"

namespace tidemark {

inline const ReproducerWords kWords{.title = "A phase completes 16 bytes early",
                                    .expected = "residue 0 on barrier 0 of CTA 0",
                                    .seen = "residue -16 in 3 of 100 runs on SM 17"};

/// A folder that is gone with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "reproducer.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error("cannot create " + name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& name) {
  std::ifstream file(name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Empty where there is none.
inline std::string find_nvcc() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/nvcc").c_str(), X_OK) == 0) return folder + "/nvcc";
  return "";
}

class Compiled : public testing::Test {
 protected:
  void SetUp() override {
    if (nvcc_.empty()) GTEST_SKIP() << "no nvcc in $PATH or /usr/local/cuda/bin";
  }

  // Runs nvcc, warnings being errors. What it says is a failure.
  bool compile(const std::string& arguments) const {
    const std::string log = folder_.file("log");
    const std::string command =
        fmt::format("'{}' -gencode=arch=compute_90a,code=sm_90a -Werror all-warnings {} >{} 2>&1",
                    nvcc_, arguments, log);
    const bool compiled = std::system(command.c_str()) == 0;
    EXPECT_TRUE(compiled) << command << '\n' << read_file(log);
    return compiled;
  }

  // The PTX of a source, which is compiled on to machine code.
  std::string ptx_of(const std::string& source) const {
    const std::string cu = folder_.file("a.cu"), ptx = folder_.file("a.ptx");
    std::ofstream(cu) << source;
    EXPECT_TRUE(compile(fmt::format("-ptx -o {} {}", ptx, cu)) &&
                compile(fmt::format("-cubin -o {} {}", folder_.file("a.cubin"), ptx)))
        << source;
    return read_file(ptx);
  }

  void executable(const std::string& source) const {
    std::ofstream(folder_.file("a.cu")) << source;
    EXPECT_TRUE(compile(fmt::format("{} -lcuda -o {}", folder_.file("a.cu"), folder_.file("a"))))
        << source;
  }

  const std::string nvcc_ = find_nvcc();
  const Folder folder_;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline void expect_narrow(const std::string& text) {
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 120U) << line;
}

inline TensorMapSpec tensor(std::uint32_t rank) {
  TensorMapSpec spec{.type = DataType::u16, .rank = rank};
  spec.extent = {64, 8, 2, 2, 2};
  spec.stride = {128, 1024, 2048, 4096};
  spec.box = {32, 4, 1, 1, 1};
  return spec;
}

inline Program one_cta(std::vector<Step> steps) {
  return {.window = 4096,
          .barriers = 2,
          .regions = {{.bytes = 16384}},
          .maps = {{.spec = tensor(2)}},
          .steps = std::move(steps),
          .payload = {.seed = 17}};
}

inline Program two_ctas(std::vector<Step> steps) {
  Program program = one_cta(std::move(steps));
  program.cluster = {2, 1, 1};
  return program;
}

inline Program working(std::vector<Step> steps, DataType type = DataType::u32,
                       Numbers numbers = Numbers::hash) {
  Program program = one_cta(std::move(steps));
  program.maps[0].spec.type = program.regions[0].element = type;
  program.maps[0].spec.swizzle = Swizzle::b128;
  program.regions[0].numbers = numbers;
  return program;
}

// Map 1 is made of map 0, map 2 of zeros.
inline Program remapped(std::vector<Step> steps) {
  Program program = one_cta(std::move(steps));
  program.maps.push_back({.spec = tensor(2), .from = 0});
  program.maps.push_back({.spec = tensor(2), .from = kZeroed});
  program.maps[1].spec.box = {64, 2};
  return program;
}

// 16 rows of two groups of 128 bytes.
inline Program matrix(const Step& step) {
  Program program = one_cta({step});
  program.window = 16384;
  program.maps[0].spec = {.type = DataType::u8,
                          .rank = 3,
                          .extent = {128, 16, 2},
                          .stride = {256, 128},
                          .box = {128, 16, 2},
                          .swizzle = Swizzle::b128};
  return program;
}

inline Program multiplying(const Wgmma& product) {
  Program program = one_cta({{.verb = Verb::wgmma, .offset = 32768}});
  program.window = 65536;
  program.products = {product};
  return program;
}

}  // namespace tidemark
