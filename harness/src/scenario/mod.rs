//! A scenario: a stimulus with expectations, written as a file.

pub mod file;
