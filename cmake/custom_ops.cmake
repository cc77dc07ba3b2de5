# Targets tim-cl-custom-ops (as tim-vx shared or not) and
# tim-cl-custom-ops-static: the operators of custom_ops/, compiled and linked
# like a client's.
function(tim_cl_custom_ops_library kind suffix)
  set(target tim-cl-custom-ops${suffix})
  add_library(${target} ${kind} ${TIM_CL_CUSTOM_OPS})
  tim_cl_compile_options(${target})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PUBLIC tim-vx${suffix})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME tim-cl-custom-ops
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  add_library(tim-cl::${target} ALIAS ${target})
endfunction()

if(TIM_CL_CUSTOM_OPS)
  tim_cl_custom_ops_library(STATIC -static)
  if(BUILD_SHARED_LIBS)
    tim_cl_custom_ops_library(SHARED "")
  else()
    add_library(tim-cl-custom-ops INTERFACE)
    target_link_libraries(tim-cl-custom-ops INTERFACE tim-cl-custom-ops-static)
    add_library(tim-cl::tim-cl-custom-ops ALIAS tim-cl-custom-ops)
  endif()
endif()
