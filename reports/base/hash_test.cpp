// SipHash-2-4 against the vectors of its authors.
#include "reports/base/hash.hpp"

#include <gtest/gtest.h>
#include <string>

namespace tidemark {
namespace {

TEST(SipHash, GivesWhatItsAuthorsSay) {
  constexpr SipKey kKey = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string text;
  EXPECT_EQ(siphash(kKey, text), 0x726fdb47dd0e0e31U);
  for (char c = 0; c < 15; ++c) text.push_back(c);
  EXPECT_EQ(siphash(kKey, text),
            0xa129ca6149be45e5U);  // appendix A of the paper
}

}  // namespace

}  // namespace tidemark
