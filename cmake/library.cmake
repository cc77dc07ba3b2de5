# Targets tim-vx (shared unless BUILD_SHARED_LIBS is off) and tim-vx-static.
# Files: libtim-cl.so.N and libtim-cl.a, with links under TIM-VX's names.

function(tim_cl_compile_options target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON)
  # Results must not depend on what the compiler fuses. Error messages name
  # source files, but not where they lay.
  target_compile_options(${target} PRIVATE
    -Wall -Wextra $<$<BOOL:${TIM_CL_WARNINGS_AS_ERRORS}>:-Werror>
    -ffp-contract=off
    "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
    "-ffile-prefix-map=${PROJECT_BINARY_DIR}/=")
endfunction()

function(tim_cl_internal_includes target)
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src"
    "${PROJECT_SOURCE_DIR}/include" "${TIM_CL_GENERATED_DIR}")
  target_include_directories(${target} SYSTEM PRIVATE
    ${TIM_CL_DEPENDENCY_DIRS} ${OpenCL_INCLUDE_DIRS})
endfunction()

function(tim_cl_public_interface target)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include")
  target_compile_features(${target} PUBLIC cxx_std_14)
  target_link_libraries(${target} PRIVATE
    OpenCL::OpenCL ${TIM_CL_CLBLAST} Threads::Threads ${CMAKE_DL_LIBS})
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
  ${TIM_CL_SOURCES} ${TIM_CL_TABLE_HEADERS}
  "${TIM_CL_GENERATED_DIR}/register_all_operators.cc"
  "${TIM_CL_GENERATED_DIR}/register_all_ops.cc"
  "${TIM_CL_GENERATED_DIR}/embedded_sources.cc")
target_compile_definitions(tim-vx-objects PRIVATE
  TIM_CL_VERSION="${PROJECT_VERSION}")
tim_cl_compile_options(tim-vx-objects)
tim_cl_internal_includes(tim-vx-objects)
# What the public headers mark is visible; clients choose for themselves.
set_target_properties(tim-vx-objects PROPERTIES
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
set(TIM_CL_EXPORTS "${PROJECT_SOURCE_DIR}/cmake/exports.map")

# tim_cl_archive(<target> <name> <exports> <object libraries...>): the archive
# lib<name>.a, their objects as one, in which only what <exports> lists is global.
function(tim_cl_archive target name exports)
  set(object "${PROJECT_BINARY_DIR}/${name}.o")
  set(objects ${ARGN})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  set(script "${PROJECT_SOURCE_DIR}/tools/sdk/link_object.sh")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND ${CMAKE_COMMAND} -E env
            "CC=${CMAKE_CXX_COMPILER}" "NM=${CMAKE_NM}"
            "OBJCOPY=${CMAKE_OBJCOPY}"
            "${script}" "${object}" "${exports}" ${objects}
    DEPENDS ${objects} "${exports}" "${script}"
    COMMENT "Linking ${name}.o"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties("${object}" PROPERTIES
    EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${target} STATIC "${object}")
  add_dependencies(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME ${name})
endfunction()

function(tim_cl_static_library target)
  tim_cl_archive(${target} tim-cl "${TIM_CL_EXPORTS}" tim-vx-objects)
  tim_cl_public_interface(${target})
  tim_cl_link_name(${target} libtim-vx.a)
endfunction()

function(tim_cl_shared_library target)
  add_library(${target} SHARED $<TARGET_OBJECTS:tim-vx-objects>)
  tim_cl_public_interface(${target})
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINK_DEPENDS "${TIM_CL_EXPORTS}")
  target_link_libraries(${target} PRIVATE
    "-Wl,--version-script=${TIM_CL_EXPORTS}" "-Wl,-z,defs")
  tim_cl_link_name(${target} libtim-vx.so)
endfunction()

if(BUILD_SHARED_LIBS)
  tim_cl_shared_library(tim-vx)
  tim_cl_static_library(tim-vx-static)
else()
  tim_cl_static_library(tim-vx)
  add_library(tim-vx-static INTERFACE)
  target_link_libraries(tim-vx-static INTERFACE tim-vx)
endif()

# The names of the installed packages.
foreach(name tim-cl tim-vx)
  add_library(${name}::${name} ALIAS tim-vx)
  add_library(${name}::${name}-static ALIAS tim-vx-static)
endforeach()
