//! Passwords, tokens and keys in command lines and properties, found by well-known names and masked.
//!
//! Whoever writes a command line to disk passes it through here: the agent for the facts of a
//! recording, the command line tool for reports and scripts. `--redact` masks more; this needs no
//! option.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

/// What stands in the place of a text that is masked.
pub const MASK: &str = "***";

/// How names of secrets end: `-Djavax.net.ssl.keyStorePassword`, `--api-key`, `GITHUB_TOKEN`. Case
/// and separators do not count. A `password-file` is a path and no secret.
const ENDINGS: [&str; 17] = [
    "password",
    "passwd",
    "passwort",
    "passphrase",
    "storepass",
    "keypass",
    "dbpass",
    "secret",
    "token",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "credential",
    "credentials",
];

/// Names that are secrets as whole words only: `DB_PASS`, `jdbc.pwd`.
const WORDS: [&str; 2] = ["pass", "pwd"];

/// What ends a value in a text that has several, such as the query of a URL.
const SEPARATORS: [char; 6] = ['&', ';', ',', '"', '\'', ')'];

/// Whether a name is one of a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || is_separator(c));
    let whole: String = name.chars().filter(|c| !is_separator(*c)).collect();
    let whole = whole.to_ascii_lowercase();
    let last = last_word(name);
    // PWD alone is the working folder.
    let has_word = WORDS.contains(&last.as_str()) && (last.len() < name.len() || name == "pass");
    has_word || ENDINGS.iter().any(|ending| whole.ends_with(ending))
}

/// The words of a command with the values of secrets masked.
pub fn words<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Vec<String> {
    let mut is_value = false;
    let mask = |word: W| {
        let word = word.as_ref();
        if is_value && !word.starts_with('-') {
            is_value = false;
            return MASK.to_owned();
        }
        // `--password x`; with `--password=x` the value is in the word itself.
        is_value = option(word).is_some_and(is_secret);
        one_word(word).into_owned()
    };
    words.into_iter().map(mask).collect()
}

/// The words of a command with the values of secrets masked, all others to the byte.
pub fn masked<W: AsRef<OsStr>>(command: impl IntoIterator<Item = W>) -> Vec<OsString> {
    let command: Vec<OsString> = command
        .into_iter()
        .map(|it| it.as_ref().to_owned())
        .collect();
    let texts: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let masked = words(&texts);
    let pairs = command.iter().zip(&texts).zip(masked);
    pairs
        .map(|((word, text), masked)| match *text == masked {
            true => word.clone(),
            false => masked.into(),
        })
        .collect()
}

/// A text that may hold a command or a URL, such as the property `sun.java.command`.
pub fn text(text: &str) -> Cow<'_, str> {
    let pieces: Vec<&str> = text.split(' ').collect();
    let masked = words(&pieces);
    match masked.iter().eq(&pieces) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(masked.join(" ")),
    }
}

/// The value of a property or a variable.
pub fn value<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    match is_secret(name) && !value.is_empty() {
        true => Cow::Owned(MASK.to_owned()),
        false => text(value),
    }
}

/// One word: a definition as a whole, else what it has of credentials in URLs and of assignments.
fn one_word(word: &str) -> Cow<'_, str> {
    if let Some((name, given)) = word.split_once('=')
        && is_secret(definition(name))
        && !given.is_empty()
    {
        return Cow::Owned(format!("{name}={MASK}"));
    }
    if word.contains(' ') {
        // A command for a shell.
        return text(word);
    }
    assignments(&user_info(word)).map_or_else(|| user_info(word), Cow::Owned)
}

/// `https://user:pass@host` with the part behind the colon masked.
fn user_info(word: &str) -> Cow<'_, str> {
    let Some(start) = word.find("://").map(|at| at + 3) else {
        return Cow::Borrowed(word);
    };
    let end = word[start..].find(['/', '?', '#']).map(|at| at + start);
    let authority = &word[start..end.unwrap_or(word.len())];
    let Some((colon, at)) = authority.find(':').zip(authority.rfind('@')) else {
        return Cow::Borrowed(word);
    };
    if colon >= at {
        return Cow::Borrowed(word);
    }
    let (before, after) = (&word[..=start + colon], &word[start + at..]);
    Cow::Owned(format!("{before}{MASK}{after}"))
}

/// A text with several assignments, such as `jdbc:x://h/db?user=u&password=p`, if it has a secret.
fn assignments(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut is_masked = false;
    while let Some(equals) = rest.find('=') {
        let is_name = |c: char| c.is_ascii_alphanumeric() || is_separator(c);
        let name = rest[..equals].rsplit(|c: char| !is_name(c)).next();
        let is_secret = name.is_some_and(is_secret);
        out.push_str(&rest[..=equals]);
        rest = &rest[equals + 1..];
        let end = rest.find(SEPARATORS).unwrap_or(rest.len());
        if is_secret && end > 0 {
            out.push_str(MASK);
            rest = &rest[end..];
            is_masked = true;
        }
    }
    out.push_str(rest);
    is_masked.then_some(out)
}

/// The name of an option that has no value in its word.
fn option(word: &str) -> Option<&str> {
    let name = word.strip_prefix('-')?.trim_start_matches('-');
    (!name.is_empty() && !name.contains(['=', ':', '/'])).then_some(name)
}

/// The name that is defined: `-Dname=`, `--name=`, `name=`.
fn definition(name: &str) -> &str {
    match name.strip_prefix("-D") {
        Some(property) => property,
        None => name.trim_start_matches('-'),
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | '_' | '-')
}

/// The last word of `jdbc.pwd`, `DB_PASS` or `storePass`, in lower case.
fn last_word(name: &str) -> String {
    let last = name.rsplit(is_separator).next().unwrap_or_default();
    let is_mixed = last.contains(|c: char| c.is_ascii_lowercase());
    let start = last.rfind(|c: char| is_mixed && c.is_ascii_uppercase());
    last[start.unwrap_or(0)..].to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn well_known_names_are_secrets_and_paths_to_them_are_not() {
        for name in [
            "password",
            "javax.net.ssl.keyStorePassword",
            "spring.datasource.password",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "GITHUB_TOKEN",
            "api-key",
            "apiKey",
            "client_secret",
            "DB_PASS",
            "jdbc.pwd",
            "storepass",
            "sslPass",
            "password1",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "",
            "user",
            "PWD",
            "compass",
            "bypass",
            "keyStore",
            "password-file",
            "tokenizer",
            "java.class.path",
            "key",
            "secretary",
            "token.endpoint",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn the_values_of_secrets_are_masked_and_nothing_else() {
        let check = |line: &str, expect: &str| {
            assert_eq!(words(line.split(' ')).join(" "), expect);
            assert_eq!(text(line), expect);
        };
        check(
            "java -Dpassword=a&b=c -Duser=u -cp a.jar app.Main --password x -v",
            "java -Dpassword=*** -Duser=u -cp a.jar app.Main --password *** -v",
        );
        check("--token=x --api-key y z", "--token=*** --api-key *** z");
        check("--password --verbose x", "--password --verbose x");
        check(
            "AWS_SECRET_ACCESS_KEY=x A=b java",
            "AWS_SECRET_ACCESS_KEY=*** A=b java",
        );
        check(
            "-Durl=jdbc:mysql://h/db?user=u&password=p;x=y",
            "-Durl=jdbc:mysql://h/db?user=u&password=***;x=y",
        );
        check(
            "https://me:p:w@host:8080/a?b=c http://h:80/x@y",
            "https://me:***@host:8080/a?b=c http://h:80/x@y",
        );
        check("-keystore k -storepass x", "-keystore k -storepass ***");
        check("-p 8080 -Dpassword= a=b=c", "-p 8080 -Dpassword= a=b=c");
        let shell = ["sh", "-c", "curl --token x | cat", "-Dpassword=a b"];
        let expect = ["sh", "-c", "curl --token *** | cat", "-Dpassword=***"];
        assert_eq!(words(shell), expect);
        assert_eq!(value("db.password", "x"), MASK);
        assert_eq!(
            value("sun.java.command", "Main --token x"),
            "Main --token ***"
        );
        assert_eq!(value("java.class.path", "/a:/b"), "/a:/b");
    }

    #[test]
    fn words_without_a_secret_are_kept_to_the_byte() {
        let odd = OsStr::from_bytes(b"\xff=x");
        let command = ["--password", "x", "-Dapi.token=y"].map(OsStr::new);
        let expect = ["--password", "***", "-Dapi.token=***"].map(OsStr::new);
        assert_eq!(
            masked([&command[..], &[odd]].concat()),
            [&expect[..], &[odd]].concat()
        );
    }

    proptest! {
        #[test]
        fn a_secret_never_comes_out(secret in "[a-zA-Z0-9!$%^*+@:/#]{6,20}", name in "[a-z]{0,5}") {
            let before = format!("{name}Password");
            for given in [
                vec![format!("-D{before}={secret}")],
                vec![format!("--{before}={secret}")],
                vec![format!("--{before}"), secret.clone()],
                vec![format!("{}_TOKEN={secret}", name.to_uppercase())],
                vec![format!("jdbc:x://h/d?{before}={secret}&a=b")],
            ] {
                let out = words(&given);
                prop_assert_eq!(out.len(), given.len());
                prop_assert!(!out.join(" ").contains(&secret), "{:?}", out);
                prop_assert!(out.join(" ").contains(MASK));
            }
        }

        #[test]
        fn masking_is_done_once_and_keeps_the_words(given in any::<Vec<String>>()) {
            let once = words(&given);
            prop_assert_eq!(once.len(), given.len());
            prop_assert_eq!(words(&once), once);
        }
    }
}
