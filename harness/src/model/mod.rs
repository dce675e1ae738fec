//! The scripted model: a model server on loopback whose replies a scenario dictates.

pub mod script;
