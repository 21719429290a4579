# TIDEMARK_PORTABLE: the program needs glibc, libgcc_s and Open MPI where it runs, and nothing else. ci/check_portable
#   says whether that is so. Sources are compiled as ever: a build folder that is switched is only linked anew.
# tidemark_fmt: fmt, as an archive or as it was found.
option(TIDEMARK_PORTABLE "Link HDF5, zlib, fmt and libstdc++ into the program, so that one file runs on many distributions" OFF)

if(NOT TIDEMARK_PORTABLE)
  add_library(tidemark_fmt INTERFACE)
  target_link_libraries(tidemark_fmt INTERFACE fmt::fmt)
  return()
endif()

# Debian's fmt has no archive: its own source is this one include and the templates that we call from it.
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/fmt.cpp" @ONLY CONTENT [[
#include <fmt/format-inl.h>
FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API locale_ref::locale_ref(const std::locale&);
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}
FMT_END_NAMESPACE
]])
add_library(tidemark_fmt STATIC "${CMAKE_BINARY_DIR}/fmt.cpp")
target_compile_features(tidemark_fmt PUBLIC cxx_std_20)
foreach(property IN ITEMS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES)  # all of fmt::fmt but its shared library
  set_property(TARGET tidemark_fmt PROPERTY INTERFACE_${property} $<TARGET_PROPERTY:fmt::fmt,INTERFACE_${property}>)
endforeach()

# tidemark_archive(OUT NAME PACKAGE): the path of libNAME.a.
function(tidemark_archive out name package)
  find_library(TIDEMARK_ARCHIVE_${name} lib${name}.a)
  if(NOT TIDEMARK_ARCHIVE_${name})
    message(FATAL_ERROR "TIDEMARK_PORTABLE=ON, but lib${name}.a was not found: install ${package}")
  endif()
  set(${out} "${TIDEMARK_ARCHIVE_${name}}" PARENT_SCOPE)
endfunction()
tidemark_archive(hdf5 hdf5_serial libhdf5-dev)
tidemark_archive(szip sz libaec-dev)
tidemark_archive(aec aec libaec-dev)
tidemark_archive(zlib z zlib1g-dev)
# Not FindHDF5's static libraries: they bring curl and OpenSSL for files in the cloud, which the linker then leaves out.
set(HDF5_C_LIBRARIES "${hdf5}" "${szip}" "${aec}" "${zlib}" m ${CMAKE_DL_LIBS})
set_target_properties(ZLIB::ZLIB PROPERTIES IMPORTED_LOCATION "${zlib}" IMPORTED_LOCATION_RELEASE "${zlib}")

# Not -static-libgcc: that of g++ 12 needs glibc 2.35, and every system with glibc has libgcc_s. --exclude-libs: what Open
# MPI and NCCL load later must not meet this libstdc++ or HDF5.
target_link_options(tidemark_flags INTERFACE
  $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-static-libstdc++ -Wl,--gc-sections,--exclude-libs,ALL>)
