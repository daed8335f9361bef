//! Jars from Maven Central, for tests that need what others wrote. The tests of `culprit-junit` share this file.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use culprit_jvm::{Launch, Limits};

/// Far more than a Maven takes that fetches its plugin first.
const LIMIT: Duration = Duration::from_secs(120);

/// The jar, or `None` where there is neither a copy nor a Maven to fetch one. In CI that is an
/// error.
pub(crate) fn jar(
    group: &str,
    artifact: &str,
    version: &str,
    classifier: Option<&str>,
) -> Option<PathBuf> {
    // Two Mavens at once would write the same files.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let suffix = classifier.map(|c| format!("-{c}")).unwrap_or_default();
    let file = format!("{artifact}-{version}{suffix}.jar");
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jars");
    let home = env::var_os("HOME").map(PathBuf::from);
    let repository = home.as_ref().map(|home| {
        home.join(".m2/repository")
            .join(group.replace('.', "/"))
            .join(artifact)
            .join(version)
    });
    let places = [Some(own.clone()), repository];
    let known = places.into_iter().flatten().map(|place| place.join(&file));
    if let Some(known) = known.into_iter().find(|path| path.is_file()) {
        return Some(known);
    }
    fs::create_dir_all(&own).unwrap();
    let end = classifier.map(|c| format!(":{c}")).unwrap_or_default();
    let path = env::var_os("PATH");
    if let Ok(mvn) = culprit_jvm::resolve("mvn".as_ref(), path.as_deref()) {
        let launch = Launch {
            file: mvn,
            args: vec![
                "-q".into(),
                "-B".into(),
                "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy".into(),
                format!("-Dartifact={group}:{artifact}:{version}:jar{end}").into(),
                format!("-DoutputDirectory={}", own.display()).into(),
            ],
            env: vec![
                ("PATH".into(), path.unwrap_or_default()),
                ("HOME".into(), home.unwrap_or_else(|| own.clone()).into()),
            ],
            directory: own.clone(),
            limits: Limits::default(),
            sandbox: None,
        };
        launch.run(LIMIT).unwrap();
    }
    let fetched = own.join(&file);
    let missing = !fetched.is_file();
    assert!(
        !(missing && env::var_os("CI").is_some()),
        "{file} could not be fetched"
    );
    (!missing).then_some(fetched)
}
