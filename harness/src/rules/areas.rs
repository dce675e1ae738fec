//! The list of all rules, one per area. A new area is one line here.

use super::{
    Rule, advertised, auth, cancel, changes, close, commands, config, content, delete, elicit,
    error, ext, fs, in_step, init, jsonrpc, list, load, mode, perm, plan, prompt, reqcancel,
    schema, session, terminal, terminal_cancel, toolcall, transport, update, usage,
};

/// A fresh instance of every rule.
pub(super) fn all() -> Vec<Box<dyn Rule>> {
    vec![
        Box::new(transport::Transport::default()),
        Box::new(jsonrpc::Jsonrpc::default()),
        Box::new(schema::Shape),
        Box::new(init::Handshakes::default()),
        Box::new(advertised::Advertised),
        Box::new(auth::Logins::default()),
        Box::new(session::Sessions::default()),
        Box::new(load::Loads::default()),
        Box::new(list::Lists::default()),
        Box::new(delete::Deleted::default()),
        Box::new(close::Closing::default()),
        Box::new(commands::Commands::default()),
        Box::new(config::Config::default()),
        Box::new(changes::Changes::default()),
        Box::new(mode::Modes::default()),
        Box::new(in_step::InStep::default()),
        Box::new(fs::Files::default()),
        Box::new(terminal::Terminals::default()),
        Box::new(terminal_cancel::TerminalsOfCancelledTurns::default()),
        Box::new(elicit::Elicitations::default()),
        Box::new(ext::Extensions::default()),
        Box::new(error::Errors),
        Box::new(prompt::Prompts::default()),
        Box::new(update::Updates::default()),
        Box::new(content::Content),
        Box::new(toolcall::ToolCalls::default()),
        Box::new(perm::Permission::default()),
        Box::new(cancel::Cancellation::default()),
        Box::new(reqcancel::RequestCancels::default()),
        Box::new(plan::Planning::default()),
        Box::new(usage::Usage::default()),
        // Gathers what the others found, so it is the last.
        Box::new(init::LeftOut),
    ]
}
