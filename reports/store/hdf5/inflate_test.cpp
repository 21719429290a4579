// Both libraries that may undo deflate, on good bytes and bad ones.
#include "reports/store/hdf5/dataset.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

namespace tidemark {
namespace {

std::string deflated(const std::string& text) {
  std::string made(compressBound(text.size()), '\0');
  uLongf bytes = made.size();
  compress2(reinterpret_cast<Bytef*>(made.data()), &bytes,
            reinterpret_cast<const Bytef*>(text.data()), text.size(), 4);
  made.resize(bytes);
  return made;
}

std::string by_either(const std::string& packed, std::size_t most) {
  std::string made = "rest of the chunk before", zlib = made;
  inflate(packed, made, most);
  inflate_by_zlib(packed, zlib, most);
  EXPECT_EQ(made, zlib);
  return made;
}

TEST(Inflate, GivesBackWhatWasDeflated) {
  std::string text(100'000, '\0');
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < text.size(); i += 3) text[i] = static_cast<char>(random() % 5);
  EXPECT_EQ(by_either(deflated(text), text.size()), text);
  EXPECT_EQ(by_either(deflated(text), text.size() + 10), text);
  EXPECT_EQ(by_either(deflated(""), 10), "");
}

TEST(Inflate, GivesNothingOfWhatIsLongerDamagedOrCut) {
  const std::string packed = deflated("the rows of a chunk, the rows of a chunk");
  EXPECT_EQ(by_either(packed, 39), "");
  std::string damaged = packed;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);  // its checksum
  EXPECT_EQ(by_either(damaged, 40), "");
  EXPECT_EQ(by_either(packed.substr(0, packed.size() - 5), 40), "");
  EXPECT_EQ(by_either("this is not what deflate makes", 40), "");
  EXPECT_EQ(by_either("", 40), "");
}

}  // namespace
}  // namespace tidemark
