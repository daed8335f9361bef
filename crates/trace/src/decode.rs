//! Reads records where they are made: in the JVM whose threads write them. Knows the sites and
//! types that were defined so far, and nothing of files.

use culprit_model::site::TypeDef;
use culprit_model::{EventKind, Site, SiteId, Value};

use crate::allowance::Allowance;
use crate::codec::{Cursor, Malformed};
use crate::record::{Layout, Record, record};
use crate::{Numbered, Table};

/// Sites and types, and the records that they explain.
#[derive(Debug, Default)]
pub struct Decoder {
    sites: Table<LaidOut>,
    types: Table<TypeDef>,
}

/// A record of a thread.
#[derive(Clone, PartialEq, Debug)]
pub enum Decoded {
    /// An event. The site may be 0, which is nobody's.
    Event {
        /// The kind of the event.
        kind: EventKind,
        /// Its site.
        site: SiteId,
        /// With what.
        values: Vec<Value>,
    },
    /// So many open calls ended unseen.
    Unwound(u32),
}

/// A site and the layout of its records.
#[derive(Debug)]
struct LaidOut {
    site: Site,
    layout: Layout,
}

impl Numbered for LaidOut {
    fn number(&self) -> u32 {
        self.site.id.0
    }
}

impl Decoder {
    /// Defines a site, in the place of an earlier one of the same number.
    pub fn add_site(&mut self, site: Site) {
        let layout = Layout::of(&site);
        self.sites.insert(LaidOut { site, layout });
    }

    /// Defines a type, in the place of an earlier one of the same number.
    pub fn add_type(&mut self, class: TypeDef) {
        self.types.insert(class);
    }

    /// The site of a number.
    pub fn site(&self, id: SiteId) -> Option<&Site> {
        self.sites.get(id.0).map(|known| &known.site)
    }

    /// The types that were defined.
    pub fn types(&self) -> &Table<TypeDef> {
        &self.types
    }

    /// The records of a thread, in order; `Err` tells what was expected where they make no sense.
    pub fn decode(&self, bytes: &[u8]) -> Result<Vec<Decoded>, &'static str> {
        let allowance = Allowance::unlimited();
        let mut cursor = Cursor::new(bytes, &allowance);
        let mut decoded = Vec::new();
        while !cursor.is_empty() {
            let one = self.one(&mut cursor).map_err(|Malformed(what)| what)?;
            decoded.extend(one);
        }
        Ok(decoded)
    }

    fn one(&self, cursor: &mut Cursor<'_>) -> Result<Option<Decoded>, Malformed> {
        let (kind, site) = match record(cursor)? {
            Record::Event(kind, site) => (kind, site),
            Record::Unwound(count) => return Ok(Some(Decoded::Unwound(count))),
            Record::Turn(_) | Record::Gap { .. } | Record::Pad => return Ok(None),
        };
        let layout = match self.sites.get(site.0) {
            Some(known) => &known.layout,
            None => &Layout::UNKNOWN,
        };
        let values = layout.values(kind, cursor, &self.types)?;
        Ok(Some(Decoded::Event { kind, site, values }))
    }
}
