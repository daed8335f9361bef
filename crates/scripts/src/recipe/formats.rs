//! What formats and parses text.

use culprit_model::Value;

use super::Recipe::{By, Of, When};
use super::Table;
use super::object_maker::{ObjectMaker, string};
use super::state_piece::StatePiece;

pub(super) const RECIPES: Table = &[
    ("java/text/SimpleDateFormat", By(date_format)),
    ("java/text/DecimalFormat", By(decimal_format)),
    ("java/text/DecimalFormatSymbols", Of(SYMBOLS, &["locale"])),
    ("java/text/MessageFormat", By(message_format)),
    ("java/text/ParsePosition", By(position)),
    (
        "java/text/FieldPosition",
        When(
            &[("beginIndex", 0), ("endIndex", 0)],
            "java/text/FieldPosition.<init>(I)V",
            &["field"],
        ),
    ),
];

const SYMBOLS: &str = "java/text/DecimalFormatSymbols.getInstance(Ljava/util/Locale;)Ljava/text/DecimalFormatSymbols;";

fn date_format<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let class = held.class();
    let target = format!("{class}.<init>(Ljava/lang/String;Ljava/util/Locale;)V");
    maker.of(&target, held, &["pattern", "locale"], made)?;
    let calendar = held.open("calendar")?;
    let zone = maker.field(calendar, "zone")?;
    let set = format!("{class}.setTimeZone(Ljava/util/TimeZone;)V");
    maker.send(&set, made, vec![zone], None)?;
    if calendar.int("lenient")? != 0 {
        return Some(());
    }
    let given = vec![Value::Boolean(false)];
    maker.send(&format!("{class}.setLenient(Z)V"), made, given, None)
}

fn decimal_format<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let class = held.class();
    let pattern = string(&pattern(held)?);
    let symbols = maker.field(held, "symbols")?;
    let target = format!("{class}.<init>(Ljava/lang/String;Ljava/text/DecimalFormatSymbols;)V");
    maker.make(&target, vec![pattern, symbols], made)?;
    for (field, by) in [
        ("parseBigDecimal", "setParseBigDecimal(Z)V"),
        ("parseIntegerOnly", "setParseIntegerOnly(Z)V"),
    ] {
        if held.int(field)? != 0 {
            let given = vec![Value::Boolean(true)];
            maker.send(&format!("{class}.{by}"), made, given, None)?;
        }
    }
    if held.constant("roundingMode") == Some("HALF_EVEN") {
        return Some(());
    }
    let mode = vec![maker.field(held, "roundingMode")?];
    let set = format!("{class}.setRoundingMode(Ljava/math/RoundingMode;)V");
    maker.send(&set, made, mode, None)
}

/// The pattern that a `DecimalFormat` is of, as its `toPattern` has it.
fn pattern(held: StatePiece<'_>) -> Option<String> {
    let (prefix, suffix) = (
        held.string("posPrefixPattern")?,
        held.string("posSuffixPattern")?,
    );
    let is_plain = held.string("negPrefixPattern")? == format!("'-{prefix}")
        && held.string("negSuffixPattern")? == suffix
        && held.int("useExponentialNotation")? == 0;
    is_plain.then_some(())?;
    let grouping = match held.int("groupingUsed")? {
        0 => 0,
        _ => held.int("groupingSize")?,
    };
    let least = held.int("minimumIntegerDigits")?;
    let digits = grouping.max(least) + 1;
    let mut pattern = affix(&prefix)?;
    for digit in (1..=digits).rev() {
        if digit != digits && grouping != 0 && digit % grouping == 0 {
            pattern.push(',');
        }
        pattern.push(if digit <= least { '0' } else { '#' });
    }
    let most = held.int("maximumFractionDigits")?;
    let least = held.int("minimumFractionDigits")?;
    if most > 0 || held.int("decimalSeparatorAlwaysShown")? != 0 {
        pattern.push('.');
    }
    (most < 400).then_some(())?;
    pattern.extend((0..most).map(|digit| if digit < least { '0' } else { '#' }));
    Some(pattern + &affix(&suffix)?)
}

/// What stands before or behind the number. Signs that depend on the locale have a quote before them.
fn affix(stored: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = stored.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => match rest.next()? {
                sign @ ('%' | '\u{2030}' | '\u{a4}' | '-') => out.push(sign),
                _ => return None,
            },
            '#' | '0'..='9' | ',' | '.' | ';' | '%' | '\u{2030}' | '\u{a4}' | '-' => {
                out.extend(['\'', c, '\'']);
            }
            c => out.push(c),
        }
    }
    Some(out)
}

/// One whose arguments have no formats of their own.
fn message_format<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let arguments = usize::try_from(held.int("maxOffset")? + 1).ok()?;
    let formats = held.references("formats")?.iter().take(arguments);
    let is_plain = formats
        .clone()
        .all(|format| *format == super::object_maker::null());
    is_plain.then_some(())?;
    let offsets = held.integers("offsets")?;
    let numbers = held.integers("argumentNumbers")?;
    let mut places = offsets.into_iter().zip(numbers).take(arguments).peekable();
    let text = held.text("pattern")?;
    let mut pattern = Vec::new();
    for at in 0..=text.len() {
        while let Some((_, number)) = places.next_if(|(offset, _)| *offset == at as i64) {
            pattern.extend(format!("{{{number}}}").encode_utf16());
        }
        match text.get(at).copied() {
            Some(quote) if quote == u16::from(b'\'') => pattern.extend([quote, quote]),
            Some(open) if open == u16::from(b'{') => pattern.extend("'{'".encode_utf16()),
            Some(unit) => pattern.push(unit),
            None => {}
        }
    }
    let given = vec![
        super::object_maker::text(&pattern),
        maker.field(held, "locale")?,
    ];
    let target = "java/text/MessageFormat.<init>(Ljava/lang/String;Ljava/util/Locale;)V";
    maker.make(target, given, made)
}

fn position<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let class = held.class();
    maker.of(&format!("{class}.<init>(I)V"), held, &["index"], made)?;
    if held.int("errorIndex")? == -1 {
        return Some(());
    }
    let given = vec![maker.field(held, "errorIndex")?];
    maker.send(&format!("{class}.setErrorIndex(I)V"), made, given, None)
}
