//! What edited code does, checked without a JVM: random programs run in a small interpreter before and after.
//! Frames and debug tables are checked on methods written by hand.

use culprit_classfile::{
    Asm, Attribute, Code, EditPosition, Editor, Error, Frame, Handler, HandlerSpec, Instruction,
    LocalKind, MethodContext, Pool, VerificationType, access, op, parse_frames, write_frames,
};
use proptest::prelude::*;

fn context(pool: &mut Pool, major: u16) -> MethodContext {
    MethodContext {
        major,
        this_class: pool.add_class("T").unwrap(),
        access: access::STATIC,
        name: pool.add_utf8("m").unwrap(),
        descriptor: pool.add_utf8("(I)V").unwrap(),
    }
}

fn code(bytes: Vec<u8>) -> Code {
    Code {
        max_stack: 2,
        max_locals: 4,
        bytes,
        handlers: Vec::new(),
        attributes: Vec::new(),
    }
}

/// Code that the interpreter reports as an event.
fn event(number: u16) -> Asm {
    let mut asm = Asm::new();
    asm.op_index(op::SIPUSH, number).pop();
    asm
}

/// One piece of a random program. Labels count pieces.
#[derive(Debug, Clone)]
enum Piece {
    Count(i8),
    If(u8, usize),
    Goto(usize),
    Table(Vec<usize>, usize),
    Lookup(Vec<usize>, usize),
    Return,
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let piece = prop_oneof![
        4 => any::<i8>().prop_map(Piece::Count),
        3 => (op::IFEQ..=op::IFLE, 0..64_usize).prop_map(|(o, t)| Piece::If(o, t)),
        1 => (0..64_usize).prop_map(Piece::Goto),
        1 => (prop::collection::vec(0..64_usize, 1..4), 0..64_usize).prop_map(|(c, d)| Piece::Table(c, d)),
        1 => (prop::collection::vec(0..64_usize, 0..4), 0..64_usize).prop_map(|(c, d)| Piece::Lookup(c, d)),
        1 => Just(Piece::Return),
    ];
    prop::collection::vec(piece, 1..24)
}

fn assemble(pieces: &[Piece]) -> Vec<u8> {
    let mut starts = Vec::new();
    // Twice: the first pass finds the labels.
    for pass in 0..2 {
        let mut out = Vec::new();
        let mut labels = Vec::new();
        let find = |label: &usize| {
            if pass == 0 {
                0
            } else {
                starts[label % pieces.len()] as i32
            }
        };
        for piece in pieces {
            labels.push(out.len());
            let load = [op::ILOAD, 0];
            match piece {
                Piece::Count(by) => out.extend([op::IINC, 0, *by as u8]),
                Piece::If(opcode, target) => {
                    out.extend(load);
                    let from = out.len() as i32;
                    out.push(*opcode);
                    out.extend(((find(target) - from) as i16).to_be_bytes());
                }
                Piece::Goto(target) => {
                    let from = out.len() as i32;
                    out.push(op::GOTO);
                    out.extend(((find(target) - from) as i16).to_be_bytes());
                }
                Piece::Table(cases, default) | Piece::Lookup(cases, default) => {
                    out.extend(load);
                    let from = out.len() as i32;
                    let is_table = matches!(piece, Piece::Table(..));
                    out.push(if is_table {
                        op::TABLESWITCH
                    } else {
                        op::LOOKUPSWITCH
                    });
                    out.resize(out.len().next_multiple_of(4), 0);
                    out.extend((find(default) - from).to_be_bytes());
                    if is_table {
                        out.extend((-1_i32).to_be_bytes());
                        out.extend((cases.len() as i32 - 2).to_be_bytes());
                    } else {
                        out.extend((cases.len() as i32).to_be_bytes());
                    }
                    for (i, case) in cases.iter().enumerate() {
                        if !is_table {
                            out.extend((i as i32 * 3).to_be_bytes());
                        }
                        out.extend((find(case) - from).to_be_bytes());
                    }
                }
                Piece::Return => out.push(op::RETURN),
            }
        }
        out.push(op::RETURN);
        starts = labels;
        if pass == 1 {
            return out;
        }
    }
    unreachable!()
}

/// What happens when code runs: the edits an observer expects, or the events edited code reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Event(u16),
    Value(i32),
}

const LIMIT: usize = 300;

/// Runs until a return or until enough was seen. `before` and `after` say which events each pc stands for.
fn run(
    code: &[u8],
    argument: i32,
    entry: &[u16],
    around: impl Fn(u32) -> (Vec<u16>, Vec<u16>),
) -> Vec<Seen> {
    let mut seen: Vec<Seen> = entry.iter().map(|e| Seen::Event(*e)).collect();
    let mut local = argument;
    let mut stack: Vec<i32> = Vec::new();
    let mut pc = 0;
    // Fillers cost nothing, so that original and edited code come equally far.
    let mut fuel = 200_000;
    while fuel > 0 && seen.len() <= LIMIT {
        let instruction = Instruction::decode(code, pc).unwrap();
        fuel -= i32::from(instruction.opcode != op::NOP);
        let (before, after) = around(pc);
        seen.extend(before.into_iter().map(Seen::Event));
        let mut next = i64::from(instruction.next_pc());
        let mut falls = instruction.falls_through();
        match instruction.opcode {
            op::NOP => {}
            op::ILOAD | op::ILOAD_0 => stack.push(local),
            op::IINC => {
                local = local.wrapping_add(i32::from(instruction.bytes[2] as i8));
                seen.push(Seen::Value(local));
            }
            op::SIPUSH => {
                let number = u16::from_be_bytes([instruction.bytes[1], instruction.bytes[2]]);
                seen.push(Seen::Event(number));
                stack.push(0);
            }
            op::POP => drop(stack.pop().unwrap()),
            op::IFEQ..=op::IFLE => {
                let value = stack.pop().unwrap();
                let jumps = match instruction.opcode {
                    op::IFEQ => value == 0,
                    op::IFNE => value != 0,
                    op::IFLT => value < 0,
                    op::IFGE => value >= 0,
                    op::IFGT => value > 0,
                    _ => value <= 0,
                };
                if jumps {
                    next = instruction.target().unwrap();
                    falls = false;
                }
            }
            op::GOTO | op::GOTO_W => next = instruction.target().unwrap(),
            op::TABLESWITCH | op::LOOKUPSWITCH => {
                let key = stack.pop().unwrap();
                let switch = instruction.switch().unwrap();
                let case = switch.cases().find(|(k, _)| *k == key);
                next = case.map_or(switch.default_target(), |(_, target)| target);
            }
            op::RETURN => break,
            opcode => panic!("{opcode:#x}"),
        }
        if falls {
            seen.extend(after.into_iter().map(Seen::Event));
        }
        pc = next as u32;
    }
    seen.truncate(LIMIT);
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn insertions_run_exactly_when_they_should(
        pieces in pieces(),
        argument in -4..8_i32,
        marks in prop::collection::vec((0..200_usize, any::<bool>()), 0..40),
        with_entry in any::<bool>(),
        widen_all in any::<bool>(),
        filler in prop_oneof![Just(0_usize), Just(7), Just(900)],
    ) {
        let mut pool = Pool::new();
        let method = context(&mut pool, 49);
        let code = code(assemble(&pieces));
        let pcs: Vec<u32> = code.instructions().map(|i| i.unwrap().pc).collect();
        let mut editor = Editor::new(&code, method);
        editor.widen_all = widen_all;
        let mut entry = Vec::new();
        if with_entry {
            editor.insert_entry(event(9000));
            entry.push(9000);
        }
        let mut around = vec![(Vec::new(), Vec::new()); code.bytes.len()];
        for (i, (at, is_before)) in marks.iter().enumerate() {
            let pc = pcs[at % pcs.len()];
            let mut asm = event(i as u16);
            // Makes jumps far without being asked to.
            for _ in 0..filler {
                asm.op(op::NOP);
            }
            if *is_before {
                editor.insert_before(pc, asm);
                around[pc as usize].0.push(i as u16);
            } else {
                editor.insert_after(pc, asm);
                around[pc as usize].1.push(i as u16);
            }
        }
        let expected = run(&code.bytes, argument, &entry, |pc| around[pc as usize].clone());
        match editor.finish(&mut pool) {
            Ok(edited) => {
                let seen = run(&edited.bytes, argument, &[], |_| Default::default());
                prop_assert_eq!(seen, expected);
            }
            Err(Error::CodeTooLarge { .. }) => prop_assert!(filler > 100),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}

#[test]
fn ranges_and_tables_follow_the_code() {
    let mut pool = Pool::new();
    let method = context(&mut pool, 49);
    let mut code = code(vec![
        op::NOP,
        op::NOP,
        op::NOP,
        op::RETURN,
        op::POP,
        op::RETURN,
    ]);
    code.handlers.push(Handler {
        start: 1,
        end: 3,
        handler: 4,
        catch_type: 0,
    });
    let lines = [[0, 2], [0, 0], [0, 7], [0, 1], [0, 8]].concat();
    code.attributes.push(Attribute {
        name: pool.add_utf8("LineNumberTable").unwrap(),
        bytes: lines,
    });
    // One variable from pc 1 for 2 bytes, one for the whole method.
    let variables = [
        [0, 2],
        [0, 1],
        [0, 2],
        [0, 0],
        [0, 0],
        [0, 3],
        [0, 0],
        [0, 6],
        [0, 0],
        [0, 0],
        [0, 0],
    ]
    .concat();
    code.attributes.push(Attribute {
        name: pool.add_utf8("LocalVariableTable").unwrap(),
        bytes: variables,
    });
    code.attributes.push(Attribute {
        name: pool.add_utf8("Mystery").unwrap(),
        bytes: vec![1],
    });
    let mut editor = Editor::new(&code, method);
    let nop = |count| {
        let mut asm = Asm::new();
        for _ in 0..count {
            asm.op(op::NOP);
        }
        asm
    };
    editor.insert_entry(nop(10));
    editor.insert_before(1, nop(1));
    editor.insert_after(2, nop(2));
    editor.insert_before(3, nop(3));
    editor.insert_before(4, nop(4));
    let mut body = Asm::new();
    body.athrow();
    editor.add_handler(HandlerSpec {
        from: EditPosition::AfterEntry,
        to: EditPosition::End,
        catch_type: 0,
        frame_locals: Vec::new(),
        body,
    });
    let edited = editor.finish_with_report(&mut pool).unwrap();
    // 0..10 entry, 10 nop, 11 inserted, 12 nop, 13 nop, 14..16 after, 16..19 before, 19 return, 20..24, 24 pop, 25.
    let starts: Vec<_> = (0..6).map(|pc| edited.map.new_pc(pc)).collect();
    assert_eq!(
        starts,
        [Some(10), Some(12), Some(13), Some(19), Some(24), Some(25)]
    );
    let code = &edited.code;
    assert_eq!(
        code.handlers,
        [
            Handler {
                start: 11,
                end: 16,
                handler: 20,
                catch_type: 0
            },
            Handler {
                start: 10,
                end: 26,
                handler: 26,
                catch_type: 0
            },
        ]
    );
    assert_eq!(code.bytes.len(), 27);
    assert_eq!(code.lines(&pool).unwrap().entries(), [(0, 7), (11, 8)]);
    assert_eq!(code.line_at(&pool, 13), Some(8));
    assert_eq!(code.attributes[1].bytes[2..6], [0, 11, 0, 5]);
    assert_eq!(code.attributes[1].bytes[12..16], [0, 0, 0, 26]);
    assert_eq!(code.attributes.len(), 2);
    assert_eq!(edited.dropped.len(), 1);
    assert_eq!(pool.utf8(edited.dropped[0]).unwrap(), "Mystery");
}

#[test]
fn type_annotations_follow_the_code() {
    let mut pool = Pool::new();
    let method = context(&mut pool, 52);
    let mut code = code(vec![op::NEW, 0, 1, op::POP, op::RETURN]);
    let annotations = [
        &[0, 4][..],
        // A local variable over pcs 3 to 5, with an annotation that has one nested array value.
        &[
            0x40, 0, 1, 0, 3, 0, 2, 0, 0, 0, 0, 9, 0, 1, 0, 9, b'[', 0, 2, b'I', 0, 1, b'e', 0, 1,
            0, 2,
        ],
        // `new` at pc 0, a cast at pc 3 and a catch clause.
        &[0x44, 0, 0, 0, 0, 9, 0, 0],
        &[0x47, 0, 3, 0, 1, 0, 0, 0, 9, 0, 0],
        &[0x42, 0, 0, 0, 0, 9, 0, 0],
    ]
    .concat();
    let name = pool.add_utf8("RuntimeInvisibleTypeAnnotations").unwrap();
    code.attributes.push(Attribute {
        name,
        bytes: annotations.clone(),
    });
    let mut editor = Editor::new(&code, method);
    let mut nop = Asm::new();
    nop.op(op::NOP);
    editor.insert_before(0, nop.clone());
    editor.insert_before(3, nop.clone());
    editor.insert_before(3, nop);
    let edited = editor.finish(&mut pool).unwrap();
    let bytes = &edited.attributes[0].bytes;
    let mut expected = annotations;
    expected[6] = 4;
    expected[8] = 4;
    expected[2 + 27 + 2] = 1;
    expected[2 + 27 + 8 + 2] = 6;
    assert_eq!(bytes, &expected);
}

#[test]
fn frames_move_grow_and_name_the_new_instruction() {
    use VerificationType::{Integer, Long, Top, Uninitialized};
    let mut pool = Pool::new();
    let method = context(&mut pool, 52);
    // 0: new; 3: iload_0; 4: ifeq 10; 7: goto 10; 10: pop; 11: return
    let bytes = vec![
        op::NEW,
        0,
        1,
        op::ILOAD_0,
        op::IFEQ,
        0,
        6,
        op::GOTO,
        0,
        3,
        op::POP,
        op::RETURN,
    ];
    let mut code = code(bytes);
    let initial = Frame {
        locals: vec![Integer],
        stack: vec![],
    };
    let frame = Frame {
        locals: vec![Integer],
        stack: vec![Uninitialized(0)],
    };
    let name = pool.add_utf8("StackMapTable").unwrap();
    code.attributes.push(Attribute {
        name,
        bytes: write_frames(&[(10, frame)], &initial).unwrap(),
    });

    let mut editor = Editor::new(&code, method);
    let temporary = editor.new_local(LocalKind::Int);
    let live = editor.new_live_local(Long);
    assert_eq!((temporary, live), (4, 5));
    let mut entry = Asm::new();
    entry.op(op::LCONST_0).lstore(live);
    editor.insert_entry(entry);
    let mut read = Asm::new();
    read.lload(live).op(op::POP2);
    editor.insert_before(0, read.clone());
    editor.insert_before(10, read.clone());
    editor.insert_after(4, read);
    editor.widen_all = true;
    let edited = editor.finish(&mut pool).unwrap();
    assert_eq!(edited.max_locals, 7);
    assert_eq!(edited.max_stack, 4);
    // 0..3 entry, 3..6 before, 6 new, 9 iload, 10 ifne over 13 goto_w, 18..21 after, 21 goto_w, 26..29 before, 29 pop.
    assert_eq!(
        edited.bytes[10..18],
        [op::IFNE, 0, 8, op::GOTO_W, 0, 0, 0, 13]
    );
    assert_eq!(edited.bytes[21..26], [op::GOTO_W, 0, 0, 0, 5]);
    let frames = parse_frames(&edited.attributes[0].bytes, &initial).unwrap();
    let locals = vec![Integer, Top, Top, Top, Top, Long];
    let frame = Frame {
        locals,
        stack: vec![Uninitialized(6)],
    };
    assert_eq!(frames, [(18, frame.clone()), (26, frame)]);
}

#[test]
fn entry_code_may_skip_a_part_of_itself() {
    let mut pool = Pool::new();
    let method = context(&mut pool, 61);
    let long = VerificationType::Long;
    let initial = Frame {
        locals: vec![VerificationType::Integer],
        stack: vec![],
    };
    let code = code(vec![op::RETURN]);
    let mut asked = Asm::new();
    asked.op(op::LCONST_0).op(op::ICONST_1);
    let mut part = Asm::new();
    part.op(op::POP2).op(op::LCONST_1);
    let mut kept = Asm::new();
    kept.op(op::POP2);

    let mut editor = Editor::new(&code, method);
    editor.insert_entry(asked.clone());
    editor.insert_entry_if(part.clone(), vec![long]);
    editor.insert_entry(kept.clone());
    let edited = editor.finish(&mut pool).unwrap();
    let jump = [op::LCONST_0, op::ICONST_1, op::IFEQ, 0, 5];
    let rest = [op::POP2, op::LCONST_1, op::POP2, op::RETURN];
    assert_eq!(edited.bytes, [&jump[..], &rest[..]].concat());
    let frames = parse_frames(&edited.attributes[0].bytes, &initial).unwrap();
    let frame = Frame {
        locals: initial.locals.clone(),
        stack: vec![long],
    };
    assert_eq!(frames, [(7, frame)]);

    // The stack is not the one that was told, before or after; nothing follows.
    for (asked, part, kept) in [
        (part.clone(), part.clone(), Some(&kept)),
        (asked.clone(), kept.clone(), Some(&kept)),
        (asked, part, None),
    ] {
        let mut editor = Editor::new(&code, method);
        editor.insert_entry(asked);
        editor.insert_entry_if(part, vec![long]);
        if let Some(kept) = kept {
            editor.insert_entry(kept.clone());
        }
        let refused = editor.finish(&mut pool).unwrap_err();
        assert!(matches!(refused, Error::BadInsertion(_)), "{refused}");
    }
}

#[test]
fn a_jump_over_much_code_takes_its_far_form_by_itself() {
    let mut pool = Pool::new();
    let method = context(&mut pool, 49);
    let code = code(vec![op::ILOAD_0, op::IFEQ, 0, 4, op::NOP, op::RETURN]);
    let with = |count: usize, pool: &mut Pool| {
        let mut asm = Asm::new();
        for _ in 0..count {
            asm.op(op::NOP);
        }
        let mut editor = Editor::new(&code, method);
        editor.insert_before(4, asm);
        editor.finish_with_report(pool)
    };
    // The jump spans itself, the insertion and one instruction.
    let near = with(32_767 - 4, &mut pool).unwrap();
    assert_eq!((near.widened, near.code.bytes[1]), (0, op::IFEQ));
    let far = with(32_767 - 3, &mut pool).unwrap();
    assert_eq!((far.widened, far.code.bytes[1]), (1, op::IFNE));
    assert_eq!(far.code.bytes[4], op::GOTO_W);
    assert!(with(65_535 - 6 - 5, &mut pool).is_ok());
    assert!(matches!(
        with(65_535, &mut pool),
        Err(Error::CodeTooLarge { .. })
    ));
}

#[test]
fn mistakes_are_errors() {
    let mut pool = Pool::new();
    let method = context(&mut pool, 52);
    let code = code(vec![op::SIPUSH, 0, 1, op::POP, op::RETURN]);
    let mut check = |edit: &dyn Fn(&mut Editor<'_>)| {
        let mut editor = Editor::new(&code, method);
        edit(&mut editor);
        editor.finish(&mut pool).unwrap_err()
    };
    let asm = |bytes: &[u8]| {
        let mut asm = Asm::new();
        asm.raw(bytes);
        asm
    };
    assert!(matches!(
        check(&|e| e.insert_before(1, asm(&[op::NOP]))),
        Error::BadTarget { .. }
    ));
    assert!(matches!(
        check(&|e| e.insert_after(99, asm(&[op::NOP]))),
        Error::BadTarget { .. }
    ));
    assert!(matches!(
        check(&|e| e.insert_before(0, asm(&[op::GOTO, 0, 3]))),
        Error::BadInsertion(_)
    ));
    assert!(matches!(
        check(&|e| e.insert_before(0, asm(&[op::RETURN]))),
        Error::BadInsertion(_)
    ));
    assert!(matches!(
        check(&|e| e.insert_before(0, asm(&[op::BIPUSH]))),
        Error::BadInstruction { .. }
    ));
    assert!(matches!(
        check(&|e| {
            e.new_live_local(VerificationType::Integer);
        }),
        Error::BadInsertion(_)
    ));
    assert!(matches!(
        check(&|e| {
            e.replace(3, asm(&[op::POP]));
            e.replace(3, asm(&[op::POP]));
        }),
        Error::BadInsertion(_)
    ));
    let handler = |from, to, body: &[u8]| HandlerSpec {
        from,
        to,
        catch_type: 0,
        frame_locals: Vec::new(),
        body: asm(body),
    };
    assert!(matches!(
        check(&|e| e.add_handler(handler(
            EditPosition::AfterEntry,
            EditPosition::End,
            &[op::POP]
        ))),
        Error::BadInsertion(_)
    ));
    assert!(matches!(
        check(&|e| e.add_handler(handler(
            EditPosition::End,
            EditPosition::Before(3),
            &[op::ATHROW]
        ))),
        Error::BadInsertion(_)
    ));
    assert!(matches!(
        check(&|e| {
            for _ in 0..40_000 {
                e.new_local(LocalKind::Long);
            }
        }),
        Error::TooMany { .. }
    ));
}

#[test]
fn a_handler_over_nothing_is_left_out() {
    let mut pool = Pool::new();
    let method = context(&mut pool, 52);
    let code = code(vec![op::RETURN]);
    let mut editor = Editor::new(&code, method);
    let mut body = Asm::new();
    body.athrow();
    let spec = HandlerSpec {
        from: EditPosition::After(0),
        to: EditPosition::End,
        catch_type: 0,
        frame_locals: Vec::new(),
        body,
    };
    editor.add_handler(spec);
    let edited = editor.finish(&mut pool).unwrap();
    assert_eq!(edited.bytes, [op::RETURN]);
    assert!(edited.handlers.is_empty() && edited.attributes.is_empty());
}
