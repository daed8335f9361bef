//! The chain as a picture: from the origin at the top to the failure at the bottom, a box for each line and a frame for
//! each method. Each box is a link to the line in its source. The picture is as narrow as a phone.

use std::fmt::Write;

use super::ids::Ids;
use super::{LinkEntry, LinkEvidence, OriginEntry};
use crate::figure::{clipped, counted, wrap};
use crate::markup::html::escape;

/// The width of the picture, of its frames and of its boxes.
const WIDTH: usize = 336;
const FRAME: usize = 2;
const BOX: usize = 12;

/// The room between the edge of a box and its text, and the height of a line of text.
const PADDING: usize = 8;
const LINE: usize = 17;

/// The heights of an edge, of the name of a frame, and of the end of a frame.
const EDGE: usize = 32;
const NAME: usize = 26;
const END: usize = 10;

/// Where edges are.
const EDGE_X: usize = 30;

/// The columns of a line of bold text, of code, and of other text.
const BOLD: usize = 34;
const CODE: usize = 40;
const TEXT: usize = 42;

/// The most lines of code, of the experiment, and of the failure.
const MOST_CODE: usize = 2;
const MOST_TEXT: usize = 3;

/// A picture while it is drawn.
struct Picture {
    /// The frames, which are behind everything else.
    frames: String,
    /// The boxes and edges.
    svg: String,
    /// Where the next part begins.
    y: usize,
}

/// A line of text in a box.
struct TextLine {
    class: &'static str,
    text: String,
}

impl OriginEntry {
    /// The chain as a picture; the list of its links says the same.
    pub(super) fn picture(&self, failure: &str, ids: &Ids) -> String {
        let mut picture = Picture {
            frames: String::new(),
            svg: String::new(),
            y: FRAME,
        };
        let mut links: Vec<(usize, &LinkEntry)> = self.chain.iter().enumerate().collect();
        links.reverse();
        let frames: Vec<&[(usize, &LinkEntry)]> = links
            .chunk_by(|(_, one), (_, other)| {
                (&one.class, &one.method) == (&other.class, &other.method)
            })
            .collect();
        for (number, frame) in frames.iter().enumerate() {
            picture.frame(self, frame, ids);
            // The next box is below the name of its frame, if it has one.
            let name = if number + 1 < frames.len() { NAME } else { 0 };
            if let Some((_, last)) = frame.last() {
                picture.edge(last, END + EDGE + name);
                picture.y -= name;
            }
        }
        picture.failure(failure, &ids.stack());
        let steps = counted(self.chain.len() as u64, "step");
        let (title, description) = (ids.part("title"), ids.part("desc"));
        format!(
            "<svg class=\"chain\" viewBox=\"0 0 {WIDTH} {}\" role=\"group\" aria-labelledby=\"{title}\" \
             aria-describedby=\"{description}\">\n<title id=\"{title}\">The way to the failure</title>\n\
             <desc id=\"{description}\">{steps} in {}, from the origin to the failure. The list of lines says the \
             same.</desc>\n{}{}</svg>\n",
            picture.y + FRAME,
            counted(frames.len() as u64, "method"),
            picture.frames,
            picture.svg
        )
    }
}

impl Picture {
    /// A method with the links in it, from the origin on.
    fn frame(&mut self, origin: &OriginEntry, links: &[(usize, &LinkEntry)], ids: &Ids) {
        let top = self.y;
        self.y += NAME;
        for (number, (at, link)) in links.iter().enumerate() {
            self.link(origin, link, *at, ids);
            if number + 1 < links.len() {
                self.edge(link, EDGE);
            }
        }
        let name = links.first().map(|(_, link)| link.method_in_words());
        // Writing to a text cannot fail.
        let _ = writeln!(
            self.frames,
            "<rect class=\"frame\" x=\"{FRAME}\" y=\"{top}\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n\
             <text class=\"name\" x=\"{}\" y=\"{}\" aria-hidden=\"true\">{}</text>",
            WIDTH - 2 * FRAME,
            self.y + END - top,
            EDGE_X + 14,
            top + LINE,
            escape(&clipped(&name.unwrap_or_default(), BOLD)),
        );
    }

    fn link(&mut self, origin: &OriginEntry, link: &LinkEntry, at: usize, ids: &Ids) {
        let mut lines = vec![TextLine {
            class: "name",
            text: clipped(&link.place(), BOLD),
        }];
        if let Some(code) = &link.code {
            lines.extend(text_lines("code", code, CODE, MOST_CODE));
        }
        if let Some(value) = &link.value {
            lines.push(TextLine {
                class: "",
                text: clipped(&format!("value: {value}"), TEXT),
            });
        }
        let class = match &link.experiment {
            Some(experiment) => {
                let text = format!("✓ Confirmed: {experiment}");
                lines.extend(text_lines("yes", &text, BOLD, MOST_TEXT));
                "box yes"
            }
            None => "box",
        };
        let evidence = match link.evidence {
            LinkEvidence::Confirmed => "confirmed",
            LinkEvidence::Related => "related",
        };
        let label = format!(
            "Step {} of {}, {evidence}: {} in {}",
            origin.chain.len() - at,
            origin.chain.len(),
            link.place(),
            link.method_in_words()
        );
        self.boxed(class, &ids.source(origin, at), &label, &lines);
    }

    /// The failure, which leads to its stack trace.
    fn failure(&mut self, failure: &str, stack: &str) {
        let lines: Vec<TextLine> = text_lines("name", failure, BOLD, MOST_TEXT).collect();
        let label = format!("The failure: {failure}");
        self.boxed("box end", stack, &label, &lines);
    }

    fn boxed(&mut self, class: &str, target: &str, label: &str, lines: &[TextLine]) {
        let height = lines.len() * LINE + 2 * PADDING - 4;
        let _ = writeln!(
            self.svg,
            "<a href=\"#{target}\" aria-label=\"{}\"><rect class=\"{class}\" x=\"{BOX}\" y=\"{}\" width=\"{}\" \
             height=\"{height}\" rx=\"5\"/>",
            escape(&clipped(label, 300)),
            self.y,
            WIDTH - 2 * BOX
        );
        for (number, TextLine { class, text }) in lines.iter().enumerate() {
            let _ = writeln!(
                self.svg,
                "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
                BOX + PADDING,
                self.y + PADDING + 10 + number * LINE,
                escape(text)
            );
        }
        self.svg.push_str("</a>\n");
        self.y += height;
    }

    /// The arrow from a link to what depends on it.
    fn edge(&mut self, link: &LinkEntry, length: usize) {
        let (top, bottom) = (self.y + 2, self.y + length - 1);
        let label = link
            .dependence
            .as_ref()
            .map(|it| clipped(&it.words(), TEXT - 6));
        let _ = writeln!(
            self.svg,
            "<path class=\"arrow\" d=\"M{EDGE_X} {top}V{}\"/><path class=\"tip\" d=\"M{EDGE_X} {bottom}l-5 -8h10z\"/>\n\
             <text class=\"edge\" x=\"{}\" y=\"{}\" aria-hidden=\"true\">{}</text>",
            bottom - 7,
            EDGE_X + 14,
            match length {
                EDGE => self.y + LINE + 3,
                _ => self.y + END + LINE + 3,
            },
            escape(&label.unwrap_or_default())
        );
        self.y += length;
    }
}

/// A text in lines, of which the last says so if there were more.
fn text_lines(
    class: &'static str,
    text: &str,
    columns: usize,
    most: usize,
) -> impl Iterator<Item = TextLine> {
    let text = clipped(text, 2 * columns * most);
    let mut lines = wrap(&text, columns);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            let kept: String = last.chars().take(columns - 1).collect();
            *last = format!("{kept}…");
        }
    }
    lines.into_iter().map(move |text| TextLine { class, text })
}

#[cfg(test)]
mod tests {
    use super::super::tests::origin;
    use super::*;

    #[test]
    fn boxes_lead_to_the_source_from_the_origin_to_the_failure() {
        let picture = origin().picture("a.Thrown", &Ids::of(0, 0));
        let targets: Vec<&str> = picture
            .split("<a href=\"#")
            .skip(1)
            .filter_map(|it| it.split('"').next())
            .collect();
        assert_eq!(targets, ["f0-t0-m0-l7", "f0-t0-m0-l1", "f0-stack"]);
        assert!(picture.contains("Step 1 of 2, confirmed: B.java:7 in B.c"));
        assert!(picture.contains(">field total</text>"), "{picture}");
        assert_eq!(picture.matches("class=\"frame\"").count(), 1);
        assert_eq!(picture.matches("✓ Confirmed").count(), 1);
    }

    #[test]
    fn each_method_has_a_frame() {
        let mut origin = origin();
        origin.chain[1].method = "<init>".to_owned();
        let picture = origin.picture("a.Thrown", &Ids::of(0, 0));
        assert_eq!(picture.matches("class=\"frame\"").count(), 2);
        assert!(picture.contains(">new B</text>"));
    }

    #[test]
    fn long_and_hostile_texts_stay_within_their_boxes() {
        let mut origin = origin();
        let long = "<script>\u{202e}".repeat(50_000);
        for link in &mut origin.chain {
            link.class.clone_from(&long);
            link.method.clone_from(&long);
            link.file = Some(long.clone());
            link.code = Some(long.clone());
            link.value = Some(long.clone());
        }
        let picture = origin.picture(&long, &Ids::of(0, 0));
        assert!(picture.len() < 20_000, "{}", picture.len());
        assert!(!picture.contains("<script") && !picture.contains('\u{202e}'));
    }
}
