//! Histories with a known culprit, as scripts that make a repository.

/// A history.
pub struct History {
    pub name: &'static str,
    /// Makes the repository in the folder it runs in; `good` is a tag, the bad version is the last.
    pub script: &'static str,
    /// The command of a test: 0 passes, 125 is unresolved.
    pub test: &'static str,
    /// A line that decides, and the subject of the commit that has it.
    pub line: &'static str,
    pub commit: &'static str,
}

/// The beginning of all scripts.
pub const START: &str = "\
set -e
git init -q -b main .
git config user.name Ann
git config user.email ann@example.org
commit() { git add -A; git commit -qm \"$1\"; }
lines() { i=0; while [ $i -lt $1 ]; do echo \"value_$i = $i;\"; i=$((i + 1)); done; }
change() { sed -i \"s/^value_$1 = .*/value_$1 = $2;/\" config; commit \"change $1\"; }
";

/// The histories.
pub const HISTORIES: [History; 5] = [
    History {
        name: "straight, 100 commits",
        script: "lines 400 >config; commit base; git tag good
            for n in $(seq 1 63); do change $n x$n; done
            sed -i 's/^value_200 = .*/value_200 = broken;/; s/^value_210 = .*/value_210 = fine;/' config; commit culprit
            for n in $(seq 70 105); do change $n x$n; done",
        test: "! grep -q broken config",
        line: "value_200 = broken;",
        commit: "culprit",
    },
    History {
        name: "a merged branch has it",
        script: "lines 400 >config; commit base; git tag good
            git checkout -qb side; for n in $(seq 1 12); do change $n s$n; done
            sed -i 's/^value_300 = .*/value_300 = broken;/' config; lines 40 >extra; commit culprit
            for n in $(seq 13 20); do change $n s$n; done
            git checkout -q main; for n in $(seq 101 120); do change $n m$n; done
            git merge -q --no-edit side; for n in $(seq 121 130); do change $n m$n; done",
        test: "! grep -q broken config",
        line: "value_300 = broken;",
        commit: "culprit",
    },
    History {
        name: "a third of the commits cannot be judged",
        script: "lines 400 >config; echo ok >state; commit base; git tag good
            for n in $(seq 1 60); do
              case $((n % 3)) in 0) echo broken-build >state;; *) echo ok >state;; esac
              [ $n = 41 ] && sed -i 's/^value_250 = .*/value_250 = broken;/' config
              sed -i \"s/^value_$n = .*/value_$n = x$n;/\" config; commit \"commit $n\"
            done; echo ok >state; commit last",
        test: "grep -q broken-build state && exit 125; ! grep -q broken config",
        line: "value_250 = broken;",
        commit: "commit 41",
    },
    History {
        name: "the culprit is large",
        script: "lines 900 >config; commit base; git tag good
            for n in $(seq 1 20); do change $n x$n; done
            sed -i 's/^\\(value_[2-8][0-9]*\\) = \\(.*\\);/\\1 = \\2 + 1;/; s/^value_450 = .*/value_450 = broken;/' config; commit culprit
            for n in $(seq 30 40); do change $n x$n; done",
        test: "! grep -q broken config",
        line: "value_450 = broken;",
        commit: "culprit",
    },
    History {
        name: "the work tree has it",
        script: "lines 400 >config; commit base; git tag good
            for n in $(seq 1 40); do change $n x$n; done
            sed -i 's/^value_[12][0-9][0-9] = .*/changed;/; s/^value_350 = .*/value_350 = broken;/' config",
        test: "! grep -q broken config",
        line: "value_350 = broken;",
        commit: "",
    },
];
