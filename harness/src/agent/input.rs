//! The agent's stdin: a queue and the task that writes what is in it, so that nobody waits on a pipe that is not read.

use std::io;
use std::sync::{Arc, OnceLock};

use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How many writes may wait.
const QUEUE: usize = 256;

/// One thing to do with stdin.
#[derive(Debug)]
enum Job {
    /// Write these bytes in as few writes as the pipe allows.
    Write(Vec<u8>),
    /// Write these bytes one by one.
    Split(Vec<u8>),
}

/// Writes to the agent in the order of the calls.
#[derive(Debug)]
pub(super) struct Input {
    jobs: std::sync::Mutex<Option<mpsc::Sender<Job>>>,
    fault: Arc<OnceLock<io::Error>>,
    task: JoinHandle<()>,
}

impl Input {
    pub(super) fn new(stdin: ChildStdin) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let fault = Arc::new(OnceLock::new());
        Self {
            jobs: std::sync::Mutex::new(Some(sender)),
            task: tokio::spawn(work(stdin, receiver, Arc::clone(&fault))),
            fault,
        }
    }

    fn jobs(&self) -> Option<mpsc::Sender<Job>> {
        self.jobs
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone()
    }

    pub(super) async fn write(&self, bytes: Vec<u8>) {
        self.queue(Job::Write(bytes)).await;
    }

    pub(super) async fn write_split(&self, bytes: Vec<u8>) {
        self.queue(Job::Split(bytes)).await;
    }

    async fn queue(&self, job: Job) {
        let sent = match self.jobs() {
            Some(jobs) => jobs.send(job).await.is_ok(),
            None => false,
        };
        if !sent {
            self.closed();
        }
    }

    /// Gives the bytes back where the queue is full.
    pub(super) fn try_write(&self, bytes: Vec<u8>) -> Result<(), Vec<u8>> {
        let Some(jobs) = self.jobs() else {
            self.closed();
            return Ok(());
        };
        match jobs.try_send(Job::Write(bytes)) {
            Err(mpsc::error::TrySendError::Full(Job::Write(bytes) | Job::Split(bytes))) => {
                Err(bytes)
            }
            Err(mpsc::error::TrySendError::Closed(_)) => {
                self.closed();
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Something was to be written after the end. The first fault stays: it says why.
    fn closed(&self) {
        let _ = self.fault.set(io::Error::new(
            io::ErrorKind::BrokenPipe,
            "the agent's stdin was closed before",
        ));
    }

    /// Closes stdin once all that was queued has been written.
    pub(super) fn close(&self) {
        self.jobs
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
    }

    pub(super) fn fault(&self) -> Option<&io::Error> {
        self.fault.get()
    }

    /// Closes stdin now, whatever is queued.
    pub(super) fn abort(&self) {
        self.close();
        self.task.abort();
    }
}

async fn work(
    mut stdin: ChildStdin,
    mut jobs: mpsc::Receiver<Job>,
    fault: Arc<OnceLock<io::Error>>,
) {
    while let Some(job) = jobs.recv().await {
        if let Err(error) = write(&mut stdin, job).await {
            let _ = fault.set(error);
            return;
        }
    }
}

async fn write(stdin: &mut ChildStdin, job: Job) -> io::Result<()> {
    match job {
        Job::Write(bytes) => stdin.write_all(&bytes).await?,
        Job::Split(bytes) => {
            for byte in bytes {
                stdin.write_all(&[byte]).await?;
                stdin.flush().await?;
                tokio::task::yield_now().await;
            }
        }
    }
    stdin.flush().await
}
