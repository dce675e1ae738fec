//! The port of the scripted model, which can be closed and opened again.

use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// How many connections may wait to be accepted.
const BACKLOG: u32 = 256;

/// A listener on loopback. While it is shut, the port stays bound, so that connections are refused and nobody else
/// takes the port.
#[derive(Debug)]
pub(crate) struct Door {
    address: SocketAddr,
    runtime: Handle,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    leaf: Leaf,
    /// Ends when the door is shut: connections without a request close then.
    open: CancellationToken,
    waker: Option<Waker>,
}

#[derive(Debug)]
enum Leaf {
    Open(TcpListener),
    /// Bound and not listening.
    Shut(TcpSocket),
    Gone,
}

impl Door {
    /// Opens a port; 0 for one of the system's choice. Must be called within a runtime.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn open(port: u16) -> io::Result<Self> {
        let listener = bound(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?.listen(BACKLOG)?;
        Ok(Self {
            address: listener.local_addr()?,
            runtime: Handle::try_current().map_err(io::Error::other)?,
            state: Mutex::new(State {
                leaf: Leaf::Open(listener),
                open: CancellationToken::new(),
                waker: None,
            }),
        })
    }

    /// Where it is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection, and a token that ends when the door is shut.
    pub(crate) async fn accept(&self) -> io::Result<(TcpStream, CancellationToken)> {
        poll_fn(|context| {
            let mut state = self.state();
            state.waker = Some(context.waker().clone());
            let Leaf::Open(listener) = &state.leaf else {
                return Poll::Pending;
            };
            listener
                .poll_accept(context)
                .map_ok(|(stream, _)| (stream, state.open.clone()))
        })
        .await
    }

    /// From now on connections are refused, or accepted again; gives whether they are refused only since now.
    ///
    /// # Errors
    /// What the system says about the port.
    pub(crate) fn set(&self, shut: bool) -> io::Result<bool> {
        let _runtime = self.runtime.enter();
        let mut state = self.state();
        let mut newly_shut = false;
        match (std::mem::replace(&mut state.leaf, Leaf::Gone), shut) {
            (Leaf::Open(listener), true) => {
                drop(listener);
                state.open.cancel();
                state.leaf = Leaf::Shut(bound(self.address)?);
                newly_shut = true;
            }
            (Leaf::Shut(socket), false) => {
                state.open = CancellationToken::new();
                state.leaf = Leaf::Open(socket.listen(BACKLOG)?);
            }
            (leaf, _) => state.leaf = leaf,
        }
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
        Ok(newly_shut)
    }

    /// Gives up the port for good.
    pub(crate) fn remove(&self) {
        let mut state = self.state();
        state.leaf = Leaf::Gone;
        state.open.cancel();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    // Connections that ended a moment ago must not keep the port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}
