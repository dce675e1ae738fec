//! The scripted model: a model server on loopback whose replies a scenario dictates.
//!
//! One script serves every interface. What a request asks is read into a neutral form (`asked`), the script and the
//! rules about side requests say which reply it gets (`turns`, `side`), the reply becomes neutral pieces (`reply`,
//! with tool calls mapped to the agent's own tools by `tools`), and only the interfaces (`interface`) know how requests
//! and pieces look on the wire. `server`, `door` and `exchange` move the bytes.

mod asked;
mod cassette;
mod door;
mod exchange;
mod family;
mod interface;
mod job;
mod parts;
pub(crate) mod prompt;
mod proxy;
mod reply;
pub mod script;
mod server;
mod sessions;
mod side;
mod state;
mod tool_map;
mod tools;
mod turns;
mod variables;

pub(crate) use cassette::{Cassette, NOT_RECORDED};
pub(crate) use proxy::{ModelProxy, Reach, Witness};
pub use proxy::{Upstream, Upstreams};
pub use server::ModelServer;
pub use state::{ModelState, Unmapped};
pub use tool_map::{ToolMap, ToolUse};
pub(crate) use tools::is_mcp_offered;
