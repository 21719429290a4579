// What a person reads where NCCL is missing, too old or failing.
#include "kernels/cuda/transport/nccl_api.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tidemark {
namespace {

std::string words_of(const char* library) {
  try {
    (void)load_nccl(library);
  } catch (const Error& error) {
    return error.what();
  }
  return "loaded";
}

TEST(LoadNccl, SaysWhichLibraryIsMissingAndWhatToDo) {
  const std::string words = words_of("libnccl_that_is_nowhere.so.2");

  EXPECT_NE(words.find("libnccl_that_is_nowhere.so.2"), std::string::npos) << words;
  EXPECT_NE(words.find("LD_LIBRARY_PATH"), std::string::npos) << words;
}

TEST(LoadNccl, SaysWhichFunctionALibraryLacks) {
  const std::string words = words_of("libc.so.6");

  EXPECT_NE(words.find("ncclGetErrorString"), std::string::npos) << words;
  EXPECT_NE(words.find("2.14"), std::string::npos) << words;
}

const char* say_broken(ncclResult_t) { return "it broke"; }
const char* say_where(ncclComm_t) { return "peer 3 hung up"; }

TEST(NcclCheck, GivesNcclsOwnWords) {
  NcclApi api;
  api.get_error_string = say_broken;
  api.get_last_error = say_where;

  try {
    nccl_check(api, ncclRemoteError, "gather panel 0");
    FAIL() << "an error passed";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "gather panel 0: NCCL: it broke (6): peer 3 hung up");
  }
}

TEST(NcclCheck, InProgressIsNoFailure) {
  EXPECT_NO_THROW(nccl_check(NcclApi{}, ncclInProgress, "gather panel 0"));
}

}  // namespace
}  // namespace tidemark
