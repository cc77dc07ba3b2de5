# Targets tim-vx (shared unless BUILD_SHARED_LIBS is off) and tim-vx-static.
# Files: libtim-cl.so.N and libtim-cl.a, with links under TIM-VX's names.

function(tim_cl_compile_options target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON)
  # Results must not depend on what the compiler fuses.
  target_compile_options(${target} PRIVATE
    -Wall -Wextra $<$<BOOL:${TIM_CL_WARNINGS_AS_ERRORS}>:-Werror>
    -ffp-contract=off)
endfunction()

function(tim_cl_internal_includes target)
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src"
    "${PROJECT_SOURCE_DIR}/include")
  target_include_directories(${target} SYSTEM PRIVATE
    ${TIM_CL_DEPENDENCY_DIRS} ${OpenCL_INCLUDE_DIRS})
endfunction()

function(tim_cl_public_interface target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} PUBLIC cxx_std_14)
  target_link_libraries(${target} PRIVATE
    OpenCL::OpenCL Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME tim-cl)
endfunction()

# The archive or library under its TIM-VX name, beside the file itself.
function(tim_cl_link_name target name)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink
            $<TARGET_LINKER_FILE_NAME:${target}> ${name}
    WORKING_DIRECTORY $<TARGET_FILE_DIR:${target}>
    VERBATIM)
endfunction()

add_library(tim-vx-objects OBJECT
  ${TIM_CL_SOURCES}
  "${TIM_CL_GENERATED_DIR}/register_all_operators.cc"
  "${TIM_CL_GENERATED_DIR}/embedded_sources.cc")
tim_cl_compile_options(tim-vx-objects)
tim_cl_internal_includes(tim-vx-objects)

add_library(tim-vx $<TARGET_OBJECTS:tim-vx-objects>)
tim_cl_public_interface(tim-vx)
add_library(tim-vx::tim-vx ALIAS tim-vx)

if(BUILD_SHARED_LIBS)
  set(map "${PROJECT_SOURCE_DIR}/cmake/exports.map")
  set_target_properties(tim-vx PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINK_DEPENDS "${map}")
  target_link_libraries(tim-vx PRIVATE
    "-Wl,--version-script=${map}" "-Wl,-z,defs")
  tim_cl_link_name(tim-vx libtim-vx.so)

  add_library(tim-vx-static STATIC $<TARGET_OBJECTS:tim-vx-objects>)
  tim_cl_public_interface(tim-vx-static)
  tim_cl_link_name(tim-vx-static libtim-vx.a)
else()
  add_library(tim-vx-static INTERFACE)
  target_link_libraries(tim-vx-static INTERFACE tim-vx)
  tim_cl_link_name(tim-vx libtim-vx.a)
endif()
add_library(tim-vx::tim-vx-static ALIAS tim-vx-static)

if(TIM_CL_CUSTOM_OPS)
  add_library(tim-cl-custom-ops ${TIM_CL_CUSTOM_OPS})
  tim_cl_compile_options(tim-cl-custom-ops)
  target_include_directories(tim-cl-custom-ops PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(tim-cl-custom-ops PUBLIC tim-vx)
  set_target_properties(tim-cl-custom-ops PROPERTIES INSTALL_RPATH "$ORIGIN")
  add_library(tim-vx::tim-cl-custom-ops ALIAS tim-cl-custom-ops)
endif()
