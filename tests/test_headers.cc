// Nothing but the headers that all tests share, for the compiler to read once.
