// RDKit does not free a molecule whose molfile it refuses. The leak sanitizer is to tell of our own leaks only.

// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions();
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() { return "leak:libRDKit\n"; }
