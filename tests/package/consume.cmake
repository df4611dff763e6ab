# Installs the build into a fresh prefix, then builds and runs consumers: one that knows only the
# prefix, and one that has the source tree as a subdirectory.
set(prefix ${BUILD_DIR}/package/prefix)
set(consumer ${BUILD_DIR}/package/consumer)
set(subdirectory ${BUILD_DIR}/package/subdirectory)
file(REMOVE_RECURSE ${BUILD_DIR}/package)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${consumer} -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${consumer})
run(${consumer}/consumer)
run(${consumer}/recorder_consumer)
run(${consumer}/testing_consumer)

# Builds what links the recorder, and so nothing of Interlock.
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${subdirectory} -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DSOURCE=${SOURCE_DIR})
run(${CMAKE_COMMAND} --build ${subdirectory})
run(${subdirectory}/recorder_consumer)
