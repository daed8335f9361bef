//! What the steps of a scenario call its types and sites. Printer and parser ask the same tables,
//! so what one writes the other finds.

use std::collections::BTreeMap;

use super::word;
use crate::scenario::Tables;
use crate::{EventKind, Site, SiteId, TypeId};

pub(crate) const CONSTRUCTOR: &str = "<init>";

/// Names of everything in the tables.
#[derive(Debug, Default)]
pub(crate) struct ScenarioNames {
    types: BTreeMap<TypeId, TypeName>,
    /// Types by their whole names, and by those without package.
    whole: BTreeMap<String, Lookup<TypeId>>,
    simple: BTreeMap<String, Lookup<TypeId>>,
    sites: BTreeMap<SiteId, SiteName>,
    labels: BTreeMap<String, Vec<SiteId>>,
}

#[derive(Debug)]
struct TypeName {
    text: String,
    constants: Vec<String>,
}

#[derive(Debug)]
struct SiteName {
    /// The one that is written, and others that are understood; none where there is no name.
    labels: Vec<String>,
    site: Site,
}

/// The result of looking up a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lookup<T> {
    One(T),
    Several,
    None,
}

impl ScenarioNames {
    pub(crate) fn of(tables: &Tables) -> ScenarioNames {
        let mut names = ScenarioNames::default();
        for class in &tables.types {
            add(&mut names.whole, word::class(&class.name), class.id);
            if let Some(simple) = word::simple_class(&class.name) {
                add(&mut names.simple, simple, class.id);
            }
        }
        for class in &tables.types {
            let text = names.text_of(class.id, &class.name);
            let constants = class.constants.clone();
            let name = TypeName { text, constants };
            names.types.entry(class.id).or_insert(name);
        }
        for site in &tables.sites {
            let labels = labels(site);
            for label in &labels {
                let sites = names.labels.entry(label.clone()).or_default();
                sites.push(site.id);
            }
            let site = site.clone();
            let name = SiteName { labels, site };
            names.sites.entry(name.site.id).or_insert(name);
        }
        names
    }

    /// The shortest text that stands for this type and no other.
    fn text_of(&self, id: TypeId, name: &str) -> String {
        let texts = [word::simple_class(name), Some(word::class(name))];
        let mut texts = texts.into_iter().flatten();
        texts
            .find(|text| self.find_type(text) == Lookup::One(id))
            .unwrap_or_else(|| numbered(id))
    }

    /// A type as the steps write it.
    pub(crate) fn type_text(&self, id: TypeId) -> String {
        let known = self.types.get(&id);
        known.map_or_else(|| numbered(id), |known| known.text.clone())
    }

    /// The type of a text: a whole name comes before one without package.
    pub(crate) fn find_type(&self, text: &str) -> Lookup<TypeId> {
        let found = self.whole.get(text).or_else(|| self.simple.get(text));
        found.copied().unwrap_or(Lookup::None)
    }

    /// The constants of an enum.
    pub(crate) fn constants(&self, id: TypeId) -> &[String] {
        self.types.get(&id).map_or(&[], |known| &known.constants)
    }

    pub(crate) fn site(&self, id: SiteId) -> Option<&Site> {
        self.sites.get(&id).map(|known| &known.site)
    }

    /// What a site may be called.
    pub(crate) fn labels(&self, id: SiteId) -> &[String] {
        self.sites.get(&id).map_or(&[], |known| &known.labels)
    }

    /// The site of a label, for a kind of step.
    pub(crate) fn find_site(&self, label: &str, kind: EventKind) -> Lookup<SiteId> {
        let labelled = self.labels.get(label).map_or(&[][..], Vec::as_slice);
        let fits = |id: &&SiteId| self.site(**id).is_some_and(|site| site.has_events(kind));
        let mut fitting = labelled.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(id), None) => Lookup::One(*id),
            (Some(_), Some(_)) => Lookup::Several,
            (None, _) => Lookup::None,
        }
    }
}

fn add(map: &mut BTreeMap<String, Lookup<TypeId>>, text: String, id: TypeId) {
    let found = map.entry(text).or_insert(Lookup::One(id));
    if *found != Lookup::One(id) {
        *found = Lookup::Several;
    }
}

fn numbered(id: TypeId) -> String {
    format!("@{}", id.0)
}

/// A site's target as people call it, without its package and with it. Elements of arrays have
/// no name.
fn labels(site: &Site) -> Vec<String> {
    let (owner, name) = (&site.target.owner, &site.target.name);
    if owner.is_empty() && name.is_empty() {
        return Vec::new();
    }
    let mut labels: Vec<String> = [word::simple_class(owner), Some(word::class(owner))]
        .into_iter()
        .flatten()
        .map(|owner| label(&owner, name))
        .collect();
    labels.dedup();
    labels
}

/// A member of a class that is written already.
pub(crate) fn label(owner: &str, name: &str) -> String {
    if name == CONSTRUCTOR {
        format!("new {owner}")
    } else {
        format!("{owner}.{}", word::word(name))
    }
}
