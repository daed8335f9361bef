//! A self-contained HTML page, without scripts and without links, and the picture of a search.

use std::fmt::Write;

use culprit_reduce::VerdictKind;

use crate::markup::html::escape;

/// Points of the course that are drawn, at most.
const DRAWN: usize = 4000;

/// Size of the picture.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 220.0;

/// The width of a letter of a name in the picture.
const LETTER: f64 = 6.0;

/// The style sheet of all pages.
const STYLE: &str = include_str!("page.css");

/// A whole page.
pub(crate) fn page(title: &str, body: &str) -> String {
    with_heading(title, title, body)
}

/// A whole page whose heading says more than its title.
pub(crate) fn with_heading(title: &str, heading: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <style>\n{STYLE}</style>\n<main>\n<h1>{}</h1>\n{body}</main>\n</html>\n",
        escape(title),
        escape(heading)
    )
}

/// A test in the course of a reduction.
pub(crate) struct Point {
    /// The part that is left to decide, as a share of the whole.
    pub(crate) left: f64,
    pub(crate) kind: VerdictKind,
    /// The parts that are removed.
    pub(crate) level: String,
}

/// The course as a picture: what is left after each test, and the verdicts.
pub(crate) fn course(points: &[Point]) -> String {
    if points.is_empty() {
        return String::new();
    }
    let step = points.len().div_ceil(DRAWN);
    let count = points.len().max(2) as f64 - 1.0;
    let x = |at: usize| 40.0 + at as f64 / count * (WIDTH - 60.0);
    // Logarithmic: the last few lines matter as much as the first thousands.
    let least = points
        .iter()
        .map(|point| point.left)
        .filter(|left| *left > 0.0);
    let least = least.fold(1.0, f64::min).min(0.5);
    let y = |left: f64| {
        let left = left.clamp(least, 1.0);
        20.0 + left.ln() / least.ln() * (HEIGHT - 60.0)
    };
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"what is left after each test\">\n"
    );
    let line: Vec<String> = points
        .iter()
        .enumerate()
        .step_by(step)
        .map(|(at, point)| format!("{:.1},{:.1}", x(at), y(point.left)))
        .collect();
    // Writing to a text cannot fail.
    let _ = writeln!(
        svg,
        "<polyline fill=\"none\" stroke=\"#4a78c0\" stroke-width=\"1.5\" points=\"{}\"/>",
        line.join(" ")
    );
    let mut level = "";
    // Where there is room for the next name.
    let mut free = 0.0;
    for (at, point) in points.iter().enumerate().step_by(step) {
        let color = match point.kind {
            VerdictKind::Pass => "#3a9a3a",
            VerdictKind::Fail => "#d0433a",
            VerdictKind::Unresolved => "#b0b0b0",
        };
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"2\" height=\"10\" fill=\"{color}\"/>",
            x(at) - 1.0,
            HEIGHT - 34.0
        );
        if point.level != level {
            level = &point.level;
            let _ = writeln!(
                svg,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"12\" y2=\"{1:.1}\" stroke=\"#bbb\" stroke-dasharray=\"2 3\"><title>{2}</title></line>",
                x(at),
                HEIGHT - 38.0,
                escape(level)
            );
            if x(at) >= free {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"12\" font-size=\"10\" class=\"t\">{}</text>",
                    x(at) + 2.0,
                    escape(level)
                );
                free = x(at) + 8.0 + LETTER * level.chars().count() as f64;
            }
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"4\" y=\"24\" font-size=\"10\" class=\"t\">all</text>\
         <text x=\"4\" y=\"{:.1}\" font-size=\"10\" class=\"t\">{}</text>\
         <text x=\"40\" y=\"{:.1}\" font-size=\"11\" class=\"t\">{} tests: green passes, red fails, grey has no verdict; the line is what is left (logarithmic)</text>\n</svg>",
        HEIGHT - 40.0,
        percent(least),
        HEIGHT - 8.0,
        points.len()
    );
    svg
}

/// A share, with the digits that say something.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        _ if percent >= 1.0 => format!("{percent:.0} %"),
        _ if percent >= 0.01 => format!("{percent:.2} %"),
        _ => format!("{percent:.0e} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The colours of a mode by their names: the last definitions up to an end.
    fn colours(rules: &'static str) -> Vec<(&'static str, [f64; 3])> {
        let rules = rules.rsplit(":root{").next().unwrap();
        let rules = rules.split('}').next().unwrap().split(';');
        let colour = |rule: &'static str| {
            let (name, value) = rule.split_once(":#").unwrap();
            let digits = value.len() / 3;
            let part = |at: usize| {
                let text = value[at * digits..][..digits].repeat(3 - digits);
                let part = f64::from(u8::from_str_radix(&text, 16).unwrap()) / 255.0;
                match part <= 0.04045 {
                    true => part / 12.92,
                    false => ((part + 0.055) / 1.055).powf(2.4),
                }
            };
            (name, [part(0), part(1), part(2)])
        };
        rules.map(colour).collect()
    }

    /// The contrast as the Web Content Accessibility Guidelines define it.
    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let [one, other] = [one, other].map(|[r, g, b]| 0.2126 * r + 0.7152 * g + 0.0722 * b);
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn text_has_enough_contrast_in_both_modes() {
        let (light, rest) = STYLE.split_once("@media(prefers").unwrap();
        let (dark, rest) = rest.split_once("*{").unwrap();
        for mode in [light, dark, rest] {
            let colours = colours(mode);
            let of = |wanted: &str| {
                let mut found = colours.iter();
                found.find(|(name, _)| *name == wanted).unwrap().1
            };
            let backs = ["--paper", "--block", "--slice", "--sure-back"];
            let texts = [
                "--ink",
                "--quiet",
                "--link",
                "--sure",
                "--word",
                "--text",
                "--number",
                "--comment",
                "--note",
            ];
            for (text, back) in texts.iter().flat_map(|text| backs.map(|back| (text, back))) {
                let contrast = contrast(of(text), of(back));
                assert!(contrast >= 4.5, "{text} on {back}: {contrast:.2}");
            }
            for back in ["--old", "--new", "--old-mark", "--new-mark"] {
                assert!(contrast(of("--ink"), of(back)) >= 4.5, "{back}");
            }
        }
    }

    #[test]
    fn names_of_passes_do_not_cover_each_other() {
        let passes = (0..200).map(|number| Point {
            left: 0.1,
            kind: VerdictKind::Pass,
            level: format!("pass {number}"),
        });
        let svg = course(&passes.collect::<Vec<_>>());
        let names = svg.matches("y=\"12\"").count();
        assert!((5..20).contains(&names), "{names}");
        assert_eq!(svg.matches("<title>").count(), 200);
        assert_eq!(
            [0.5, 0.0392, 0.0022, 1e-6].map(percent),
            ["50 %", "4 %", "0.22 %", "1e-4 %"]
        );
    }

    #[test]
    fn a_course_has_a_mark_for_each_test() {
        let point = |left, kind| Point {
            left,
            kind,
            level: "lines".to_owned(),
        };
        let points = [
            point(1.0, VerdictKind::Fail),
            point(1.0, VerdictKind::Pass),
            point(0.25, VerdictKind::Unresolved),
        ];
        let svg = course(&points);
        assert_eq!(svg.matches("<rect").count(), 3);
        assert!(svg.contains("3 tests"));
        assert_eq!(course(&[]), "");
    }
}
