//! Published releases of libraries between which a bug came or went.

/// Two releases of a library: those of a case of `corpus/`.
pub struct Pair {
    /// The case. Its fixed version passes, its buggy one fails.
    pub case: &'static str,
    /// Coordinates that the sources need besides to compile.
    pub also: &'static [&'static str],
}

/// Pairs of releases.
pub const PAIRS: [Pair; 7] = [
    Pair {
        case: "commonmark-52",
        also: &[],
    },
    Pair {
        case: "codec-184",
        also: &[],
    },
    Pair {
        case: "csv-269",
        also: &[],
    },
    Pair {
        case: "csv-288",
        also: &[],
    },
    Pair {
        case: "io-368",
        also: &[],
    },
    Pair {
        case: "jsoup-safelist-remove",
        also: &["com.google.code.findbugs:jsr305:2.0.1"],
    },
    Pair {
        case: "json-java-bean-cycle",
        also: &[],
    },
];

/// Releases of a library, one commit each.
pub struct Line {
    pub case: &'static str,
    /// From the newest, which passes, to the oldest, which fails: the history is that of a fix
    /// that is taken back.
    pub versions: &'static [&'static str],
    /// The first of them that fails.
    pub culprit: &'static str,
}

impl Line {
    /// The tag of the version that passes.
    pub fn good(&self) -> String {
        format!("v{}", self.versions[0])
    }
}

/// Histories of releases.
pub const LINES: [Line; 1] = [Line {
    case: "json-java-bean-cycle",
    versions: &[
        "20220924", "20220320", "20211205", "20210307", "20201115", "20200518", "20190722",
        "20180813",
    ],
    culprit: "20210307",
}];
