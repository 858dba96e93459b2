// Owns the precompiled Torch headers; see CMakeLists.txt.
