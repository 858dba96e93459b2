# Finds RDKit's C++ library, which comes without a CMake file of its own.
#
# Out: RDKit::Molecules, that which reads SMILES and molfiles.
find_path(RDKit_INCLUDE_DIR GraphMol/GraphMol.h PATH_SUFFIXES rdkit)
set(RDKit_LIBRARIES "")
set(RDKit_wanted "")
foreach(part FileParsers SmilesParse GraphMol RDGeometryLib RDGeneral)
  find_library(RDKit_${part}_LIBRARY RDKit${part})
  list(APPEND RDKit_LIBRARIES ${RDKit_${part}_LIBRARY})
  list(APPEND RDKit_wanted RDKit_${part}_LIBRARY)
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RDKit REQUIRED_VARS RDKit_INCLUDE_DIR ${RDKit_wanted})

if(RDKit_FOUND AND NOT TARGET RDKit::Molecules)
  add_library(RDKit::Molecules INTERFACE IMPORTED)
  target_include_directories(RDKit::Molecules SYSTEM INTERFACE ${RDKit_INCLUDE_DIR})
  target_link_libraries(RDKit::Molecules INTERFACE ${RDKit_LIBRARIES})
endif()
mark_as_advanced(RDKit_INCLUDE_DIR ${RDKit_wanted})
