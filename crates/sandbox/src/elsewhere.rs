//! Systems without seccomp.

use std::io;

use crate::Permissions;

/// No filter.
#[derive(Clone, Debug)]
pub struct Filter(std::convert::Infallible);

/// Why there is none.
#[derive(Debug)]
pub struct FilterError;

impl std::fmt::Display for FilterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "this system has no seccomp")
    }
}

impl std::error::Error for FilterError {}

impl Filter {
    pub fn is_available() -> bool {
        false
    }

    pub fn for_launch(_: Permissions) -> Result<Filter, FilterError> {
        Err(FilterError)
    }

    pub fn allowed(_: Permissions) -> Result<Vec<i64>, FilterError> {
        Err(FilterError)
    }

    pub fn ignored(_: Permissions) -> Vec<i64> {
        Vec::new()
    }

    pub fn for_seal(_: u32) -> Result<Filter, FilterError> {
        Err(FilterError)
    }

    pub fn enter(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn enter_with_all_threads(&self) -> Result<(), FilterError> {
        match self.0 {}
    }
}
