//! The two goals of delta debugging.

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Goal {
    /// Something that passes and something that fails, whose difference is minimal: `dd`.
    #[default]
    Isolate,
    /// The least that fails: `ddmin`.
    Simplify,
}
