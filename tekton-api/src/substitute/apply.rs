//! Which fields of which type are subject to substitution.
