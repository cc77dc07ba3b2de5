# Targets tim-cl::tim-cl and tim-cl::tim-cl-static, and where the custom
# operators are installed tim-cl::tim-cl-custom-ops, the same way. Paths are
# relative to this file: the tree may be moved.
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

# Makes <target>-static, and <target> of the shared library where there is one.
function(_tim_cl_targets target)
  set(system OpenCL::OpenCL Threads::Threads ${CMAKE_DL_LIBS})
  _tim_cl_import(${target}-static STATIC libtim-cl.a ${system})
  if(EXISTS "${_tim_cl_prefix}/lib/libtim-cl.so")
    _tim_cl_import(${target} SHARED libtim-cl.so)
  else()
    _tim_cl_import(${target} STATIC libtim-cl.a ${system})
  endif()
endfunction()

_tim_cl_targets(tim-cl::tim-cl)
