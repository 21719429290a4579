# What cmake --install copies, and the packages that cpack makes of it.
include(GNUInstallDirs)
install(TARGETS tidemark)
if(TARGET tidemark-gtest)
  install(TARGETS tidemark-gtest)
endif()
install(FILES "${TIDEMARK_MAN_PAGE}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${TIDEMARK_BASH_COMPLETION}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME tidemark)
install(PROGRAMS ci/nightly DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME tidemark-nightly)
install(FILES ci/nightly.sbatch DESTINATION "${CMAKE_INSTALL_DATADIR}/tidemark")
install(FILES LICENSE CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# An Open MPI outside the folders of the system is found by the installed program as by the built one. A portable program
# goes where that folder is not.
if(NOT TIDEMARK_PORTABLE)
  set_target_properties(tidemark PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

# tidemark_license(NAME FILES...): installs the first of FILES that is there as licenses/NAME.
function(tidemark_license name)
  foreach(file IN LISTS ARGN)
    if(EXISTS "${file}")
      file(REAL_PATH "${file}" file)  # a link would lead nowhere elsewhere
      install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/licenses" RENAME ${name})
      return()
    endif()
  endforeach()
  if(TIDEMARK_PORTABLE)  # it is made to be handed on
    message(FATAL_ERROR "TIDEMARK_PORTABLE=ON, but the license of ${name} was not found: looked for ${ARGN}")
  endif()
  message(STATUS "tidemark: license of ${name}: LEFT OUT (not found)")
endfunction()
set(doc /usr/share/doc)  # where Debian and Ubuntu keep them
tidemark_license(CLI11 ${doc}/libcli11-dev/copyright)
tidemark_license(fmt ${doc}/libfmt-dev/copyright)
tidemark_license(nlohmann-json ${doc}/nlohmann-json3-dev/copyright)
if(TARGET tidemark-gtest)
  tidemark_license(googletest ${doc}/libgtest-dev/copyright)
endif()
if(LIBDEFLATE_ARCHIVE)
  tidemark_license(libdeflate ${doc}/libdeflate-dev/copyright)
endif()
if(TIDEMARK_WITH_CUDA)  # its runtime
  file(GLOB cuda_licenses "${CUDAToolkit_ROOT_DIR}/EULA.txt"
    "${CUDAToolkit_BIN_DIR}/../EULA.txt" "${CUDAToolkit_BIN_DIR}/../dist-info/nvidia_cuda_runtime-*/licenses/License.txt")
  tidemark_license(cuda-runtime ${cuda_licenses})
endif()
if(TIDEMARK_PORTABLE)
  string(REGEX MATCH "^[0-9]+" gcc "${CMAKE_CXX_COMPILER_VERSION}")
  tidemark_license(hdf5 ${doc}/libhdf5-dev/copyright)
  tidemark_license(libaec ${doc}/libaec-dev/copyright)
  tidemark_license(zlib ${doc}/zlib1g-dev/copyright)
  tidemark_license(libstdc++ ${doc}/libstdc++-${gcc}-dev/copyright)
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_FILE_NAME "tidemark-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGE_VENDOR "the tidemark authors")
set(CPACK_PACKAGE_CONTACT "the tidemark authors")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS openmpi-bin)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libnccl2")  # NVIDIA's; looked up at run time
include(CPack)
