// No line of CMakeLists.txt names this folder.
