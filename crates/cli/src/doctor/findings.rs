//! What the facts mean for Culprit: fine, worth a note, or a problem with its remedy.

use super::facts::{Facts, Groups, JdkFacts, Temporary};
use culprit_report::doctor::Finding;
use culprit_report::figure;

/// Room for candidates below which a disk is too full.
const ROOM: u64 = 1 << 30;

/// The version of Landlock that has all that is needed.
const NEWEST: u32 = 6;

/// Judges all facts.
pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut found = vec![
        Finding::fine("kernel", &facts.kernel),
        landlock(facts),
        seccomp(facts),
        network(facts),
        groups(facts.groups),
        agent(facts),
    ];
    found.extend(unusable(facts));
    found.extend(facts.jdks.iter().map(|jdk| java(jdk, facts)));
    found.push(temporary(&facts.temporary));
    for (tool, path) in &facts.tools {
        found.push(match path {
            Some(path) => Finding::fine(*tool, path.display().to_string()),
            None if *tool == "git" => Finding::fine(*tool, "not found")
                .problem("install git; without it culprit isolate changes compares folders only"),
            None => Finding::fine(*tool, "not found").note("only programs built by it need it"),
        });
    }
    found
}

fn landlock(facts: &Facts) -> Finding {
    let newer = match facts.landlock >= NEWEST {
        true => " or newer",
        false => "",
    };
    let found = Finding::fine("Landlock", format!("version {}{newer}", facts.landlock));
    match (facts.abilities.files, facts.abilities.gap()) {
        (false, _) => Finding {
            found: "missing: candidates could write files".to_owned(),
            ..found
        }
        .problem(
            "use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK=y, and landlock among lsm= of the \
             kernel's command line (see /sys/kernel/security/lsm); a container must not filter the \
             landlock_* system calls",
        ),
        (true, Some(_)) if !facts.abilities.truncation => found.note(
            "candidates can empty files; Linux 6.2 or newer prevents it",
        ),
        (true, Some(_)) if !facts.abilities.signals => found.note(
            "programs in the sandbox can send signals until they are sealed; Linux 6.12 or newer \
             prevents it",
        ),
        (true, _) => found,
    }
}

fn seccomp(facts: &Facts) -> Finding {
    match facts.abilities.calls {
        true => Finding::fine("seccomp", "filters of system calls can be set"),
        false => Finding::fine("seccomp", "missing: candidates could use the network").problem(
            "use a kernel with CONFIG_SECCOMP_FILTER=y on x86_64 or aarch64; a container must allow \
             the seccomp system call",
        ),
    }
}

fn network(facts: &Facts) -> Finding {
    match facts.abilities.loopback {
        true => Finding::fine(
            "network",
            "candidates have a loopback interface of their own",
        ),
        false => Finding::fine("network", "candidates have no sockets at all").note(
            "to debug servers and clients, let users make namespaces: sysctl \
             kernel.unprivileged_userns_clone=1, user.max_user_namespaces, \
             kernel.apparmor_restrict_unprivileged_userns=0; a container must allow unshare",
        ),
    }
}

fn groups(groups: Groups) -> Finding {
    let found = |text: &str| Finding::fine("control groups", text);
    let instead = "memory is limited for each process and watched from outside instead";
    match groups {
        Groups::Usable => found("version 2, with memory, writable"),
        Groups::ReadOnly => found("version 2, with memory, but not writable").note(format!(
            "{instead}; to have groups, start culprit with: systemd-run --user --scope -p \
             Delegate=yes culprit ..."
        )),
        Groups::NoMemory => found("version 2, without memory here").note(format!(
            "{instead}; the group above must list memory in its cgroup.subtree_control"
        )),
        Groups::Absent => found("version 2 is not mounted").note(format!(
            "{instead}; boot with systemd.unified_cgroup_hierarchy=1"
        )),
    }
}

fn agent(facts: &Facts) -> Finding {
    match &facts.agent {
        Ok(path) => Finding::fine("agent", path.display().to_string()),
        Err(why) => Finding::fine("agent", why).problem(
            "set XDG_CACHE_HOME to a folder of your own, without blanks in its path, that programs \
             may be run from",
        ),
    }
}

fn unusable(facts: &Facts) -> Option<Finding> {
    let (why, next) = facts.unusable.as_ref()?;
    Some(Finding::fine("JDK", why).problem(next))
}

fn java(jdk: &JdkFacts, facts: &Facts) -> Finding {
    let name = format!("JDK {}", jdk.version);
    let home = jdk.home.display();
    let found = |text: &str| Finding::fine(&name, format!("{home}: {text}"));
    match &jdk.loads_agent {
        Err(why) if facts.agent.is_ok() => found(&format!("does not run the agent: {why}"))
            .problem("check that it is a JDK for this machine, and that java -version runs"),
        _ if !jdk.has_classes => found("lib/modules cannot be read")
            .problem("install a whole JDK; generated tests need the classes of the library"),
        _ if !jdk.has_compiler => found("has no javac").problem(
            "install the JDK, not only its JRE: generated tests are compiled to see them fail",
        ),
        _ => found("compiles, and runs the agent"),
    }
}

fn temporary(temporary: &Temporary) -> Finding {
    let path = temporary.path.display();
    let name = "temporary files";
    let free = match &temporary.free {
        Err(why) => {
            return Finding::fine(name, format!("{path}: {why}"))
                .problem("set TMPDIR to a folder that you can write to");
        }
        Ok(free) => *free,
    };
    let kind = match temporary.is_in_memory {
        true => ", in memory",
        false => "",
    };
    let found = Finding::fine(name, format!("{path}, {} free{kind}", figure::size(free)));
    match () {
        () if free < ROOM => found.problem("make room, or set TMPDIR to a folder with more of it"),
        () if temporary.is_without_programs => found.note(
            "no program can be run from there, such as those that a build of isolate changes makes; \
             TMPDIR names another folder",
        ),
        () => found,
    }
}

#[cfg(test)]
mod tests {
    use culprit_jvm::Abilities;
    use culprit_report::doctor::Health;

    use super::*;

    fn whole() -> Facts {
        Facts {
            kernel: "Linux 6.18.0 x86_64".to_owned(),
            landlock: 6,
            abilities: Abilities {
                files: true,
                truncation: true,
                signals: true,
                calls: true,
                loopback: true,
            },
            groups: Groups::Usable,
            agent: Ok("/home/ann/.cache/culprit/agent.so".into()),
            unusable: None,
            jdks: vec![JdkFacts {
                version: "17.0.1".to_owned(),
                home: "/usr/lib/jvm/17".into(),
                has_compiler: true,
                has_classes: true,
                loads_agent: Ok(()),
            }],
            temporary: Temporary {
                path: "/tmp".into(),
                free: Ok(5 << 30),
                is_in_memory: true,
                is_without_programs: false,
            },
            tools: vec![
                ("git", Some("/usr/bin/git".into())),
                ("mvn", Some("/usr/bin/mvn".into())),
            ],
        }
    }

    #[test]
    fn a_machine_that_has_everything_is_fine() {
        let found = findings(&whole());
        assert!(
            found.iter().all(|it| it.health == Health::Fine),
            "{found:#?}"
        );
        let lines: Vec<String> = found
            .iter()
            .map(|it| format!("{}: {}", it.name, it.found))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        kernel: Linux 6.18.0 x86_64
        Landlock: version 6 or newer
        seccomp: filters of system calls can be set
        network: candidates have a loopback interface of their own
        control groups: version 2, with memory, writable
        agent: /home/ann/.cache/culprit/agent.so
        JDK 17.0.1: /usr/lib/jvm/17: compiles, and runs the agent
        temporary files: /tmp, 5.0 GB free, in memory
        git: /usr/bin/git
        mvn: /usr/bin/mvn
        ");
    }

    /// Changes one fact; the findings that are not fine any more.
    #[track_caller]
    fn check(change: impl Fn(&mut Facts), expect: &[(&str, Health, &str)]) {
        let mut facts = whole();
        change(&mut facts);
        let found = findings(&facts);
        let bad: Vec<&Finding> = found
            .iter()
            .filter(|it| it.health != Health::Fine)
            .collect();
        assert_eq!(bad.len(), expect.len(), "{bad:#?}");
        for (finding, (name, health, mend)) in bad.iter().zip(expect) {
            assert_eq!((finding.name.as_str(), finding.health), (*name, *health));
            assert!(finding.mend.as_ref().unwrap().contains(mend), "{finding:?}");
        }
    }

    #[test]
    fn whatever_is_missing_is_named_with_its_remedy() {
        use Health::{Note, Problem};
        check(
            |facts| (facts.abilities.files, facts.abilities.truncation) = (false, false),
            &[("Landlock", Problem, "CONFIG_SECURITY_LANDLOCK")],
        );
        check(
            |facts| facts.abilities.truncation = false,
            &[("Landlock", Note, "6.2")],
        );
        check(
            |facts| facts.abilities.signals = false,
            &[("Landlock", Note, "6.12")],
        );
        check(
            |facts| facts.abilities.calls = false,
            &[("seccomp", Problem, "CONFIG_SECCOMP_FILTER")],
        );
        check(
            |facts| facts.abilities.loopback = false,
            &[("network", Note, "unprivileged_userns_clone")],
        );
        for (groups, mend) in [
            (Groups::ReadOnly, "systemd-run"),
            (Groups::NoMemory, "subtree_control"),
            (Groups::Absent, "unified"),
        ] {
            check(
                |facts| facts.groups = groups,
                &[("control groups", Note, mend)],
            );
        }
        check(
            |facts| {
                facts.agent = Err("no folder".to_owned());
                facts.jdks[0].loads_agent = Err("there is no agent".to_owned());
            },
            &[("agent", Problem, "XDG_CACHE_HOME")],
        );
        check(
            |facts| facts.unusable = Some(("no JDK".to_owned(), "install one".to_owned())),
            &[("JDK", Problem, "install one")],
        );
        check(
            |facts| facts.jdks[0].loads_agent = Err("wrong ELF class".to_owned()),
            &[("JDK 17.0.1", Problem, "java -version")],
        );
        check(
            |facts| facts.jdks[0].has_compiler = false,
            &[("JDK 17.0.1", Problem, "JRE")],
        );
        check(
            |facts| facts.jdks[0].has_classes = false,
            &[("JDK 17.0.1", Problem, "whole JDK")],
        );
        check(
            |facts| facts.temporary.free = Ok(100 << 20),
            &[("temporary files", Problem, "make room")],
        );
        check(
            |facts| facts.temporary.free = Err("read-only".to_owned()),
            &[("temporary files", Problem, "TMPDIR")],
        );
        check(
            |facts| facts.temporary.is_without_programs = true,
            &[("temporary files", Note, "TMPDIR")],
        );
        check(
            |facts| facts.tools[0].1 = None,
            &[("git", Problem, "install git")],
        );
        check(
            |facts| facts.tools[1].1 = None,
            &[("mvn", Note, "only programs built by it")],
        );
    }
}
