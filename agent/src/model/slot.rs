//! The place of a session's model, which may be empty for a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Choice, Failure, Model, Server};
use crate::settings::Kind;

/// Holds a model, and opens it again when it is needed after it was unloaded.
pub(crate) struct Slot {
    choice: Mutex<Choice>,
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
            choice: Mutex::new(choice),
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
        let choice = self.choice();
        let mut open = self.lock();
        if let Some(model) = &*open {
            return Ok(Arc::clone(model));
        }
        let model: Arc<dyn Model> = Arc::from(choice.open(&self.server)?);
        *open = Some(Arc::clone(&model));
        Ok(model)
    }

    /// Gives up the model and what it holds, until it is needed again.
    pub(crate) fn unload(&self) {
        *self.lock() = None;
    }

    pub(crate) fn kind(&self) -> Kind {
        self.choice().kind
    }

    /// Takes another model from the next answer on. One that cannot be opened changes nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Choice::open`].
    pub(crate) fn change(&self, kind: Kind) -> Result<(), Failure> {
        let mut choice = self.choice();
        if choice.kind != kind {
            let other = Choice {
                kind,
                name: choice.name.clone(),
            };
            let model = other.open(&self.server)?;
            *choice = other;
            *self.lock() = Some(Arc::from(model));
        }
        Ok(())
    }

    fn choice(&self) -> MutexGuard<'_, Choice> {
        self.choice.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<dyn Model>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
