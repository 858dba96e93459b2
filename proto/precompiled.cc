// Holds nothing: the precompiled headers of CMakeLists.txt need a source to be compiled with.
