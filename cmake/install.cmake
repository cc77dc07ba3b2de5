# The installed tree, the same as that of `bazel build //:sdk`; it may be moved.
# lib/ on every machine: clients spell it out.
set(archive tim-vx)
if(BUILD_SHARED_LIBS)
  set(archive tim-vx-static)
  install(TARGETS tim-vx LIBRARY DESTINATION lib)
  install(FILES "$<TARGET_FILE_DIR:tim-vx>/libtim-vx.so" DESTINATION lib)
endif()
install(TARGETS ${archive} ARCHIVE DESTINATION lib)
install(FILES "$<TARGET_FILE_DIR:${archive}>/libtim-vx.a" DESTINATION lib)
install(DIRECTORY include/ DESTINATION include
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(parts custom-ops)
if(TIM_CL_BUILD_MODELS)
  list(APPEND parts models)
endif()
foreach(part IN LISTS parts)
  install(TARGETS tim-cl-${part}-static ARCHIVE DESTINATION lib)
  if(BUILD_SHARED_LIBS)
    install(TARGETS tim-cl-${part} LIBRARY DESTINATION lib)
  endif()
endforeach()
install(DIRECTORY custom_ops/ DESTINATION include/tim/custom_ops
        FILES_MATCHING PATTERN "*.h" PATTERN template EXCLUDE)
install(DIRECTORY custom_ops/template/
        DESTINATION share/tim-cl/custom_op_template PATTERN BUILD EXCLUDE)
install(FILES cmake/tim_plugin.map DESTINATION share/tim-cl)
# As they lie in the sources, so that links between them hold.
set(documents share/doc/tim-cl)
install(FILES CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md
              THIRD_PARTY_LICENSES
        DESTINATION ${documents})
install(FILES bench/README.md DESTINATION ${documents}/bench)
install(DIRECTORY docs samples DESTINATION ${documents}
        PATTERN BUILD EXCLUDE PATTERN build EXCLUDE PATTERN __pycache__ EXCLUDE)

# lib/pkgconfig/NAME.pc and NAME-static.pc, of TEMPLATE.
function(tim_cl_install_pkg_config NAME TEMPLATE)
  set(VERSION ${PROJECT_VERSION})
  set(folder "${PROJECT_BINARY_DIR}/package")
  foreach(kind "" -static)
    configure_file(cmake/package/${TEMPLATE}${kind}.pc.in
                   "${folder}/${NAME}${kind}.pc" @ONLY)
    install(FILES "${folder}/${NAME}${kind}.pc" DESTINATION lib/pkgconfig)
  endforeach()
endfunction()

function(tim_cl_install_package NAME)
  set(VERSION ${PROJECT_VERSION})
  set(MAJOR ${PROJECT_VERSION_MAJOR})
  set(folder "${PROJECT_BINARY_DIR}/package")
  tim_cl_install_pkg_config(${NAME} package)
  configure_file(cmake/package/config-version.cmake.in
                 "${folder}/${NAME}-config-version.cmake" @ONLY)
  install(FILES cmake/package/${NAME}-config.cmake
                "${folder}/${NAME}-config-version.cmake"
          DESTINATION lib/cmake/${NAME})
endfunction()
tim_cl_install_package(tim-cl)
tim_cl_install_package(tim-vx)
foreach(part IN LISTS parts)
  tim_cl_install_pkg_config(tim-cl-${part} ${part})
endforeach()
