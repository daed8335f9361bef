//! Locks that outlive a panic: a poisoned lock would take the program's threads with it.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub(crate) trait LockSafe<T> {
    fn lock_safe(&self) -> MutexGuard<'_, T>;
}

impl<T> LockSafe<T> for Mutex<T> {
    fn lock_safe(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) trait ShareSafe<T> {
    fn lock_read(&self) -> RwLockReadGuard<'_, T>;
    fn lock_write(&self) -> RwLockWriteGuard<'_, T>;
}

impl<T> ShareSafe<T> for RwLock<T> {
    fn lock_read(&self) -> RwLockReadGuard<'_, T> {
        self.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_write(&self) -> RwLockWriteGuard<'_, T> {
        self.write().unwrap_or_else(PoisonError::into_inner)
    }
}
