# tidemark_unity(TARGET): with TIDEMARK_UNITY six C++ files of the target are compiled as one, so that headers and the templates
# of their libraries are read and instantiated once: a third of the time from scratch, but six files again after a change
# of one. Files of a target may then not define one name twice, each for itself.
option(TIDEMARK_UNITY "Compile six C++ files of reports/ and harness/ at once" OFF)
function(tidemark_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TIDEMARK_UNITY} UNITY_BUILD_BATCH_SIZE 6)
endfunction()
