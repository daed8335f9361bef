//! The verifier of a real JVM judges edited JDK classes.
//!
//! Every method of the sampled classes is edited heavily; the classes then replace the originals in a JVM that
//! verifies everything, and that JVM also runs on its edited classes. A class may fail only as its original fails.
//! The crate `culprit-verifier` says how to take more classes and more JDKs.

#![expect(
    clippy::print_stderr,
    reason = "totals and loud skips are for whoever runs the test"
)]

use std::fs;
use std::time::{Duration, Instant};

use culprit_classfile::{
    Asm, ClassFile, Code, EditPosition, Editor, Error, HandlerSpec, LocalKind, Member,
    MethodContext, Pool, Simulation, SlotType, VerificationType, access, op, simulate,
};
use culprit_verifier::{Bench, Class, Comparison, Outcomes, is_early, is_sampled, on_each_jdk};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edit {
    /// Nothing.
    Plain,
    /// Entry code that is skipped, code before and after every instruction, replaced calls, temporaries, a live local
    /// and catch-all handlers.
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
fn jdk_classes_are_read_and_simulated() {
    on_each_jdk(check_reading);
}

#[test]
fn edited_jdk_classes_pass_the_verifier() {
    on_each_jdk(check_edits);
}

fn check_reading(bench: &Bench) {
    let classes = bench.classes();
    eprintln!("Java {}: {} classes", bench.version(), classes.len());
    for class in &classes {
        let again = ClassFile::parse(&class.bytes).unwrap().write().unwrap();
        assert!(
            again == class.bytes,
            "{} changed in a round trip",
            class.path
        );
    }
    eprintln!("  round trip: all identical");

    let sampled: Vec<&Class> = classes.iter().filter(|c| is_sampled(c)).collect();
    let started = Instant::now();
    let (states, mismatches) = check_simulator(&sampled);
    eprintln!(
        "  simulator: {states} states, {mismatches} mismatches, {:?}",
        started.elapsed()
    );
    assert_eq!(mismatches, 0);
    check_mutations(&sampled);
    check_subroutines(bench);
}

fn check_edits(bench: &Bench) {
    let classes = bench.classes();
    let sampled: Vec<&Class> = classes.iter().filter(|c| is_sampled(c)).collect();
    let late: Vec<&Class> = sampled.iter().copied().filter(|c| !is_early(c)).collect();
    let nothing = bench.patch("plain");
    let originals = bench.link(&nothing, sampled.iter().copied());
    let work = bench.work(&nothing);
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
        let aged = major.map(|_| {
            let patch = bench.patch("plain");
            for class in classes {
                let mut unused = Totals::default();
                let bytes = rewrite(&class.bytes, Edit::Plain, major, &mut unused);
                patch.put(class, &bytes);
            }
            bench.link(&patch, classes.iter().copied())
        });
        for edit in edits {
            let patch = bench.patch("edited");
            let mut totals = Totals::default();
            for class in classes {
                patch.put(class, &rewrite(&class.bytes, *edit, major, &mut totals));
            }
            let edited = bench.link(&patch, classes.iter().copied());
            let label = format!("{edit:?}, {label}");
            let compared = report(
                &label,
                aged.as_ref().unwrap_or(&originals),
                &edited,
                &totals,
            );
            assert_eq!(compared.new_failures.len(), 0, "{label}");
            if classes.len() == sampled.len() {
                bench.compile(&patch);
                assert_eq!(bench.work(&patch), work, "{label}");
            }
        }
    }

    // What the documentation of `HandlerSpec` says about constructors. Should a JVM accept this one day, use it.
    let mut totals = Totals::default();
    let patch = bench.patch("edited");
    for class in &late {
        if ClassFile::parse(&class.bytes).unwrap().major > 50 {
            let bytes = rewrite(&class.bytes, Edit::AroundInit, None, &mut totals);
            patch.put(class, &bytes);
        }
    }
    let edited = bench.link(&patch, late.iter().copied());
    let failing = edited.against(&originals).new_failures.len();
    eprintln!("AroundInit, expected to fail: {failing} classes do");
    assert!(
        failing > totals.classes / 2,
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
fn check_subroutines(bench: &Bench) {
    let tools = bench.tools();
    let file = tools.join("Subroutine.class");
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
        let path = tools.to_str().unwrap();
        let output = bench.output("java", &["-Xverify:all", "-cp", path, "Subroutine"]);
        assert_eq!(output.status.code(), Some(42), "{edit:?}: {output:?}");
    }
    eprintln!("  subroutines: run as before");
}

fn report(label: &str, plain: &Outcomes, edited: &Outcomes, totals: &Totals) -> Comparison {
    let compared = edited.against(plain);
    eprintln!(
        "{label}: {} of {} methods edited, {} too large, {} raw handlers, {} jumps widened; {} -> {} bytes; \
         {:.0} us/class; {} classes: {compared}",
        totals.edited,
        totals.methods,
        totals.too_large,
        totals.raw_handlers,
        totals.widened,
        totals.bytes_before,
        totals.bytes_after,
        totals.time.as_secs_f64() * 1e6 / totals.classes.max(1) as f64,
        totals.classes,
    );
    compared
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
    entry.op(op::LCONST_0).op(op::ICONST_0);
    editor.insert_entry(entry);
    let mut skipped = Asm::new();
    skipped.op(op::POP2).op(op::LCONST_1);
    editor.insert_entry_if(skipped, vec![VerificationType::Long]);
    let mut entry = Asm::new();
    entry.lstore(live);
    editor.insert_entry(entry);
    let inits: Vec<u32> = simulation.this_inits().collect();
    let mut neutral = Asm::new();
    neutral.lload(live).op(op::POP2);
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
    body.lload(live).op(op::POP2).athrow();
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
        from: EditPosition::AfterEntry,
        to: EditPosition::After(init),
        catch_type: 0,
        frame_locals: vec![VerificationType::UninitializedThis],
        body,
    });
    Some(editor)
}

/// The method cut into parts where `this` is uninitialised and parts where it is not.
fn regions(code: &Code, simulation: &Simulation) -> Vec<(EditPosition, EditPosition, bool)> {
    let inits: Vec<u32> = simulation.this_inits().collect();
    let mut regions = Vec::new();
    let mut from = EditPosition::AfterEntry;
    let mut before: Option<(u32, bool)> = None;
    for instruction in code.instructions() {
        let pc = instruction.unwrap().pc;
        let Some(state) = simulation.at(pc) else {
            continue;
        };
        let is_raw = state.local(0) == SlotType::UninitializedThis;
        if let Some((last, was_raw)) = before {
            if was_raw != is_raw {
                // The call that initialises `this` is left uncovered: its handler would have to accept both states.
                let is_init = inits.contains(&last);
                let to = if is_init {
                    EditPosition::At(last)
                } else {
                    EditPosition::Before(pc)
                };
                regions.push((from, to, was_raw));
                from = if is_init {
                    EditPosition::After(last)
                } else {
                    to
                };
            }
        }
        before = Some((pc, is_raw));
    }
    regions.push((from, EditPosition::End, before.is_some_and(|(_, raw)| raw)));
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

fn shape(value: SlotType) -> SlotType {
    match value {
        SlotType::Object(_) => SlotType::Null,
        other => other,
    }
}

/// Frames may know less than the worklist, never something else.
fn fits(framed: SlotType, merged: SlotType) -> bool {
    framed == SlotType::Top || shape(framed) == shape(merged)
}
