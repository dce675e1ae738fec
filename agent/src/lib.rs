//! The reference agent.
