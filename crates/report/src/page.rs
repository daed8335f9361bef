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

const STYLE: &str = "\
body{font:15px/1.45 system-ui,sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#1b1b1b;background:#fff}\
h1{font-size:1.4em}h2{font-size:1.15em;margin-top:2em}code,pre,td.l,td.n{font-family:ui-monospace,monospace;font-size:13px}\
pre{background:#f5f5f5;padding:.8em;white-space:pre-wrap;overflow-wrap:anywhere}table.pair{border-collapse:collapse;width:100%;table-layout:fixed}\
table.pair td{vertical-align:top;padding:0 .4em;white-space:pre-wrap;overflow-wrap:anywhere}table.pair td.n{width:3.5em;color:#888;text-align:right}\
td.old{background:#e6f6e6}td.new{background:#fde4e1}mark{background:#f7b7ae}td.old mark{background:#b4e2b4}\
table.facts{border-collapse:collapse}table.facts td,table.facts th{border:1px solid #ddd;padding:.25em .6em;text-align:left}\
svg{background:#fafafa;border:1px solid #ddd;max-width:100%;height:auto}\
h1,h2,h3,p,li,summary{overflow-wrap:anywhere}h3{margin-top:1.6em}summary{cursor:pointer;margin-top:1.5em}\
.k{color:#7a2da8}.s{color:#1b6e2f}.n{color:#0b5cad}.c{color:#666}.a{color:#8a5a00}\
.sure,.doubt{border-left:4px solid #2f8f4e;padding-left:.7em}.doubt{border-color:#c77700}\
table.funnel{border-collapse:collapse;width:100%;max-width:45em;margin-top:1.2em}table.funnel caption{text-align:left;margin-bottom:.3em}\
table.funnel th,table.funnel td{font-weight:normal;text-align:right;padding:.1em .6em .1em 0;white-space:nowrap}table.funnel td.bar{width:70%}\
table.funnel div{background:#4a78c0;height:.8em;min-width:2px}\
ol.chain{list-style:none;padding:0}ol.chain li{margin:0;padding:.3em 0 .9em .9em;border-left:4px solid #bbb;position:relative}\
ol.chain li.sure{border-color:#2f8f4e}ol.chain pre{margin:.3em 0;padding:.4em .8em}ol.chain p{margin:.2em 0}\
@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}pre{background:#242424}td.old{background:#1d3a1d}td.new{background:#4a2320}mark{background:#8a3a30;color:#fff}td.old mark{background:#2f6b2f}svg{background:#222;border-color:#444}table.facts td,table.facts th{border-color:#444}.k{color:#d3a0ef}.s{color:#8fd19e}.n{color:#8cc3f5}.c{color:#a0a0a0}.a{color:#e5b566}a{color:#8cc3f5}}";

/// A whole page.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</html>\n",
        title = escape(title)
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
                    "<text x=\"{:.1}\" y=\"12\" font-size=\"10\" fill=\"#888\">{}</text>",
                    x(at) + 2.0,
                    escape(level)
                );
                free = x(at) + 8.0 + LETTER * level.chars().count() as f64;
            }
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"4\" y=\"24\" font-size=\"10\" fill=\"#888\">all</text>\
         <text x=\"4\" y=\"{:.1}\" font-size=\"10\" fill=\"#888\">{}</text>\
         <text x=\"40\" y=\"{:.1}\" font-size=\"11\" fill=\"#888\">{} tests: green passes, red fails, grey has no verdict; the line is what is left (logarithmic)</text>\n</svg>",
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
