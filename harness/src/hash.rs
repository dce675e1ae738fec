//! Maps and sets for what is looked up for every message: their hash is fast, and seeded anew in each process.

use foldhash::fast::RandomState;

/// A map with the fast hash.
pub type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A set with the fast hash.
pub type HashSet<T> = std::collections::HashSet<T, RandomState>;

/// A map in the order of insertion, with the fast hash.
pub type IndexMap<K, V> = indexmap::IndexMap<K, V, RandomState>;
