//! Literals, printed and compiled, give back the value they were printed for.
