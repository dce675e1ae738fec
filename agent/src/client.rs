//! The client at the other end of the wire: what a session sends to it.

use std::sync::Arc;

use agent_client_protocol::{self as acp, JsonRpcMessage, JsonRpcNotification, UntypedMessage, v1};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::transport::Gate;
use crate::update;

/// A handle on the client; cheap to clone.
#[derive(Clone)]
pub(crate) struct Client {
    connection: v1::ConnectionTo<acp::Client>,
    gate: Arc<Gate>,
}

impl Client {
    pub(crate) fn new(connection: v1::ConnectionTo<acp::Client>, gate: Arc<Gate>) -> Self {
        Self { connection, gate }
    }

    /// Waits until one more update may be queued. One update has to follow.
    pub(crate) async fn ready(&self) {
        self.gate.enter().await;
    }

    /// Takes the place for one update without waiting, where nothing may wait.
    pub(crate) fn owe(&self) {
        self.gate.enter_now();
    }

    /// Sends one `session/update`, after [`Self::ready`] or [`Self::owe`]. A client that is gone
    /// is noticed elsewhere.
    pub(crate) fn send(&self, session: &Arc<str>, update: Update) {
        let _ = self.connection.send_notification(SessionUpdate {
            session: Arc::clone(session),
            update,
        });
    }

    /// Sends a notification that is no update of a session.
    pub(crate) fn notify(&self, method: &str, params: Value) {
        let _ = self.connection.send_notification(UntypedMessage {
            method: method.to_owned(),
            params,
        });
    }

    /// Sends a request. The answer is awaited by a task of its own: a turn that stops waiting must
    /// not make the SDK send `$/cancel_request`, which it does when a waiter is dropped.
    pub(crate) fn ask(
        &self,
        method: &str,
        params: Value,
    ) -> oneshot::Receiver<Result<Value, acp::Error>> {
        let (tell, answer) = oneshot::channel();
        let message = UntypedMessage {
            method: method.to_owned(),
            params,
        };
        let sent = self.connection.send_request(message);
        tokio::spawn(async move {
            let _ = tell.send(sent.block_task().await);
        });
        answer
    }
}

/// A `session/update` notification, written member by member: the SDK's types leave out members
/// that hold their default, which `bob` always sends.
#[derive(Clone, Debug)]
struct SessionUpdate {
    session: Arc<str>,
    update: Update,
}

/// What a `session/update` holds.
#[derive(Clone, Debug)]
pub(crate) enum Update {
    /// A fragment of a message. Written out only when it is sent: there are many of these.
    Chunk(Chunk),
    /// Anything else, as it stands on the wire.
    Other(Value),
}

/// A fragment of a message of the agent.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) is_thought: bool,
    pub(crate) text: String,
    /// The message, on a surface that names them.
    pub(crate) message: Option<Arc<str>>,
}

impl Update {
    /// The payload, as it stands on the wire.
    pub(crate) fn on_the_wire(&self) -> Value {
        match self {
            Self::Chunk(chunk) => update::chunk(chunk),
            Self::Other(update) => update.clone(),
        }
    }
}

impl JsonRpcMessage for SessionUpdate {
    fn matches_method(method: &str) -> bool {
        method == "session/update"
    }

    fn method(&self) -> &str {
        "session/update"
    }

    fn to_untyped_message(&self) -> Result<UntypedMessage, acp::Error> {
        let mut params = Map::new();
        params.insert("sessionId".to_owned(), (&*self.session).into());
        params.insert("update".to_owned(), self.update.on_the_wire());
        Ok(UntypedMessage {
            method: self.method().to_owned(),
            params: Value::Object(params),
        })
    }

    fn parse_message(_method: &str, _params: &Value) -> Result<Self, acp::Error> {
        Err(acp::Error::method_not_found())
    }
}

impl JsonRpcNotification for SessionUpdate {}
