// Reports that someone has changed: each change is refused with one line, and nothing outside the
// file is touched.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <zlib.h>

#include <array>
#include <fstream>

#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/hdf5/dataset.hpp"
#include "reports/store/hdf5/h5.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

/// A written report, opened to be changed, and what its reader then says.
struct Victim {
  ScratchFolder scratch;
  std::string path = scratch.file("a.h5");

  Victim() { write_report(example(), path); }

  template <class Change>
  std::string error_after(Change change) const {
    {
      const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "no file");
      change(static_cast<hid_t>(file));
    }
    testing::internal::CaptureStderr();
    const std::string said = error_from([&] { read_report(path); });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "HDF5 must not print";
    EXPECT_TRUE(said == "no error" || said.starts_with(path + ": ")) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
    return said;
  }
};

void write_attribute(hid_t file, const char* name, std::uint32_t value) {
  const H5Id attribute(H5Aopen(file, name, H5P_DEFAULT), H5Aclose, "no attribute");
  h5_check(H5Awrite(attribute, H5T_NATIVE_UINT32, &value), "not written");
}

/// Makes the checksum of the root attributes right again, as another program would.
void reseal(hid_t file) {
  const std::string name = "victim";
  const H5Id root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "no root");
  const Source source{.name = name, .file_bytes = 0, .bytes_left = 0};
  write_attribute(file, "attributes_crc32", checksum_of_attributes(source, root));
}

/// Writes one u32 column of one row.
void write_u32(hid_t file, const char* table, const char* column, hsize_t row,
               std::uint32_t value) {
  const H5Id dataset(H5Dopen2(file, table, H5P_DEFAULT), H5Dclose, "no table");
  const H5Id space(H5Dget_space(dataset), H5Sclose, "no space");
  const hsize_t one = 1;
  h5_check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &row, nullptr, &one, nullptr), "no row");
  const H5Id memory(H5Screate_simple(1, &one, nullptr), H5Sclose, "no space");
  const H5Id type(H5Tcreate(H5T_COMPOUND, 4), H5Tclose, "no type");
  h5_check(H5Tinsert(type, column, 0, H5T_NATIVE_UINT32), "no column");
  h5_check(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, &value), "not written");
}

/// Puts a dataset of this type and layout in the place of a table, without any rows written.
H5Id replace(hid_t file, const char* table, hid_t type, hsize_t rows, hid_t layout) {
  h5_check(H5Ldelete(file, table, H5P_DEFAULT), "not deleted");
  const H5Id space(H5Screate_simple(1, &rows, nullptr), H5Sclose, "no space");
  return {H5Dcreate2(file, table, type, space, H5P_DEFAULT, layout, H5P_DEFAULT), H5Dclose,
          "no table"};
}

H5Id layout_list() { return {H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "no list"}; }

TEST(HostileReport, UnchangedItIsRead) {
  EXPECT_EQ(Victim().error_after([](hid_t) {}), "no error");
}

TEST(HostileReport, AnotherMajorVersionIsRefusedByName) {
  const std::string error =
      Victim().error_after([](hid_t file) { write_attribute(file, "schema_major", 3); });
  EXPECT_TRUE(has(error, fmt::format(": is schema 3.{1}; this tidemark reads {0}.{1}; use a "
                                     "tidemark of the version",
                                     kSchemaMajor, kSchemaMinor)))
      << error;
}

TEST(HostileReport, OneOfBeforeTheFixedLayoutHasToBeMadeAnew) {
  const std::string error = Victim().error_after([](hid_t file) {
    write_attribute(file, "schema_major", 0);
    write_attribute(file, "schema_minor", 1);
  });
  EXPECT_TRUE(has(error, fmt::format(": is schema 0.1; this tidemark reads {}.{}; make the report "
                                     "anew: ",
                                     kSchemaMajor, kSchemaMinor)))
      << error;
}

TEST(HostileReport, ALaterMinorVersionIsReadWithItsNewColumnsAndTablesIgnored) {
  const std::string error = Victim().error_after([](hid_t file) {
    write_attribute(file, "schema_minor", kSchemaMinor + 1);
    // What a later version might do: one more attribute, one more table, and one more column in
    // front of the others.
    const H5Id scalar(H5Screate(H5S_SCALAR), H5Sclose, "no space");
    H5Id(H5Acreate2(file, "site", H5T_STD_U32LE, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "no");
    write_attribute(file, "site", 7);
    reseal(file);
    const H5Id more(H5Gcreate2(file, "waivers", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                    "no group");
    const H5Id type(H5Tcreate(H5T_COMPOUND, 12), H5Tclose, "no type");
    h5_check(H5Tinsert(type, "newer", 0, H5T_STD_U32LE), "no column");
    h5_check(H5Tinsert(type, "value", 4, H5T_STD_U32LE), "no column");
    h5_check(H5Tinsert(type, "key", 8, H5T_STD_U32LE), "no column");
    const H5Id dataset = replace(file, "provenance", type, 3, H5P_DEFAULT);
    const std::array<std::uint32_t, 9> rows{};
    h5_check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()), "not written");
  });
  EXPECT_EQ(error, "no error");
}

TEST(HostileReport, AnUnknownTableOfOurVersionIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    const H5Id more(H5Gcreate2(file, "extra", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                    "no group");
  }),
                  "holds 'extra', which is no table of a report"));
}

TEST(HostileReport, AMissingTableIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) { H5Ldelete(file, "samples", H5P_DEFAULT); }),
                  "the table 'samples' is missing"));
}

TEST(HostileReport, AMissingAttributeIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) { H5Adelete(file, "seed"); }),
                  "without the attribute 'seed'"));
}

TEST(HostileReport, AnotherFormatIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    const H5Id attribute(H5Aopen(file, "format", H5P_DEFAULT), H5Aclose, "no attribute");
    h5_check(H5Awrite(attribute, text_type(15), "tidemark-rapport"), "not written");
  }),
                  "'format' is not 'tidemark-report'"));
}

TEST(HostileReport, AMissingColumnIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    const H5Id type(H5Tcreate(H5T_COMPOUND, 4), H5Tclose, "no type");
    h5_check(H5Tinsert(type, "key", 0, H5T_STD_U32LE), "no column");
    replace(file, "provenance", type, 1, H5P_DEFAULT);
  }),
                  "table 'provenance' has no column 'value'"));
}

TEST(HostileReport, AColumnOfAnotherTypeIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    const H5Id type(H5Tcreate(H5T_COMPOUND, 12), H5Tclose, "no type");
    h5_check(H5Tinsert(type, "key", 0, H5T_STD_U32LE), "no column");
    h5_check(H5Tinsert(type, "value", 4, H5T_STD_U64LE), "no column");
    replace(file, "provenance", type, 1, H5P_DEFAULT);
  }),
                  "column 'value' of table 'provenance' is not u32"));
}

TEST(HostileReport, TextOfVariableLengthIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    H5Id text(H5Tcopy(H5T_C_S1), H5Tclose, "no type");
    h5_check(H5Tset_size(text, H5T_VARIABLE), "no size");
    const H5Id type(H5Tcreate(H5T_COMPOUND, 8 + H5Tget_size(text)), H5Tclose, "no type");
    h5_check(H5Tinsert(type, "key", 0, H5T_STD_U32LE), "no column");
    h5_check(H5Tinsert(type, "value", 4, H5T_STD_U32LE), "no column");
    h5_check(H5Tinsert(type, "more", 8, text), "no column");
    replace(file, "provenance", type, 1, H5P_DEFAULT);
  }),
                  "'provenance' holds types that reports do not have"));
}

/// Where the offset of a column of `gpus` stands in the file.
std::size_t place_of_offset(const std::string& image) {
  // Version 1 of a compound: name padded with NUL to eight bytes, then its offset, four bytes.
  const std::string name("app_sm_mhz\0\0\0\0\0\0", 16);
  return image.find(name) + name.size();
}

TEST(HostileReport, AColumnBeyondItsRowIsRefused) {
  std::string image = image_of(example(), "image");
  image[place_of_offset(image) + 2] = '\x7f';  // HDF5 alone would copy from there
  EXPECT_TRUE(has(error_from([&] { report_of(image, "image"); }),
                  "'gpus' holds types that reports do not have"));
}

TEST(HostileReport, OpaqueBytesAreRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    const H5Id type(H5Tcreate(H5T_OPAQUE, 8), H5Tclose, "no type");
    replace(file, "samples", type, 1, H5P_DEFAULT);
  }),
                  "'samples' holds types that reports do not have"));
}

TEST(HostileReport, DataInAnotherFileIsRefusedAndNotRead) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    const H5Id layout = layout_list();
    h5_check(H5Pset_external(layout, "/etc/os-release", 0, 64), "no external storage");
    replace(file, "strings", H5T_STD_U8LE, 64, layout);
  }),
                  "'strings' takes its data from another file"));
}

TEST(HostileReport, AVirtualDatasetIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    const H5Id layout = layout_list();
    const hsize_t rows = 4;
    const H5Id space(H5Screate_simple(1, &rows, nullptr), H5Sclose, "no space");
    h5_check(H5Pset_virtual(layout, space, "/tmp/other.h5", "strings", space), "not virtual");
    replace(file, "strings", H5T_STD_U8LE, rows, layout);
  }),
                  "'strings' is a virtual dataset, of rows in other files"));
}

TEST(HostileReport, LinksThatLeadElsewhereAreRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    H5Ldelete(file, "events", H5P_DEFAULT);
    H5Lcreate_external("/tmp/other.h5", "/events", file, "events", H5P_DEFAULT, H5P_DEFAULT);
  }),
                  "'events' is a link that leads elsewhere"));
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    H5Ldelete(file, "events", H5P_DEFAULT);
    H5Lcreate_soft("/results", file, "events", H5P_DEFAULT, H5P_DEFAULT);
  }),
                  "'events' is a link that leads elsewhere"));
}

TEST(HostileReport, AFilterThatReportsDoNotUseIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    const H5Id layout = layout_list();
    const hsize_t chunk = 4;
    h5_check(H5Pset_chunk(layout, 1, &chunk), "no chunks");
    h5_check(H5Pset_fletcher32(layout), "no checksum");
    replace(file, "strings", H5T_STD_U8LE, 4, layout);
  }),
                  "'strings' is packed by a filter that reports do not use"));
}

TEST(HostileReport, RowsThatWereNeverWrittenAreRefused) {
  for (const bool chunked : {true, false}) {
    EXPECT_TRUE(has(Victim().error_after([chunked](hid_t file) {
      const H5Id layout = layout_list();
      const hsize_t chunk = 4;
      if (chunked) h5_check(H5Pset_chunk(layout, 1, &chunk), "no chunks");
      replace(file, "strings", H5T_STD_U8LE, 8, layout);
    }),
                    "rows of 'strings' are missing or cannot be unpacked"));
  }
}

/// Puts these bytes in the place of the first chunk of `results`.
void write_chunk(hid_t file, std::uint32_t filters_left_out, const std::string& bytes) {
  const H5Id dataset(H5Dopen2(file, "results", H5P_DEFAULT), H5Dclose, "no table");
  const hsize_t first = 0;
  h5_check(
      H5Dwrite_chunk(dataset, H5P_DEFAULT, filters_left_out, &first, bytes.size(), bytes.data()),
      "not written");
}

TEST(HostileReport, AChunkShorterThanItsRowsIsRefused) {
  constexpr std::uint32_t kBothFilters = 3;
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    write_chunk(file, kBothFilters, "ten bytes.");  // HDF5 would copy what lies behind them
  }),
                  "rows of 'results' are missing or cannot be unpacked"));
}

TEST(HostileReport, AChunkThatCannotBeInflatedIsRefused) {
  EXPECT_TRUE(has(Victim().error_after(
                      [](hid_t file) { write_chunk(file, 0, "this is not what deflate makes"); }),
                  "rows of 'results' are missing or cannot be unpacked"));
}

TEST(HostileReport, ALargerChunkThanItsRowsIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    const std::string zeros(100000, '\0');
    std::string packed(1000, '\0');
    uLongf bytes = packed.size();
    ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &bytes,
                       reinterpret_cast<const Bytef*>(zeros.data()), zeros.size()),
              Z_OK);
    packed.resize(bytes);
    write_chunk(file, 0, packed);
  }),
                  "rows of 'results' are missing or cannot be unpacked"));
}

TEST(HostileReport, AClaimOfMoreRowsThanTheFileCanHoldIsRefused) {
  for (const hsize_t rows : {hsize_t{90'000'000}, hsize_t{1} << 40}) {
    const std::string error = Victim().error_after([rows](hid_t file) {
      const H5Id layout = layout_list();
      const hsize_t chunk = 1024;
      h5_check(H5Pset_chunk(layout, 1, &chunk), "no chunks");
      replace(file, "strings", H5T_STD_U8LE, rows, layout);
    });
    EXPECT_TRUE(has(error, fmt::format("'strings' claims {} rows", rows))) << error;
  }
}

TEST(HostileReport, ATableOfTwoDimensionsIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    h5_check(H5Ldelete(file, "strings", H5P_DEFAULT), "not deleted");
    const std::array<hsize_t, 2> extent = {2, 2};
    const H5Id space(H5Screate_simple(2, extent.data(), nullptr), H5Sclose, "no space");
    H5Id(H5Dcreate2(file, "strings", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
         H5Dclose, "no table");
  }),
                  "'strings' is not a list of rows"));
}

TEST(HostileReport, AGroupInPlaceOfATableIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    H5Ldelete(file, "events", H5P_DEFAULT);
    H5Id(H5Gcreate2(file, "events", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "no group");
  }),
                  "'events' cannot be opened as a table"));
}

TEST(HostileReport, IndicesThatLeadNowhereAreRefused) {
  EXPECT_TRUE(
      has(Victim().error_after([](hid_t file) { write_u32(file, "results", "reason", 2, 100000); }),
          "row 2 of table 'results': column 'reason' refers to a row that is not there"));
  EXPECT_TRUE(
      has(Victim().error_after([](hid_t file) { write_u32(file, "results", "gpu_id", 0, 2); }),
          "row 0 of table 'results': column 'gpu_id' refers"));
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) { write_u32(file, "metrics", "n", 0, 7); }),
                  "a metric refers to samples that are not there"));
  EXPECT_TRUE(has(Victim().error_after(
                      [](hid_t file) { write_u32(file, "string_index", "length", 1, 0xffffffff); }),
                  "string 1 does not lie where it should"));
}

TEST(HostileReport, CountsOfAnSmThatCannotBeAreRefused) {
  const auto after = [](const char* column, hsize_t row, std::uint32_t value) {
    return Victim().error_after([&](hid_t file) { write_u32(file, "sms", column, row, value); });
  };
  EXPECT_TRUE(has(after("sm", 1, 65535), "SM 65535 of GPU 0 is beyond any GPU's"));
  EXPECT_TRUE(has(after("rows_run", 0, 0), "SM 0 of GPU 0 is listed without a row that ran"));
  EXPECT_TRUE(has(after("rows_failed", 0, 25), "SM 0 of GPU 0 has more rows that failed than"));
  EXPECT_TRUE(has(after("sm", 0, 2), "SM 2 of GPU 0 is listed twice or out of order"));
  EXPECT_TRUE(has(after("gpu_id", 0, 1), "SM 2 of GPU 0 is listed twice or out of order"));
  EXPECT_TRUE(has(after("gpu_id", 0, 7), "table 'sms': column 'gpu_id' refers to a row"));
}

TEST(HostileReport, SmsOfAnotherShapeAreRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    h5_check(H5Ldelete(file, "sms", H5P_DEFAULT), "not deleted");
    const std::array<hsize_t, 2> extent = {2, 132};
    const H5Id space(H5Screate_simple(2, extent.data(), nullptr), H5Sclose, "no space");
    const H5Id type = row_type(table_of<SmRow>(), Side::file);
    H5Id(H5Dcreate2(file, "sms", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
         "no table");
  }),
                  "'sms' is not a list of rows"));
}

TEST(HostileReport, ATableThatCameLaterThanItsVersionIsRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    write_attribute(file, "schema_minor", 0);
    reseal(file);
  }),
                  "holds 'answers', which is no table of a report"));
}

TEST(HostileReport, ResultsThatAreNotThePlannedOnesAreRefused) {
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    write_u32(file, "results", "gpu_id", 0, 1);  // now twice on GPU 1, never on GPU 0
  }),
                  "result 1 is there twice"));
  EXPECT_TRUE(
      has(Victim().error_after([](hid_t file) { write_u32(file, "results", "result_id", 0, 5); }),
          "row 0 of table 'results' is not numbered so"));
  EXPECT_TRUE(has(Victim().error_after([](hid_t file) {
    write_attribute(file, "gpus", 3);
    reseal(file);
  }),
                  "tells of 3 GPUs and lists 2"));
}

TEST(HostileReport, AVerdictThatIsNoneIsRefused) {
  Report report = example();
  report.results[0].verdict = static_cast<Verdict>(200);
  std::string image = image_of(report, "image");
  EXPECT_TRUE(
      has(error_from([&] { report_of(image, "image"); }), "column 'verdict' is no verdict"));
}

}  // namespace
}  // namespace tidemark
