// A shared library without the function that plug-ins have.
extern "C" int NoPlugin() { return 0; }
