//! The sentence on a failure: the place that decides it, or on which it depends.

use super::{LinkEntry, LinkEvidence, OriginEntry};
use crate::figure::clipped;

/// The most characters of the failure, and of a place.
const FAILURE: usize = 400;
const PLACE: usize = 160;

impl OriginEntry {
    /// What fails and what decides it. Only an experiment shows that something does.
    pub(super) fn sentence(&self, failure: &str) -> String {
        let failure = clipped(failure, FAILURE);
        let Some(link) = self.decisive() else {
            return format!("{failure}.");
        };
        let method = match link.has_line() {
            true => format!(", in {}", clipped(&link.method_in_words(), PLACE)),
            false => String::new(),
        };
        let place = clipped(&link.place(), PLACE);
        match &link.experiment {
            Some(experiment) => format!("{failure} is decided at {place}{method}: {experiment}."),
            None => format!("{failure} depends on {place}{method}."),
        }
    }

    /// Whether an experiment confirmed a link.
    pub(super) fn is_confirmed(&self) -> bool {
        let link = self.decisive();
        link.is_some_and(|link| link.evidence == LinkEvidence::Confirmed)
    }

    /// The link that matters most: of those that are confirmed, or else of all, the nearest to the likeliest method that
    /// the chain leads past. Of two, it is the one that is farther from the failure.
    pub(super) fn decisive(&self) -> Option<&LinkEntry> {
        let is_in = |link: &LinkEntry, class: &str, method: &str| {
            link.class == class && link.method == method
        };
        let likeliest = self.methods.iter().find(|method| {
            let mut links = self.chain.iter();
            links.any(|link| is_in(link, &method.class, &method.method))
        });
        let likely: Vec<usize> = self
            .chain
            .iter()
            .enumerate()
            .filter(|(_, link)| likeliest.is_some_and(|it| is_in(link, &it.class, &it.method)))
            .map(|(at, _)| at)
            .collect();
        let distance = |at: usize| likely.iter().map(|other| at.abs_diff(*other)).min();
        let nearest = |evidence| {
            let links = self.chain.iter().enumerate().rev();
            let links = links.filter(|(_, link)| link.evidence == evidence);
            links
                .min_by_key(|(at, _)| distance(*at))
                .map(|(_, link)| link)
        };
        nearest(LinkEvidence::Confirmed).or_else(|| nearest(LinkEvidence::Related))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::origin;
    use super::*;

    #[test]
    fn a_confirmed_line_decides() {
        let origin = origin();
        assert_eq!(
            origin.sentence("a.Thrown"),
            "a.Thrown is decided at B.java:7, in B.c: with 0 here, nothing fails."
        );
    }

    #[test]
    fn without_an_experiment_the_failure_depends_on_a_line() {
        let mut origin = origin();
        for link in &mut origin.chain {
            link.evidence = LinkEvidence::Related;
            link.experiment = None;
        }
        assert_eq!(
            origin.sentence("a.Thrown"),
            "a.Thrown depends on B.java:7, in B.c."
        );
        origin.chain.clear();
        assert_eq!(origin.sentence("a.Thrown"), "a.Thrown.");
    }

    #[test]
    fn the_confirmed_line_nearest_to_the_likeliest_method_counts() {
        let mut origin = origin();
        let link = |method: &str, line, evidence| LinkEntry {
            method: method.to_owned(),
            line: Some(line),
            evidence,
            ..origin.chain[1].clone()
        };
        // The likeliest method is `c`.
        origin.chain = vec![
            link("throws", 1, LinkEvidence::Confirmed),
            link("d", 2, LinkEvidence::Confirmed),
            link("c", 3, LinkEvidence::Related),
            link("e", 4, LinkEvidence::Related),
            link("main", 5, LinkEvidence::Confirmed),
        ];
        assert_eq!(origin.decisive().unwrap().line, Some(2));
        // Methods that the chain does not lead past do not count.
        origin.methods[0].method = "elsewhere".to_owned();
        assert_eq!(origin.decisive().unwrap().line, Some(5));
    }
}
