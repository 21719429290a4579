# tidemark_unity(TARGET): with TIDEMARK_UNITY the C++ files of a folder are compiled as one, so that headers and the templates of
# libraries are read and instantiated once: a third of the time from scratch, but the whole folder again after a change of one file.
# Files of one folder may then not define one name twice, each for itself. Folders, not batches: a new file moves no other one.
option(TIDEMARK_UNITY "Compile the C++ files of each folder of reports/ and harness/ at once" OFF)
function(tidemark_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TIDEMARK_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
