//! Weaving ahead of time (`culprit instrument`): the class is woven where no JVM runs, and
//! carries, in an attribute that JVMs ignore, all that the agent needs to take it over.
//!
//! Site numbers are unique in a JVM, which is not known yet. So woven code pushes them by integer
//! constants that nothing else in the class uses; the agent gives the sites numbers of its own and
//! writes these into the constants.
//!
//! The attribute, all numbers big-endian: u8 version; u64 fingerprint of the probes; u32 length
//! and bytes of the class file before weaving; u8 flags (1 observed, 2 instances carry an id, 4
//! kin); u16 count of sites, each u16 constant, u8 kind, u8 static, u16 line plus one or 0, and
//! texts: method, descriptor, source, owner, name, descriptor of the target; u16 count of skipped
//! methods, each two texts. A text is u16 length and UTF-8. Where version or fingerprint are others
//! than the agent's, only what comes before the flags is used: the class is woven anew from that.

use culprit_classfile::{Attribute, ClassFile};
use culprit_model::{Member, Site, SiteId, SiteKind};

use crate::probe;
use crate::{Error, Settings, SiteNumbers, World, Woven};

/// The name of the attribute.
pub const ATTRIBUTE: &str = "culprit.Woven";
const VERSION: u8 = 1;
const OBSERVED: u8 = 1;
const HAS_ID: u8 = 2;
const KIN: u8 = 4;
/// Constants for sites start at a multiple of this; small numbers would not be constants.
const BLOCK: i32 = 1 << 16;

/// The decisions about a class, made ahead of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassPlan {
    pub observed: bool,
    /// Instances carry an id: the class got the field, or inherits it.
    pub has_id: bool,
    /// Related by inheritance to an observed class without being observed.
    pub kin: bool,
}

/// A class woven ahead of time.
#[derive(Debug)]
pub struct Prepared {
    pub bytes: Vec<u8>,
    /// Methods that stay as they were, each with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Weaves a class ahead of time.
pub fn prepare(
    original: &[u8],
    world: &dyn World,
    settings: Settings<'_>,
    part: ClassPlan,
) -> Result<Prepared, Error> {
    let class = ClassFile::parse(original)?;
    let numbers = SiteNumbers::starting_at(free_block(&class)? as u32);
    let woven = if part.observed {
        crate::observed(class, world, settings, &numbers)?
    } else {
        crate::outside(class, world, settings, &numbers)?
    };
    let mut class = ClassFile::parse(&woven.bytes)?;
    let mut sites = Vec::new();
    for site in woven.sites {
        sites.push((class.pool.add_integer(site.id.0 as i32)?, site));
    }
    let name = class.pool.add_utf8(ATTRIBUTE)?;
    class.attributes.push(Attribute {
        name,
        bytes: encode(original, part, &sites, &woven.skipped)?,
    });
    Ok(Prepared {
        bytes: class.write()?,
        skipped: woven.skipped,
    })
}

/// A block of integers that the class does not use as constants.
fn free_block(class: &ClassFile) -> Result<i32, Error> {
    let used: Vec<i32> = (1..class.pool.count())
        .filter_map(|index| class.pool.integer(index as u16).ok())
        .map(|value| value.div_euclid(BLOCK))
        .collect();
    (1..i32::MAX / BLOCK)
        .find(|block| !used.contains(block))
        .map(|block| block * BLOCK)
        .ok_or(Error::Ahead("the class uses too many integers"))
}

/// Whether a class was woven ahead of time.
pub fn is_prepared(class: &ClassFile) -> bool {
    class.attribute(ATTRIBUTE).is_some()
}

/// The class file before weaving, of a class that was woven ahead of time.
pub fn original(class: &ClassFile) -> Option<&[u8]> {
    let (original, _) = head(&mut Input(&class.attribute(ATTRIBUTE)?.bytes)).ok()?;
    Some(original)
}

/// The class file before weaving, of a class that was woven for other probes than ours.
pub fn foreign(bytes: &[u8]) -> Option<Vec<u8>> {
    // Parsing every class that loads only for this would cost more.
    if !bytes
        .windows(ATTRIBUTE.len())
        .any(|part| part == ATTRIBUTE.as_bytes())
    {
        return None;
    }
    let class = ClassFile::parse(bytes).ok()?;
    let ours = head(&mut Input(&class.attribute(ATTRIBUTE)?.bytes)).is_ok_and(|head| head.1);
    (!ours).then(|| original(&class).map(<[u8]>::to_vec))?
}

/// The class file before weaving, and whether the rest of the attribute is for our probes.
fn head<'a>(input: &mut Input<'a>) -> Result<(&'a [u8], bool), Error> {
    let made_for = (input.u8()?, input.u64()?);
    let length = input.u32()?;
    let original = input.take(length as usize)?;
    Ok((original, made_for == (VERSION, probe::fingerprint())))
}

/// A class woven ahead of time whose sites have numbers of this JVM.
#[derive(Debug)]
pub struct Settled {
    pub woven: Woven,
    pub part: ClassPlan,
    /// The class file before weaving.
    pub original: Vec<u8>,
}

/// Takes a class over that was woven ahead of time; `None` for any other class.
pub fn settle(class: &ClassFile, numbers: &SiteNumbers) -> Result<Option<Settled>, Error> {
    let Some(attribute) = class.attribute(ATTRIBUTE) else {
        return Ok(None);
    };
    let mut input = Input(&attribute.bytes);
    let (original, ours) = head(&mut input)?;
    if !ours {
        return Err(Error::Ahead("the class was woven for other probes"));
    }
    let flags = input.u8()?;
    let mut class = class.clone();
    let name = class.name()?.into_owned();
    let mut sites = Vec::new();
    for _ in 0..input.u16()? {
        let (constant, mut site) = input.site(&name)?;
        site.id = numbers.next();
        class.pool.set_integer(constant, site.id.0 as i32)?;
        sites.push(site);
    }
    let mut skipped = Vec::new();
    for _ in 0..input.u16()? {
        skipped.push((input.text()?, input.text()?));
    }
    let kept = |a: &Attribute| !a.is(&class.pool, ATTRIBUTE);
    class.attributes = class
        .attributes
        .iter()
        .filter(|a| kept(a))
        .cloned()
        .collect();
    Ok(Some(Settled {
        woven: Woven {
            bytes: class.write()?,
            sites,
            // The class file has the bodies already; nobody is to add them.
            references: Vec::new(),
            skipped,
        },
        part: ClassPlan {
            observed: flags & OBSERVED != 0,
            has_id: flags & HAS_ID != 0,
            kin: flags & KIN != 0,
        },
        original: original.to_vec(),
    }))
}

fn encode(
    original: &[u8],
    part: ClassPlan,
    sites: &[(u16, Site)],
    skipped: &[(String, String)],
) -> Result<Vec<u8>, Error> {
    let mut out = vec![VERSION];
    out.extend(probe::fingerprint().to_be_bytes());
    let length = u32::try_from(original.len()).map_err(|_| TOO_LARGE)?;
    out.extend(length.to_be_bytes());
    out.extend(original);
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(flag(part.observed, OBSERVED) | flag(part.has_id, HAS_ID) | flag(part.kin, KIN));
    out.extend(count(sites.len())?);
    for (constant, site) in sites {
        out.extend(constant.to_be_bytes());
        out.extend([kind_number(site.kind), u8::from(site.is_static)]);
        let line = site.line.map_or(0, |line| line.saturating_add(1));
        out.extend(line.to_be_bytes());
        let texts = [
            site.method.as_str(),
            &site.descriptor,
            site.source.as_deref().unwrap_or_default(),
            &site.target.owner,
            &site.target.name,
            &site.target.descriptor,
        ];
        for text in texts {
            put_text(&mut out, text)?;
        }
    }
    out.extend(count(skipped.len())?);
    for (method, why) in skipped {
        put_text(&mut out, method)?;
        put_text(&mut out, why)?;
    }
    Ok(out)
}

const TOO_LARGE: Error = Error::Ahead("the class is too large");
const CUT_SHORT: Error = Error::Ahead("the attribute culprit.Woven is malformed");

fn count(length: usize) -> Result<[u8; 2], Error> {
    u16::try_from(length)
        .map(u16::to_be_bytes)
        .map_err(|_| TOO_LARGE)
}

fn put_text(out: &mut Vec<u8>, text: &str) -> Result<(), Error> {
    out.extend(count(text.len())?);
    out.extend(text.as_bytes());
    Ok(())
}

const KINDS: [SiteKind; 5] = [
    SiteKind::Entry,
    SiteKind::Call,
    SiteKind::Callee,
    SiteKind::Field,
    SiteKind::Array,
];

fn kind_number(kind: SiteKind) -> u8 {
    KINDS.iter().position(|k| *k == kind).unwrap_or(0) as u8
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(CUT_SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<u64, Error> {
        let digits = self.take(bytes)?.iter();
        Ok(digits.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.number(1)? as u8)
    }

    fn u16(&mut self) -> Result<u16, Error> {
        Ok(self.number(2)? as u16)
    }

    fn u32(&mut self) -> Result<u32, Error> {
        Ok(self.number(4)? as u32)
    }

    fn u64(&mut self) -> Result<u64, Error> {
        self.number(8)
    }

    fn text(&mut self) -> Result<String, Error> {
        let length = self.u16()?;
        let bytes = self.take(length.into())?;
        String::from_utf8(bytes.to_vec()).map_err(|_| CUT_SHORT)
    }

    fn site(&mut self, class: &str) -> Result<(u16, Site), Error> {
        let constant = self.u16()?;
        let kind = *KINDS.get(usize::from(self.u8()?)).ok_or(CUT_SHORT)?;
        let is_static = self.u8()? != 0;
        let line = self.u16()?.checked_sub(1);
        let (method, descriptor, source) = (self.text()?, self.text()?, self.text()?);
        let target = Member {
            owner: self.text()?,
            name: self.text()?,
            descriptor: self.text()?,
        };
        let site = Site {
            id: SiteId(0),
            kind,
            class: class.to_owned(),
            method,
            descriptor,
            line,
            source: Some(source).filter(|source| !source.is_empty()),
            target,
            is_static,
        };
        Ok((constant, site))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemberKind, Purpose};
    use culprit_model::options::Arrays;

    /// The runtime's own class serves as any class.
    const CLASS: &[u8] =
        include_bytes!("../../../java/runtime/classes/culprit/runtime/Values.class");

    struct Alone;

    impl World for Alone {
        fn is_observed(&self, class: &str) -> bool {
            class == "culprit/runtime/Values"
        }

        fn declaring(&self, class: &str, _: MemberKind, _: &str, _: &str) -> Option<String> {
            Some(class.to_owned())
        }
    }

    const SETTINGS: Settings<'_> = Settings {
        lines: None,
        strangers: &[],
        purpose: Purpose::Record,
        arrays: Arrays::Contents,
        id_field: true,
        kin: false,
        references: crate::References::Chosen,
    };
    const PART: ClassPlan = ClassPlan {
        observed: true,
        has_id: true,
        kin: false,
    };

    fn prepared() -> ClassFile {
        let prepared = prepare(CLASS, &Alone, SETTINGS, PART).unwrap();
        assert_eq!(prepared.skipped, []);
        ClassFile::parse(&prepared.bytes).unwrap()
    }

    #[test]
    fn a_prepared_class_becomes_what_weaving_in_the_jvm_gives() {
        let here = SiteNumbers::starting_at(1 << 20);
        let class = ClassFile::parse(CLASS).unwrap();
        let woven = crate::observed(class, &Alone, SETTINGS, &here).unwrap();
        let there = SiteNumbers::starting_at(1 << 20);
        let Some(Settled {
            woven: settled,
            part,
            original,
        }) = settle(&prepared(), &there).unwrap()
        else {
            panic!("not ready")
        };
        assert_eq!((part, original.as_slice()), (PART, CLASS));
        // Numbers have gaps where a site was made and not used.
        let unnumbered = |sites: &[Site]| {
            let id = SiteId(0);
            let sites = sites.iter().map(|site| Site { id, ..site.clone() });
            sites.collect::<Vec<_>>()
        };
        assert_eq!(unnumbered(&settled.sites), unnumbered(&woven.sites));
        let code = |bytes: &[u8]| {
            let class = ClassFile::parse(bytes).unwrap();
            let methods = class.methods.iter().map(|m| m.attributes.clone());
            methods.collect::<Vec<_>>()
        };
        assert_eq!(code(&settled.bytes), code(&woven.bytes));
        assert!(!is_prepared(&ClassFile::parse(&settled.bytes).unwrap()));
    }

    #[test]
    fn constants_of_the_program_are_not_taken_for_sites() {
        let mut class = ClassFile::parse(CLASS).unwrap();
        let own = class.pool.add_integer(BLOCK + 7).unwrap();
        let bytes = class.write().unwrap();
        let prepared = prepare(&bytes, &Alone, SETTINGS, PART).unwrap();
        let class = ClassFile::parse(&prepared.bytes).unwrap();
        let numbers = SiteNumbers::default();
        let Some(Settled { woven, .. }) = settle(&class, &numbers).unwrap() else {
            panic!("not ready")
        };
        let class = ClassFile::parse(&woven.bytes).unwrap();
        assert_eq!(class.pool.integer(own).unwrap(), BLOCK + 7);
    }

    #[test]
    fn a_class_made_for_other_probes_is_woven_anew() {
        let mut class = prepared();
        let attribute = class.attributes.last_mut().unwrap();
        attribute.bytes[5] ^= 1;
        let bytes = class.write().unwrap();
        assert_eq!(foreign(&bytes).as_deref(), Some(CLASS));
        assert!(settle(&class, &SiteNumbers::default()).is_err());
        assert_eq!(foreign(&prepared().write().unwrap()), None);
        assert_eq!(foreign(CLASS), None);
    }

    #[test]
    fn a_malformed_attribute_is_an_error_and_no_attribute_is_none() {
        let mut class = prepared();
        let length = class.attributes.last().unwrap().bytes.len();
        for cut in [0, 5, 12, 40, length - 1] {
            class.attributes.last_mut().unwrap().bytes.truncate(length);
            let mut cut_short = class.clone();
            cut_short.attributes.last_mut().unwrap().bytes.truncate(cut);
            assert!(
                settle(&cut_short, &SiteNumbers::default()).is_err(),
                "{cut}"
            );
        }
        let plain = ClassFile::parse(CLASS).unwrap();
        assert!(settle(&plain, &SiteNumbers::default()).unwrap().is_none());
    }
}
