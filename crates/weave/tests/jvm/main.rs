//! The verifier of a real JVM judges woven JDK classes, and the JVM then runs on them.
//!
//! Every plan is woven into the same classes. They then replace the originals in a JVM that
//! verifies everything; a class may fail only as its original fails, and what the JVM computes on
//! woven classes with probes that do nothing must be what it computes on the originals. The crate
//! `culprit-verifier` says how to take more classes and more JDKs. With `CULPRIT_WRITE_STUDY=FILE`
//! the figures go to a document.

#![expect(clippy::print_stderr, reason = "totals are for whoever runs the test")]

mod growth;
mod plan;
mod stub;
mod study;
mod totals;

use std::time::Instant;

use culprit_classfile::ClassFile;
use culprit_verifier::{
    Bench, Class, Outcomes, Patch, is_early, is_sampled, on_each_jdk, takes_all_classes,
};
use culprit_weave::{follow, trace};

use crate::plan::{Loom, Plan};
use crate::study::Study;
use crate::totals::Totals;

/// The plans whose classes are judged.
const PLANS: [Plan; 5] = [
    Plan::Together,
    Plan::Alone,
    Plan::Module,
    Plan::Outside,
    Plan::Replay,
];

/// Versions without frames, which classes of the late modules are set to.
const OLD_VERSIONS: [u16; 2] = [49, 45];

#[test]
fn woven_jdk_classes_pass_the_verifier_and_run_as_before() {
    let mut study = Study::default();
    on_each_jdk(|bench| check_jdk(bench, &mut study));
    study.write();
    assert_eq!(study.new_failures, 0, "woven classes fail that did not");
}

/// Nothing runs here that would need the interpreter: classes of the late modules are linked, and no more.
#[test]
fn followed_jdk_classes_pass_the_verifier() {
    on_each_jdk(|bench| {
        let all = bench.classes();
        let late = all.iter().filter(|c| is_sampled(c) && !is_early(c));
        let late: Vec<&Class> = late.collect();
        for major in [None, Some(OLD_VERSIONS[0]), Some(OLD_VERSIONS[1])] {
            let (plain, patch) = (bench.patch("plain"), bench.patch("followed"));
            let mut methods = 0;
            for class in &late {
                let original = plan::aged(class, major);
                let choice = follow::MethodChoice {
                    tests: &["x".to_owned()],
                    methods: &[],
                };
                let followed = follow::followed(original.clone(), 0, choice).unwrap();
                let bytes = original.write().unwrap();
                plain.put(class, &bytes);
                methods += followed.as_ref().map_or(0, |f| f.methods.len());
                patch.put(class, followed.as_ref().map_or(&bytes, |f| &f.bytes));
            }
            let originals = bench.link(&plain, late.iter().copied());
            let outcomes = bench.link(&patch, late.iter().copied());
            let compared = outcomes.against(&originals);
            eprintln!("followed as version {major:?}: {methods} methods, {compared}");
            assert!(methods > 0);
            // A class may link that did not: its superclass failed by what is in its code, which is gone.
            let new = compared.new_failures.iter();
            let new: Vec<&String> = new.filter(|it| !it.contains(": ok (original: ")).collect();
            assert_eq!(new, Vec::<&String>::new());
        }
    });
}

/// Of classes that are traced in a worker too: those of `java.base` are linked, and then the JVM runs on them.
#[test]
fn traced_jdk_classes_pass_the_verifier() {
    on_each_jdk(|bench| {
        let all = bench.classes();
        let sampled: Vec<&Class> = all.iter().filter(|c| is_sampled(c)).collect();
        let late: Vec<&Class> = sampled.iter().copied().filter(|c| !is_early(c)).collect();
        let versions = [None, Some(OLD_VERSIONS[0]), Some(OLD_VERSIONS[1])];
        for (major, classes) in versions.into_iter().zip([&sampled, &late, &late]) {
            let (plain, mut patch) = (bench.patch("plain"), bench.patch("traced"));
            let (name, bytes) = stub::trace();
            patch.add(name, &bytes);
            let numbers = trace::BlockNumbers::default();
            let (mut methods, mut skipped) = (0, Vec::new());
            for class in classes {
                let original = plan::aged(class, major);
                let traced = trace::traced(original.clone(), &numbers).unwrap();
                if major.is_some() {
                    plain.put(class, &original.write().unwrap());
                }
                methods += traced.methods.len();
                skipped.extend(traced.skipped);
                patch.put(class, &traced.bytes);
            }
            let originals = bench.link(&plain, classes.iter().copied());
            let outcomes = bench.link(&patch, classes.iter().copied());
            let compared = outcomes.against(&originals);
            let count = skipped.len();
            eprintln!(
                "traced as version {major:?}: {methods} methods, {count} skipped, {compared}"
            );
            let is_too_large = |(_, why): &&(String, String)| why.contains("the limit is");
            let (large, other): (Vec<_>, Vec<_>) = skipped.iter().partition(is_too_large);
            assert!(large.len() * 1000 < methods, "{large:?}");
            assert_eq!(other, Vec::<&(String, String)>::new());
            assert_eq!(compared.new_failures, Vec::<String>::new());
            if major.is_none() {
                assert_eq!(bench.work(&patch), bench.work(&plain));
            }
        }
    });
}

fn check_jdk(bench: &Bench, study: &mut Study) {
    let all = bench.classes();
    let sampled: Vec<&Class> = all.iter().filter(|c| is_sampled(c)).collect();
    let late: Vec<&Class> = sampled.iter().copied().filter(|c| !is_early(c)).collect();
    let loom = Loom::new(&all);
    let version = bench.version();
    eprintln!("Java {version}: {} of {} classes", sampled.len(), all.len());
    study.jdk(&version, growth::of(&loom, &sampled));

    let nothing = bench.patch("plain");
    let originals = bench.link(&nothing, sampled.iter().copied());
    let work = bench.work(&nothing);
    let mut probes = Totals::default();
    for plan in PLANS {
        let trial = Trial {
            bench,
            loom: &loom,
            plan,
            major: None,
        };
        if takes_all_classes() {
            // First without `java.base`: a JVM whose own first classes fail dies without saying why.
            trial.judge("late modules", &late, &originals, study);
        }
        let (patch, totals) = trial.judge("all modules", &sampled, &originals, study);
        // What looks who calls it finds a detour there. In the JDK much of the code does that, and no
        // replay runs such code: there the verifier has the last word.
        if plan != Plan::Replay {
            bench.compile(&patch);
            assert_eq!(
                bench.work(&patch),
                work,
                "{plan:?}: the JVM computes otherwise"
            );
        }
        probes.add_probes(&totals);
    }
    let never: Vec<&str> = stub::probes()
        .filter(|probe| !probes.probes.contains_key(*probe))
        .collect();
    eprintln!("  probes that no class has: {never:?}");
    assert!(!takes_all_classes() || never.is_empty());

    for major in OLD_VERSIONS {
        let aged = bench.patch("plain");
        for class in &late {
            aged.put(class, &plan::aged(class, Some(major)).write().unwrap());
        }
        let originals = bench.link(&aged, late.iter().copied());
        for plan in PLANS {
            let trial = Trial {
                bench,
                loom: &loom,
                plan,
                major: Some(major),
            };
            let label = format!("late modules as version {major}");
            trial.judge(&label, &late, &originals, study);
        }
    }
}

/// One plan on one JDK.
struct Trial<'a> {
    bench: &'a Bench,
    loom: &'a Loom,
    plan: Plan,
    major: Option<u16>,
}

impl Trial<'_> {
    /// Weaves classes and links them.
    fn judge(
        &self,
        label: &str,
        classes: &[&Class],
        originals: &Outcomes,
        study: &mut Study,
    ) -> (Patch, Totals) {
        let mut patch = self.bench.patch("woven");
        for (name, bytes) in stub::classes() {
            patch.add(name, &bytes);
        }
        let mut totals = Totals::default();
        for class in classes {
            let original = plan::aged(class, self.major);
            let started = Instant::now();
            let woven = self.loom.weave(self.plan, &class.module, original.clone());
            totals.time += started.elapsed();
            let after = ClassFile::parse(&woven.bytes).unwrap();
            totals.add(&original, &after, &woven);
            patch.put(class, &woven.bytes);
        }
        let started = Instant::now();
        let outcomes = self.bench.link(&patch, classes.iter().copied());
        let compared = outcomes.against(originals);
        eprintln!(
            "{:?}, {label}: {totals}\n  linked in {:.1} s: {compared}",
            self.plan,
            started.elapsed().as_secs_f64()
        );
        study.trial(self.plan, label, &totals, &compared);
        (patch, totals)
    }
}
