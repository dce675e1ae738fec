//! The place of a session's model, which may be empty for a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Choice, Failure, Model, Server};

/// Holds a model, and opens it again when it is needed after it was unloaded.
pub(crate) struct Slot {
    choice: Choice,
    server: Server,
    open: Mutex<Option<Arc<dyn Model>>>,
}

impl Slot {
    /// Opens the model at once, so that a wrong choice is noticed with it.
    ///
    /// # Errors
    ///
    /// Those of [`Choice::open`].
    pub(crate) fn new(choice: Choice, server: Server) -> Result<Self, Failure> {
        let model = choice.open(&server)?;
        Ok(Self {
            choice,
            server,
            open: Mutex::new(Some(Arc::from(model))),
        })
    }

    /// The model.
    ///
    /// # Errors
    ///
    /// Those of [`Choice::open`].
    pub(crate) fn get(&self) -> Result<Arc<dyn Model>, Failure> {
        let mut open = self.lock();
        if let Some(model) = &*open {
            return Ok(Arc::clone(model));
        }
        let model: Arc<dyn Model> = Arc::from(self.choice.open(&self.server)?);
        *open = Some(Arc::clone(&model));
        Ok(model)
    }

    /// Gives up the model and what it holds, until it is needed again.
    pub(crate) fn unload(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<dyn Model>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
