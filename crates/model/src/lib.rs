//! Plain data shared by every part of Culprit: ids, values, events, sites, scenarios and their
//! outcomes, scripts, failures, class patterns, the owners of classes and agent options.
//!
//! This crate does no I/O and depends on nothing. It owns the texts that people read and write
//! (scenarios, scripts, patterns, options); `trace` owns how these values look on disk, `agent` how they
//! come to be.
#![forbid(unsafe_code)]

pub mod clean;
pub mod count;
pub mod event;
pub mod failure;
pub mod id;
pub mod literal;
pub mod observe;
pub mod options;
pub mod outcome;
pub mod owner;
pub mod scenario;
pub mod script;
pub mod secret;
pub mod shell;
pub mod site;
pub mod table;
pub mod value;

pub use event::{Event, EventKind};
pub use failure::{Catcher, Caught, Evidence, Failure, FailureKind, Losses};
pub use id::{BlobId, EventIndex, ObjectId, SiteId, ThreadId, Turn, TypeId};
pub use observe::{Pattern, Selection};
pub use options::AgentOptions;
pub use outcome::{Divergence, Got, Outcome};
pub use owner::Owner;
pub use scenario::{Actor, Scenario, Step, Tables};
pub use script::{Script, Statement};
pub use site::{Member, Site, SiteKind};
pub use table::{Numbered, Table};
pub use value::{Reference, Value};
