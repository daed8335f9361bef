//! The test in Kotlin, after the same test in Java was seen to fail.

use culprit_junit::PrintedTest;

use crate::pipeline::{Form, TestMaker};
use crate::verify::{Fails, TestEnvironment};
use crate::{Checked, Error, Minimised, Verified, verify};

/// A test in Kotlin that was seen to fail, and its check.
pub(crate) struct KotlinTest {
    pub(crate) test: PrintedTest,
    pub(crate) checked: Checked,
}

impl TestMaker<'_> {
    /// The test in Kotlin, or the reason why there is none.
    pub(crate) fn in_kotlin(
        &self,
        minimised: &Minimised,
        form: Form<'_>,
        fails: Fails<'_>,
    ) -> Result<Result<KotlinTest, String>, Error> {
        let test = match self.printed(minimised, form) {
            Ok(test) => test,
            Err(Error::Print(why)) => return Ok(Err(why)),
            Err(error) => return Err(error),
        };
        let folder = &self.surroundings.folder.join("kotlin");
        let surroundings = TestEnvironment {
            folder,
            ..self.surroundings
        };
        let checked = verify(&test, &surroundings, self.driver, fails)?;
        Ok(match &checked.verified {
            verified if fails(verified) => Ok(KotlinTest { test, checked }),
            Verified::Rejected(why) => {
                let mut lines = why.lines().filter(|line| line.contains("error:"));
                let first = lines.next().or(why.lines().next()).unwrap_or_default();
                let first = first.split_once("error:").map_or(first, |(_, first)| first);
                Err(format!("the Kotlin compiler rejects it: {}", first.trim()))
            }
            Verified::Late(limit) => Err(format!("it did not end within {limit:.0?}")),
            _ => Err("the test in Kotlin does not fail in the same way".to_owned()),
        })
    }
}
