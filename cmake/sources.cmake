# The same globs as the BUILD files.
function(tim_cl_glob variable)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS
       RELATIVE "${PROJECT_SOURCE_DIR}" ${ARGN})
  list(SORT found)
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

tim_cl_glob(TIM_CL_SOURCES src/*.cc ops/*.cc)
tim_cl_glob(TIM_CL_MODELS src/models/*.cc)
if(TIM_CL_MODELS)
  list(REMOVE_ITEM TIM_CL_SOURCES ${TIM_CL_MODELS})
endif()
tim_cl_glob(TIM_CL_KERNELS src/kernels/*.cl src/kernels/*.clh
            ops/*.cl ops/*.clh)
file(GLOB TIM_CL_OPERATORS CONFIGURE_DEPENDS
     RELATIVE "${PROJECT_SOURCE_DIR}" ops/*/*.cc)
tim_cl_glob(TIM_CL_GRAPH_OPS src/graph_api/ops/*.cc)
tim_cl_glob(TIM_CL_CUSTOM_OPS custom_ops/*.cc)
# The template is a library and a program of its own, as a user's is.
tim_cl_glob(TIM_CL_CUSTOM_OP_TEMPLATE custom_ops/template/*.cc)
list(REMOVE_ITEM TIM_CL_CUSTOM_OPS ${TIM_CL_CUSTOM_OP_TEMPLATE})
tim_cl_glob(TIM_CL_TOOL tools/timcl/*.cc)

# Read by the test that compares the two builds.
string(REPLACE ";" "\n" listing
       "${TIM_CL_SOURCES};${TIM_CL_MODELS};${TIM_CL_KERNELS};${TIM_CL_CUSTOM_OPS};${TIM_CL_CUSTOM_OP_TEMPLATE}")
file(WRITE "${PROJECT_BINARY_DIR}/tim-vx-sources.txt" "${listing}\n")

if(TIM_CL_SOURCE_GENERATOR)
  set(generator "${TIM_CL_SOURCE_GENERATOR}")
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(FATAL_ERROR "Cross build: build tim-cl-generate-sources for this "
                      "machine and set TIM_CL_SOURCE_GENERATOR to it")
else()
  tim_cl_glob(generator_sources tools/generator/*.cc src/kernels/text/*.cc)
  add_executable(tim-cl-generate-sources
    tools/generate_sources.cc ${generator_sources} src/base/status.cc)
  target_include_directories(tim-cl-generate-sources PRIVATE
    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  set_target_properties(tim-cl-generate-sources PROPERTIES
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  set(generator tim-cl-generate-sources)
endif()

# tim_cl_generate(<out.cc> <sub-command> <files...>): `files` are relative to
# the project, as is the folder in which the generator runs.
function(tim_cl_generate out command)
  add_custom_command(
    OUTPUT "${out}"
    COMMAND ${generator} ${command} "${out}" ${ARGN}
    DEPENDS ${generator} ${ARGN}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Generating ${command}"
    VERBATIM)
endfunction()

set(TIM_CL_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${TIM_CL_GENERATED_DIR}/binary"
     "${TIM_CL_GENERATED_DIR}/models/tflite")
tim_cl_generate("${TIM_CL_GENERATED_DIR}/register_all_operators.cc" operators
                ${TIM_CL_OPERATORS})
tim_cl_generate("${TIM_CL_GENERATED_DIR}/register_all_ops.cc" graph_ops
                ${TIM_CL_GRAPH_OPS})
tim_cl_generate("${TIM_CL_GENERATED_DIR}/embedded_sources.cc" kernels
                ${TIM_CL_KERNELS})

# graph.fbs of src/<folder> makes <folder>/graph_generated.h; `variable` lists
# those of the folder.
function(tim_cl_tables variable folder)
  tim_cl_glob(tables src/${folder}/*.fbs)
  set(headers "")
  foreach(table IN LISTS tables)
    get_filename_component(stem "${table}" NAME_WE)
    set(header "${TIM_CL_GENERATED_DIR}/${folder}/${stem}_generated.h")
    add_custom_command(
      OUTPUT "${header}"
      COMMAND "${TIM_CL_FLATC}" --cpp --cpp-std c++17 --scoped-enums
              -o "${TIM_CL_GENERATED_DIR}/${folder}" "${table}"
      DEPENDS ${tables}
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      COMMENT "Generating ${stem}_generated.h"
      VERBATIM)
    list(APPEND headers "${header}")
  endforeach()
  set(${variable} "${headers}" PARENT_SCOPE)
endfunction()
tim_cl_tables(TIM_CL_TABLE_HEADERS binary)
tim_cl_tables(TIM_CL_MODEL_HEADERS models/tflite)
