//! The verifier of a real JVM judges edited JDK classes.
//!
//! Every method of the sampled classes is edited heavily; the classes then replace the originals in a JVM that
//! verifies everything (`--patch-module`), so that classes of `java.base` are judged too, and that JVM also runs on
//! its edited classes. A class may fail only as its original fails.
//!
//! `CULPRIT_TEST_JDKS` (a path list) adds JDKs to `JAVA_HOME` and the one on `PATH`. One class in eight is taken;
//! `CULPRIT_TEST_ALL_CLASSES=1` takes all.

#![expect(
    clippy::print_stderr,
    reason = "totals and loud skips are for whoever runs the test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use culprit_classfile::{
    Asm, ClassFile, Code, Editor, Error, HandlerSpec, LocalKind, Member, MethodContext, Place,
    Pool, Simulation, Type, VerificationType, access, op, simulate,
};

const MODULES: [&str; 4] = ["java.base", "java.xml", "java.desktop", "jdk.compiler"];

/// Modules a JVM can start without, so that classes of an old version may take their place.
const LATE_MODULES: [&str; 3] = ["java.xml", "java.desktop", "jdk.compiler"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edit {
    /// Nothing.
    Plain,
    /// Code before and after every instruction, replaced calls, temporaries, a live local and catch-all handlers.
    Everything,
    /// All jumps in their far forms, with a live local and code after each, so that each needs its own frame.
    FarJumps,
    /// In constructors, a handler that also covers the call of `super(...)` or `this(...)`.
    AroundInit,
}

/// Edits that must verify as long as frames are used.
const CURRENT: &[Edit] = &[Edit::Everything, Edit::FarJumps];

/// Edits that must verify where the old verifier judges.
const OLD: &[Edit] = &[Edit::Everything, Edit::FarJumps, Edit::AroundInit];

struct Class {
    module: String,
    path: String,
    bytes: Vec<u8>,
}

#[derive(Default, Debug)]
struct Totals {
    classes: usize,
    methods: usize,
    edited: usize,
    too_large: usize,
    widened: usize,
    /// Constructors whose part before `super(...)` got a handler.
    raw_handlers: usize,
    bytes_before: usize,
    bytes_after: usize,
    time: Duration,
}

#[test]
fn edited_jdk_classes_pass_the_verifier() {
    let jdks = jdks();
    if jdks.is_empty() {
        assert!(
            std::env::var_os("CI").is_none(),
            "no JDK found, and CI must have one"
        );
        eprintln!("SKIPPED: no JDK found (JAVA_HOME, PATH, CULPRIT_TEST_JDKS)");
        return;
    }
    for jdk in jdks {
        let mut work = tempfile::tempdir().unwrap();
        work.disable_cleanup(std::env::var_os("CULPRIT_TEST_KEEP").is_some());
        check_jdk(&Jdk {
            home: jdk,
            work: work.path().to_owned(),
        });
    }
}

fn check_jdk(jdk: &Jdk) {
    let classes = jdk.extract();
    eprintln!("{}: {} classes", jdk.home.display(), classes.len());
    for class in &classes {
        let again = ClassFile::parse(&class.bytes).unwrap().write().unwrap();
        assert!(
            again == class.bytes,
            "{} changed in a round trip",
            class.path
        );
    }
    eprintln!("  round trip: all identical");

    let sampled: Vec<&Class> = classes.iter().filter(|c| is_sampled(&c.path)).collect();
    let started = Instant::now();
    let (states, mismatches) = check_simulator(&sampled);
    eprintln!(
        "  simulator: {states} states, {mismatches} mismatches, {:?}",
        started.elapsed()
    );
    assert_eq!(mismatches, 0);
    check_mutations(&sampled);
    check_subroutines(jdk);

    let late: Vec<&Class> = sampled
        .iter()
        .copied()
        .filter(|c| LATE_MODULES.contains(&&*c.module))
        .collect();
    // First without `java.base`: a JVM whose own first classes fail to verify dies without saying why.
    for (label, classes, major, edits) in [
        ("late modules", &late, None, CURRENT),
        ("all modules", &sampled, None, CURRENT),
        (
            "late modules as version 50",
            &late,
            Some(50),
            &[Edit::AroundInit],
        ),
        ("late modules as version 49", &late, Some(49), OLD),
        ("late modules as version 45", &late, Some(45), OLD),
    ] {
        let mut unused = Totals::default();
        let plain = jdk.link("plain", classes, |c| {
            major.map(|_| rewrite(&c.bytes, Edit::Plain, major, &mut unused))
        });
        for edit in edits {
            let mut totals = Totals::default();
            let edited = jdk.link("edited", classes, |c| {
                Some(rewrite(&c.bytes, *edit, major, &mut totals))
            });
            let new = report(&format!("{edit:?}, {label}"), &plain, &edited, &totals);
            assert_eq!(
                new, 0,
                "{edit:?}, {label}: classes fail that did not before"
            );
            if label == "all modules" {
                jdk.compile();
            }
        }
    }

    // What the documentation of `HandlerSpec` says about constructors. Should a JVM accept this one day, use it.
    let plain = jdk.link("plain", &late, |_| None);
    let mut totals = Totals::default();
    let edited = jdk.link("edited", &late, |c| {
        let class = ClassFile::parse(&c.bytes).unwrap();
        (class.major > 50).then(|| rewrite(&c.bytes, Edit::AroundInit, None, &mut totals))
    });
    let new = report("AroundInit, expected to fail", &plain, &edited, &totals);
    assert!(
        new > totals.classes / 2,
        "handlers around super(...) verify"
    );
}

/// A class of version 48 whose `main` calls a subroutine twice and exits with 42.
fn subroutine_class() -> ClassFile {
    let mut pool = Pool::new();
    let this_class = pool.add_class("Subroutine").unwrap();
    let super_class = pool.add_class("java/lang/Object").unwrap();
    let name = pool.add_utf8("main").unwrap();
    let descriptor = pool.add_utf8("([Ljava/lang/String;)V").unwrap();
    let exit = pool
        .add_method_ref("java/lang/System", "exit", "(I)V")
        .unwrap();
    let mut asm = Asm::new();
    // 0: i = 0; 2, 5: jsr 13; 8: exit(i); 12: return; 13: the subroutine adds 21.
    asm.op(op::ICONST_0)
        .istore(1)
        .op_index(op::JSR, 11)
        .op_index(op::JSR, 8);
    asm.iload(1).invokestatic(exit).op(op::RETURN);
    asm.astore(2).raw(&[op::IINC, 1, 21, op::RET, 2]);
    let code = Code {
        max_stack: 1,
        max_locals: 3,
        bytes: asm.bytes().to_vec(),
        handlers: Vec::new(),
        attributes: Vec::new(),
    };
    let attributes = vec![code.write(&mut pool).unwrap()];
    let access = access::PUBLIC | access::STATIC;
    let methods = vec![Member {
        access,
        name,
        descriptor,
        attributes,
    }];
    ClassFile {
        minor: 0,
        major: 48,
        pool,
        access: access::PUBLIC,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods,
        attributes: Vec::new(),
    }
}

/// Subroutines (`jsr`, `ret`), which javac stopped writing long ago, still run after an edit.
fn check_subroutines(jdk: &Jdk) {
    let file = jdk.work.join("tools/Subroutine.class");
    for edit in [Edit::Plain, Edit::Everything, Edit::FarJumps] {
        let mut class = subroutine_class();
        let mut totals = Totals::default();
        if edit != Edit::Plain {
            edit_class(&mut class, edit, &mut totals);
            assert_eq!(
                (totals.edited, totals.widened),
                (1, if edit == Edit::FarJumps { 2 } else { 0 })
            );
        }
        fs::write(&file, class.write().unwrap()).unwrap();
        let output = jdk.output(
            "java",
            &["-Xverify:all", "-cp", &jdk.path("tools"), "Subroutine"],
        );
        assert_eq!(output.status.code(), Some(42), "{edit:?}: {output:?}");
    }
    eprintln!("  subroutines: run as before");
}

type Outcomes = BTreeMap<String, String>;

fn report(label: &str, plain: &Outcomes, edited: &Outcomes, totals: &Totals) -> usize {
    let ok = edited.values().filter(|o| *o == "ok").count();
    // A class set to an old version may be wrong in several ways, and the order in which HotSpot looks at methods
    // depends on addresses, so there either error will do.
    let kind = |outcome: &str| match outcome.split(':').next().unwrap_or_default() {
        "java.lang.ClassFormatError" => "java.lang.VerifyError".to_owned(),
        kind => kind.to_owned(),
    };
    let new: Vec<_> = edited
        .iter()
        .filter(|(name, outcome)| kind(outcome) != kind(&plain[*name]))
        .collect();
    eprintln!(
        "{label}: {} classes, {ok} ok, {} fail as their originals do, {} new failures; {} of {} methods edited, \
         {} too large, {} raw handlers, {} jumps widened; {} -> {} bytes; {:.0} us/class",
        totals.classes,
        edited.len() - ok - new.len(),
        new.len(),
        totals.edited,
        totals.methods,
        totals.too_large,
        totals.raw_handlers,
        totals.widened,
        totals.bytes_before,
        totals.bytes_after,
        totals.time.as_secs_f64() * 1e6 / totals.classes.max(1) as f64,
    );
    for (name, outcome) in new.iter().take(3) {
        eprintln!("    {name}: {outcome} (original: {})", plain[*name]);
    }
    new.len()
}

fn rewrite(bytes: &[u8], edit: Edit, major: Option<u16>, totals: &mut Totals) -> Vec<u8> {
    let started = Instant::now();
    let mut class = ClassFile::parse(bytes).unwrap();
    if let Some(major) = major {
        class.major = major;
        class.minor = 3;
    }
    if edit != Edit::Plain {
        edit_class(&mut class, edit, totals);
    }
    let out = class.write().unwrap();
    totals.time += started.elapsed();
    totals.classes += 1;
    totals.bytes_before += bytes.len();
    totals.bytes_after += out.len();
    out
}

fn edit_class(class: &mut ClassFile, edit: Edit, totals: &mut Totals) {
    for i in 0..class.methods.len() {
        let method = &class.methods[i];
        let Some(at) = method.attribute_index(&class.pool, "Code") else {
            continue;
        };
        totals.methods += 1;
        let code = Code::parse(&method.attributes[at], &class.pool).unwrap();
        if code.bytes == [op::RETURN] && class.pool.utf8(method.name).unwrap() == "finalize" {
            // An empty finalizer means none. With code in that of `Object`, every object would have one.
            continue;
        }
        let context = MethodContext::new(class, method);
        let simulation = simulate(&code, &class.pool, context).unwrap();
        let editor = match edit {
            Edit::AroundInit => match around_init(&code, context, &simulation) {
                Some(editor) => editor,
                None => continue,
            },
            _ => plan(&code, context, edit, &simulation, totals),
        };
        match editor.finish_with_report(&mut class.pool) {
            Ok(edited) => {
                totals.edited += 1;
                totals.widened += edited.widened as usize;
                let attribute = edited.code.write(&mut class.pool).unwrap();
                class.methods[i].attributes[at] = attribute;
            }
            Err(Error::CodeTooLarge { .. }) => totals.too_large += 1,
            Err(error) => panic!("{} method {i}: {error}", class.name().unwrap()),
        }
    }
}

fn plan<'a>(
    code: &'a Code,
    context: MethodContext,
    edit: Edit,
    simulation: &Simulation,
    totals: &mut Totals,
) -> Editor<'a> {
    let mut editor = Editor::new(code, context);
    editor.widen_all = edit == Edit::FarJumps;
    // A temporary between the old locals and the live one, so that frames need padding.
    let temporary = editor.new_local(LocalKind::Double);
    let live = editor.new_live_local(VerificationType::Long);
    let mut entry = Asm::new();
    entry.op(op::LCONST_0).lstore(live);
    editor.insert_entry(entry);
    let inits: Vec<u32> = simulation.this_inits().collect();
    let mut neutral = Asm::new();
    neutral.lload(live).pop2();
    for instruction in code.instructions() {
        let instruction = instruction.unwrap();
        let pc = instruction.pc;
        if edit == Edit::FarJumps {
            if instruction.is_conditional() && pc % 2 == 0 {
                editor.insert_after(pc, neutral.clone());
            }
            continue;
        }
        editor.insert_before(pc, neutral.clone());
        editor.insert_after(pc, neutral.clone());
        if instruction.is_invoke() {
            let mut again = Asm::new();
            again.op(op::NOP).raw(instruction.bytes);
            // What covers the part before `super(...)` must end with that call.
            if !inits.contains(&pc) {
                again.op(op::NOP);
            }
            editor.replace(pc, again);
        }
        let kind = match instruction.opcode {
            op::IRETURN => LocalKind::Int,
            op::LRETURN => LocalKind::Long,
            op::FRETURN => LocalKind::Float,
            op::DRETURN => LocalKind::Double,
            op::ARETURN => LocalKind::Reference,
            _ => continue,
        };
        let mut spill = Asm::new();
        spill.dup_value(kind).store(kind, temporary);
        editor.insert_before(pc, spill);
    }
    let mut body = Asm::new();
    body.lload(live).pop2().athrow();
    for (from, to, is_raw) in regions(code, simulation) {
        let frame_locals = if is_raw {
            vec![VerificationType::UninitializedThis]
        } else {
            Vec::new()
        };
        totals.raw_handlers += usize::from(is_raw);
        editor.add_handler(HandlerSpec {
            from,
            to,
            catch_type: 0,
            frame_locals,
            body: body.clone(),
        });
    }
    editor
}

/// Covers a constructor from its start up to and including the call that initialises `this`.
fn around_init<'a>(
    code: &'a Code,
    context: MethodContext,
    simulation: &Simulation,
) -> Option<Editor<'a>> {
    let init = simulation.this_inits().next()?;
    let mut editor = Editor::new(code, context);
    let mut body = Asm::new();
    body.athrow();
    editor.add_handler(HandlerSpec {
        from: Place::AfterEntry,
        to: Place::After(init),
        catch_type: 0,
        frame_locals: vec![VerificationType::UninitializedThis],
        body,
    });
    Some(editor)
}

/// The method cut into parts where `this` is uninitialised and parts where it is not.
fn regions(code: &Code, simulation: &Simulation) -> Vec<(Place, Place, bool)> {
    let inits: Vec<u32> = simulation.this_inits().collect();
    let mut regions = Vec::new();
    let mut from = Place::AfterEntry;
    let mut before: Option<(u32, bool)> = None;
    for instruction in code.instructions() {
        let pc = instruction.unwrap().pc;
        let Some(state) = simulation.at(pc) else {
            continue;
        };
        let is_raw = state.local(0) == Type::UninitializedThis;
        if let Some((last, was_raw)) = before {
            if was_raw != is_raw {
                // The call that initialises `this` is left uncovered: its handler would have to accept both states.
                let is_init = inits.contains(&last);
                let to = if is_init {
                    Place::At(last)
                } else {
                    Place::Before(pc)
                };
                regions.push((from, to, was_raw));
                from = if is_init { Place::After(last) } else { to };
            }
        }
        before = Some((pc, is_raw));
    }
    regions.push((from, Place::End, before.is_some_and(|(_, raw)| raw)));
    regions
}

/// Both ways to simulate must agree: the one that follows frames and the one that merges states. Classes may differ,
/// since merging knows no class hierarchy.
fn check_simulator(classes: &[&Class]) -> (usize, usize) {
    let (mut checked, mut mismatches) = (0, 0);
    for class in classes {
        let file = ClassFile::parse(&class.bytes).unwrap();
        for method in &file.methods {
            let Some(attribute) = method.attribute(&file.pool, "Code") else {
                continue;
            };
            let code = Code::parse(attribute, &file.pool).unwrap();
            let context = MethodContext::new(&file, method);
            let simulation = match simulate(&code, &file.pool, context) {
                Ok(simulation) => simulation,
                Err(error) => panic!("{}: {error}", class.path),
            };
            let merged = simulate(
                &code,
                &file.pool,
                MethodContext {
                    major: 49,
                    ..context
                },
            )
            .unwrap();
            assert!(
                simulation.this_inits().eq(merged.this_inits()),
                "{}",
                class.path
            );
            for instruction in code.instructions() {
                let pc = instruction.unwrap().pc;
                let (Some(a), Some(b)) = (simulation.at(pc), merged.at(pc)) else {
                    continue;
                };
                checked += 1;
                let fits = a.stack.len() == b.stack.len()
                    && a.stack
                        .iter()
                        .zip(&b.stack)
                        .all(|(a, b)| shape(*a) == shape(*b))
                    && (0..code.max_locals).all(|l| fits(a.local(l), b.local(l)));
                if !fits {
                    mismatches += 1;
                    if mismatches < 10 {
                        eprintln!(
                            "    {} pc {pc}: frames say {a:?}, merging says {b:?}",
                            class.path
                        );
                    }
                }
            }
        }
    }
    (checked, mismatches)
}

/// Damaged classes give an error or a class, never a panic and never a long wait.
fn check_mutations(classes: &[&Class]) {
    let started = Instant::now();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 16) as usize % below.max(1)
    };
    let (mut tried, mut parsed, mut written) = (0, 0, 0);
    for class in classes.iter().filter(|c| c.bytes.len() < 20_000).step_by(3) {
        for _ in 0..8 {
            let mut bytes = class.bytes.clone();
            for _ in 0..1 + random(4) {
                let at = random(bytes.len());
                match random(4) {
                    0 => bytes[at] = random(256) as u8,
                    1 => bytes[at] ^= 1 << random(8),
                    2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random(5)],
                    _ => bytes.truncate(at.max(10)),
                }
            }
            tried += 1;
            let Ok(mut file) = ClassFile::parse(&bytes) else {
                continue;
            };
            parsed += 1;
            for i in 0..file.methods.len() {
                mutate_method(&mut file, i);
            }
            written += usize::from(file.write().is_ok());
        }
    }
    eprintln!(
        "  mutations: {tried} tried, {parsed} parsed, {written} written, {:?}",
        started.elapsed()
    );
}

/// Edits one method as far as it goes; every error is fine.
fn mutate_method(file: &mut ClassFile, i: usize) -> Option<()> {
    let at = file.methods[i].attribute_index(&file.pool, "Code")?;
    let code = Code::parse(&file.methods[i].attributes[at], &file.pool).ok()?;
    let context = MethodContext::new(file, &file.methods[i]);
    let _ = code.lines(&file.pool);
    let _ = simulate(
        &code,
        &file.pool,
        MethodContext {
            major: 49,
            ..context
        },
    );
    let simulation = simulate(&code, &file.pool, context).ok()?;
    if code.instructions().any(|i| i.is_err()) {
        return None;
    }
    for edit in CURRENT {
        let editor = plan(&code, context, *edit, &simulation, &mut Totals::default());
        let edited = editor.finish(&mut file.pool).ok()?;
        file.methods[i].attributes[at] = edited.write(&mut file.pool).ok()?;
    }
    Some(())
}

fn shape(value: Type) -> Type {
    match value {
        Type::Object(_) => Type::Null,
        other => other,
    }
}

/// Frames may know less than the worklist, never something else.
fn fits(framed: Type, merged: Type) -> bool {
    framed == Type::Top || shape(framed) == shape(merged)
}

fn is_sampled(path: &str) -> bool {
    if std::env::var_os("CULPRIT_TEST_ALL_CLASSES").is_some() {
        return !path.ends_with("module-info.class");
    }
    let hash = path
        .bytes()
        .fold(0_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    hash >> 8 & 7 == 0 && !path.ends_with("module-info.class")
}

struct Jdk {
    home: PathBuf,
    work: PathBuf,
}

impl Jdk {
    #[expect(
        clippy::disallowed_methods,
        reason = "this crate is below the one that starts processes"
    )]
    fn output(&self, tool: &str, args: &[&str]) -> Output {
        let mut command = Command::new(self.home.join("bin").join(tool));
        command
            .args(args)
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS");
        // The crash of a JVM leaves its report in the current folder.
        command.current_dir(&self.work).output().unwrap()
    }

    fn run(&self, tool: &str, args: &[&str]) {
        let output = self.output(tool, args);
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .lines()
                .take(40)
                .collect::<Vec<_>>()
                .join("\n")
        };
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(
            output.status.success(),
            "{tool} {args:?}: {}\n{out}\n{err}",
            output.status
        );
    }

    fn path(&self, name: &str) -> String {
        self.work.join(name).to_str().unwrap().to_owned()
    }

    fn extract(&self) -> Vec<Class> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
        let source = |name: &str| sources.join(name).to_str().unwrap().to_owned();
        self.run(
            "javac",
            &[
                "-d",
                &self.path("tools"),
                &source("Extract.java"),
                &source("Link.java"),
            ],
        );
        let corpus = self.path("corpus");
        let mut args = vec!["-cp", "", "Extract", &corpus];
        let tools = self.path("tools");
        args[1] = &tools;
        args.extend(MODULES);
        self.run("java", &args);
        let bytes = fs::read(&corpus).unwrap();
        let mut rest = bytes.as_slice();
        let mut classes = Vec::new();
        while !rest.is_empty() {
            let module = String::from_utf8(block(&mut rest, 2).to_vec()).unwrap();
            let path = String::from_utf8(block(&mut rest, 2).to_vec()).unwrap();
            classes.push(Class {
                module,
                path,
                bytes: block(&mut rest, 4).to_vec(),
            });
        }
        classes
    }

    /// Compiles with the compiler, and on the runtime, edited last; the classes must come out as from the original.
    fn compile(&self) {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java");
        let again = self.path("again");
        let mut args = self.patches("edited");
        args.extend(
            ["-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", &again].map(String::from),
        );
        args.extend(
            ["Extract.java", "Link.java"].map(|f| sources.join(f).to_str().unwrap().to_owned()),
        );
        self.run("java", &args.iter().map(String::as_str).collect::<Vec<_>>());
        for class in ["Extract.class", "Link.class"] {
            let read = |folder: &str| fs::read(self.work.join(folder).join(class)).unwrap();
            assert!(
                read("tools") == read("again"),
                "the edited compiler wrote another {class}"
            );
        }
    }

    /// Options that put the classes in a folder in place of the originals.
    fn patches(&self, label: &str) -> Vec<String> {
        let mut options: Vec<String> = ["-Xverify:all", "-Xshare:off", "-XX:TieredStopAtLevel=1"]
            .map(String::from)
            .to_vec();
        for module in MODULES {
            let patch = self.work.join(label).join(module);
            if patch.exists() {
                options.extend([
                    "--patch-module".into(),
                    format!("{module}={}", patch.display()),
                ]);
            }
        }
        options
    }

    /// Links classes in a JVM in which some are replaced.
    fn link(
        &self,
        label: &str,
        classes: &[&Class],
        mut replacement: impl FnMut(&Class) -> Option<Vec<u8>>,
    ) -> Outcomes {
        let folder = self.work.join(label);
        let _ = fs::remove_dir_all(&folder);
        let mut names = String::new();
        for class in classes {
            names.push_str(&class.path.trim_end_matches(".class").replace('/', "."));
            names.push('\n');
            if let Some(bytes) = replacement(class) {
                let file = folder.join(&class.module).join(&class.path);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, bytes).unwrap();
            }
        }
        let (list, outcomes) = (self.path("names"), self.path("outcomes"));
        fs::write(&list, names).unwrap();
        let mut args = self.patches(label);
        args.extend([
            "--add-modules".into(),
            MODULES.join(","),
            "-cp".into(),
            self.path("tools"),
        ]);
        args.extend(["Link".into(), list, outcomes.clone()]);
        let started = Instant::now();
        self.run("java", &args.iter().map(String::as_str).collect::<Vec<_>>());
        eprint!("  [{:.1} s] ", started.elapsed().as_secs_f64());
        let text = fs::read_to_string(&outcomes).unwrap();
        let outcomes: Outcomes = text
            .lines()
            .filter_map(|l| l.split_once('\t'))
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .collect();
        assert_eq!(outcomes.len(), classes.len());
        outcomes
    }
}

fn block<'a>(rest: &mut &'a [u8], width: usize) -> &'a [u8] {
    let (length, tail) = rest.split_at(width);
    let length = length.iter().fold(0_usize, |n, b| n << 8 | usize::from(*b));
    let (block, tail) = tail.split_at(length);
    *rest = tail;
    block
}

/// Homes of the JDKs to use, each once.
fn jdks() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    if let Some(path) = std::env::var_os("PATH") {
        homes.extend(std::env::split_paths(&path).filter_map(|folder| {
            let java = fs::canonicalize(folder.join("java")).ok()?;
            Some(java.parent()?.parent()?.to_owned())
        }));
    }
    if let Some(more) = std::env::var_os("CULPRIT_TEST_JDKS") {
        homes.extend(std::env::split_paths(&more));
    }
    let mut found = Vec::new();
    for home in homes.iter().filter_map(|h| fs::canonicalize(h).ok()) {
        if home.join("bin/javac").exists() && !found.contains(&home) {
            found.push(home);
        }
    }
    found
}
