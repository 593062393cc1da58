//! A config in, the stages in order, a record out.
