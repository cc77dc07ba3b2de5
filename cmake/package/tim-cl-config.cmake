# Targets tim-cl::tim-cl and tim-cl::tim-cl-static, of the ready-made custom
# operators tim-cl::tim-cl-custom-ops and tim-cl::tim-cl-custom-ops-static, and of
# the importers of model files tim-cl::tim-cl-models and
# tim-cl::tim-cl-models-static: component "models" of find_package().
# Paths are relative to this file: the tree may be moved.
get_filename_component(_tim_cl_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_tim_cl_prefix "${_tim_cl_prefix}/../../.." ABSOLUTE)

# Only the archives need them at link time.
find_package(OpenCL QUIET)
find_package(Threads QUIET)

function(_tim_cl_import target kind file)
  if(NOT TARGET ${target})
    add_library(${target} ${kind} IMPORTED)
    set_target_properties(${target} PROPERTIES
      IMPORTED_LOCATION "${_tim_cl_prefix}/lib/${file}"
      INTERFACE_INCLUDE_DIRECTORIES "${_tim_cl_prefix}/include"
      INTERFACE_COMPILE_FEATURES cxx_std_14
      INTERFACE_LINK_LIBRARIES "${ARGN}")
  endif()
endfunction()

# _tim_cl_targets(<target> <library> SHARED <needs...> STATIC <needs...>): makes
# <target>-static, and <target> of the shared library where there is one.
function(_tim_cl_targets target library)
  cmake_parse_arguments(needs "" "" "SHARED;STATIC" ${ARGN})
  _tim_cl_import(${target}-static STATIC ${library}.a ${needs_STATIC})
  if(EXISTS "${_tim_cl_prefix}/lib/${library}.so")
    _tim_cl_import(${target} SHARED ${library}.so ${needs_SHARED})
  else()
    _tim_cl_import(${target} STATIC ${library}.a ${needs_STATIC})
  endif()
endfunction()

set(_tim_cl_system clblast OpenCL::OpenCL Threads::Threads ${CMAKE_DL_LIBS})
_tim_cl_targets(tim-cl::tim-cl libtim-cl STATIC ${_tim_cl_system})
# _tim_cl_part(<name> <what it needs>): targets of lib/libtim-cl-<name>.
function(_tim_cl_part name needs)
  set(tim-cl_${name}_FOUND FALSE PARENT_SCOPE)
  if(EXISTS "${_tim_cl_prefix}/lib/libtim-cl-${name}.a")
    set(tim-cl_${name}_FOUND TRUE PARENT_SCOPE)
    _tim_cl_targets(tim-cl::tim-cl-${name} libtim-cl-${name}
                    SHARED ${needs} STATIC ${needs}-static)
  endif()
endfunction()
_tim_cl_part(custom-ops tim-cl::tim-cl)
_tim_cl_part(models tim-cl::tim-cl-custom-ops)
foreach(_tim_cl_part IN LISTS tim-cl_FIND_COMPONENTS)
  if(tim-cl_FIND_REQUIRED_${_tim_cl_part} AND NOT tim-cl_${_tim_cl_part}_FOUND)
    set(tim-cl_FOUND FALSE)
    set(tim-cl_NOT_FOUND_MESSAGE
        "${_tim_cl_prefix} has no component ${_tim_cl_part}")
  endif()
endforeach()
