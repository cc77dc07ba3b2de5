# `cpack -G TGZ` and `cpack -G DEB`.
set(CPACK_PACKAGE_NAME tim-cl)
set(CPACK_PACKAGE_VENDOR "The TIM-CL Authors")
set(CPACK_PACKAGE_CONTACT "The TIM-CL Authors <authors@tim-cl.invalid>")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
set(CPACK_PACKAGE_FILE_NAME
    "tim-cl-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR}")

# One package with library and headers.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
# To link the archive.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "ocl-icd-opencl-dev, libclblast-dev")
include(CPack)
