//! Signatures of a jar: they no longer hold once a class is changed, so they go.

/// True if an entry is part of a signature.
pub(crate) fn is_signature(entry: &str) -> bool {
    let Some(name) = entry
        .to_ascii_uppercase()
        .strip_prefix("META-INF/")
        .map(str::to_owned)
    else {
        return false;
    };
    let ending = [".SF", ".RSA", ".DSA", ".EC"]
        .iter()
        .any(|e| name.ends_with(e));
    !name.contains('/') && (ending || name.starts_with("SIG-"))
}

/// A manifest without digests of entries, or `None` if it has none. The main section stays byte
/// for byte.
pub(crate) fn without_digests(manifest: &str) -> Option<String> {
    let end = if manifest.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let blank = format!("{end}{end}");
    let mut sections = manifest.split(blank.as_str());
    let mut kept = vec![sections.next()?.to_owned()];
    let mut changed = false;
    for section in sections {
        let mut attributes: Vec<Vec<&str>> = Vec::new();
        for line in section.lines().filter(|line| !line.is_empty()) {
            match attributes.last_mut() {
                // A line that starts with a blank goes on from the one before.
                Some(attribute) if line.starts_with(' ') => attribute.push(line),
                _ => attributes.push(vec![line]),
            }
        }
        let is_digest = |attribute: &Vec<&str>| {
            let name = attribute[0].split(':').next().unwrap_or_default();
            name.to_ascii_uppercase().contains("-DIGEST")
        };
        let before = attributes.len();
        attributes.retain(|attribute| !is_digest(attribute));
        changed |= attributes.len() != before;
        // A section with nothing but a name says nothing.
        if attributes.len() > 1 {
            kept.push(attributes.concat().join(end));
        }
    }
    changed.then(|| format!("{}{blank}", kept.join(&blank)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_files_are_known_by_name() {
        for (entry, expect) in [
            ("META-INF/ACME.SF", true),
            ("META-INF/acme.rsa", true),
            ("META-INF/SIG-X", true),
            ("META-INF/MANIFEST.MF", false),
            ("META-INF/services/x.EC", false),
            ("a/B.SF", false),
        ] {
            assert_eq!(is_signature(entry), expect, "{entry}");
        }
    }

    #[test]
    fn digests_go_and_everything_else_stays() {
        let manifest = "Manifest-Version: 1.0\r\nMain-Class: a.B\r\n\r\n\
                        Name: a/B.class\r\nSHA-256-Digest: abc\r\n def\r\n\r\n\
                        Name: a/C.class\r\nSealed: true\r\nSHA-256-Digest: x\r\n\r\n";
        let expect = "Manifest-Version: 1.0\r\nMain-Class: a.B\r\n\r\n\
                      Name: a/C.class\r\nSealed: true\r\n\r\n";
        assert_eq!(without_digests(manifest).as_deref(), Some(expect));
        assert_eq!(without_digests("Manifest-Version: 1.0\n\n"), None);
    }
}
