# The program timcl, with its own copy of the library, and its pages.
tim_cl_glob(TIM_CL_TOOL_PAGE tools/timcl/page/* tools/timcl/scripts/*)
tim_cl_generate("${TIM_CL_GENERATED_DIR}/page_parts.cc" page
                ${TIM_CL_TOOL_PAGE})
add_executable(tim-cl-tool
  ${TIM_CL_TOOL} "${TIM_CL_GENERATED_DIR}/page_parts.cc"
  $<TARGET_OBJECTS:tim-vx-objects>)
tim_cl_compile_options(tim-cl-tool)
tim_cl_internal_includes(tim-cl-tool)
target_compile_definitions(tim-cl-tool PRIVATE
  TIM_CL_VERSION="${PROJECT_VERSION}")
target_link_libraries(tim-cl-tool PRIVATE
  OpenCL::OpenCL ${TIM_CL_CLBLAST} Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(tim-cl-tool PROPERTIES OUTPUT_NAME timcl)

if(TIM_CL_BUILD_MODELS)
  target_sources(tim-cl-tool PRIVATE
    $<TARGET_OBJECTS:tim-cl-models-objects> ${TIM_CL_CUSTOM_OPS})
  target_compile_definitions(tim-cl-tool PRIVATE TIM_CL_MODELS)
endif()

# Pictures as inputs.
find_path(TIM_CL_STB_DIR stb/stb_image.h)
find_library(TIM_CL_STB_ARCHIVE libstb.a)
mark_as_advanced(TIM_CL_STB_DIR TIM_CL_STB_ARCHIVE)
if(TIM_CL_STB_DIR AND TIM_CL_STB_ARCHIVE)
  target_compile_definitions(tim-cl-tool PRIVATE TIM_CL_PICTURES)
  target_link_libraries(tim-cl-tool PRIVATE "${TIM_CL_STB_ARCHIVE}")
else()
  message(STATUS "libstb was not found (Debian's libstb-dev): timcl reads no "
                 "pictures")
endif()
install(TARGETS tim-cl-tool RUNTIME DESTINATION bin)

# Made of its options, by the program itself.
if(CMAKE_CROSSCOMPILING)
  message(STATUS "Cross build: timcl's man page and completions are not made")
else()
  set(pages "${PROJECT_BINARY_DIR}/tool")
  file(MAKE_DIRECTORY "${pages}")
  foreach(page man bash)
    add_custom_command(
      OUTPUT "${pages}/${page}"
      COMMAND sh -c "\"$1\" pages ${page} >\"$2\"" sh
              $<TARGET_FILE:tim-cl-tool> "${pages}/${page}"
      DEPENDS tim-cl-tool
      COMMENT "Generating timcl's page for ${page}"
      VERBATIM)
  endforeach()
  add_custom_target(tim-cl-tool-pages ALL
                    DEPENDS "${pages}/man" "${pages}/bash")
  install(FILES "${pages}/man" DESTINATION share/man/man1 RENAME timcl.1)
  install(FILES "${pages}/bash" DESTINATION share/bash-completion/completions
          RENAME timcl)
endif()
