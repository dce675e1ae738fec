//! Several agents, or several builds of one, side by side: requirements against agents.

mod change;
mod markdown;
mod table;
mod text;

pub use change::{Change, Way};
pub use markdown::markdown;
pub use table::{Cell, Column, Row, Table};
pub use text::text;
