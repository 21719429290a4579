// The changes: bits, numbers at the edges of their range, blocks moved, cut and put in.
#include "ci/lab/fuzz/mutate.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "reports/store/hdf5/image.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

using Random = std::mt19937_64;

constexpr std::size_t kBlock = 64;

std::size_t below(Random& random, std::size_t end) { return end == 0 ? 0 : random() % end; }

/// Packed rows hardly ever hold zeros; HDF5's headers do.
std::vector<std::size_t> header_blocks(const std::string& image) {
  constexpr std::ptrdiff_t kZeros = 12;
  std::vector<std::size_t> found;
  for (std::size_t at = 0; at + kBlock <= image.size(); at += kBlock) {
    const auto begin = image.begin() + static_cast<std::ptrdiff_t>(at);
    if (std::count(begin, begin + kBlock, '\0') >= kZeros) found.push_back(at);
  }
  return found;
}

std::size_t place(const Seed& seed, const std::string& image, Random& random) {
  const bool header = !seed.headers.empty() && random() % 4 != 0;
  const std::size_t at =
      header ? seed.headers[below(random, seed.headers.size())] + below(random, kBlock)
             : below(random, image.size());
  return std::min(at, image.empty() ? 0 : image.size() - 1);
}

/// Numbers that programs forget to check.
std::uint64_t edge_number(const std::string& image, Random& random) {
  const std::array<std::uint64_t, 14> edges = {
      0,      1,          2,          0x7f,       0x80,         0xff,        0x7fff,
      0xffff, 0x7fffffff, 0x80000000, 0xffffffff, image.size(), ~0ull >> 1u, ~0ull};
  return edges[below(random, edges.size())];
}

void write_number(std::string& image, std::size_t at, std::uint64_t value, Random& random) {
  const std::size_t bytes =
      std::min(std::size_t{1} << (random() % 4), image.size() - std::min(at, image.size()));
  std::memcpy(image.data() + at, &value, bytes);
}

void change_once(const std::vector<Seed>& seeds, const Seed& seed, std::string& image,
                 Random& random) {
  if (image.empty()) return;
  const std::size_t at = place(seed, image, random);
  const std::size_t length = std::min(1 + below(random, 64), image.size() - at);
  const std::string& other = seeds[below(random, seeds.size())].image;
  switch (random() % 12) {
    case 0:
    case 1:
      image[at] = static_cast<char>(image[at] ^ 1 << random() % 8);
      break;
    case 2:
    case 3:
      image[at] = static_cast<char>(random());
      break;
    case 4:
    case 5:
      write_number(image, at, edge_number(image, random), random);
      break;
    case 6:
      image[at] = static_cast<char>(static_cast<std::size_t>(image[at]) + random() % 33 - 16);
      break;
    case 7:  // an address of something that is there
      write_number(image, at, place(seed, image, random) & ~std::uint64_t{7}, random);
      break;
    case 8:
      image.replace(at, length, image.substr(place(seed, image, random), length));
      break;
    case 9:
      std::fill_n(image.begin() + static_cast<std::ptrdiff_t>(at), length,
                  random() % 2 == 0 ? '\0' : '\xff');
      break;
    case 10:
      image.replace(at, length, other.substr(below(random, other.size()), length));
      break;
    default:
      // Everything behind it moves, so this is for once in a while.
      if (random() % 8 != 0) return change_once(seeds, seed, image, random);
      if (random() % 2 == 0)
        image.resize(at);
      else
        image.insert(at, other, below(random, other.size()), length);
  }
}

void change_rows(Report& report, Random& random) {
  for_each_table(report, [&random](const Table&, auto& rows) {
    if (rows.empty() || random() % 4 != 0) return;
    auto& row = rows[below(random, rows.size())];
    const std::size_t at = below(random, sizeof row);
    const std::uint64_t value = random() % 2 == 0 ? random() : ~0ull;
    std::memcpy(reinterpret_cast<char*>(&row) + at, &value,
                std::min<std::size_t>(1 + random() % 8, sizeof row - at));
  });
  if (random() % 4 == 0 && !report.strings.empty()) {
    report.strings[below(random, report.strings.size())] += static_cast<char>(random());
  }
}

}  // namespace

Seed seed_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string image(std::istreambuf_iterator<char>(file), {});
  Report report = report_of(image, path);
  std::vector<std::size_t> headers = header_blocks(image);
  return {.path = path,
          .image = std::move(image),
          .report = std::move(report),
          .headers = std::move(headers)};
}

std::string mutated(const std::vector<Seed>& seeds, std::uint64_t number) {
  Random random(number);
  const Seed& seed = seeds[below(random, seeds.size())];
  std::string image = seed.image;
  if (random() % 64 == 0) {  // writing a report takes ten times as long as reading one
    Report report = seed.report;
    change_rows(report, random);
    image = image_of(report, "mutated");
    if (random() % 2 == 0) return image;
  }
  const std::size_t changes = 1 + random() % (random() % 4 == 0 ? 16 : 3);
  for (std::size_t i = 0; i < changes; ++i) change_once(seeds, seed, image, random);
  return image;
}

}  // namespace tidemark
