//! The files that `culprit isolate input` writes to the folder for results.

use std::fs;
use std::io;
use std::path::Path;

use culprit_isolate::input::{Material, unified};
use culprit_report::isolate::input::{InputReport, file_name};

use crate::isolate::results::Results;

/// Writes both inputs, their difference and the reports.
pub(super) fn write(report: &InputReport<'_>, results: &Results) -> anyhow::Result<()> {
    let failing = &report.found.failing;
    put(failing, results, "failing")?;
    // An earlier run may have left a pair here.
    for name in [&file_name(failing, "passing"), "difference.diff"] {
        remove(&results.path(name))?;
    }
    let mut diff = None;
    if let Some(passing) = &report.found.passing {
        put(passing, results, "passing")?;
        let diff = diff.insert(unified(passing, failing));
        results.write("difference.diff", diff)?;
    }
    results.write("report.json", report.document().json())?;
    results.write("report.md", report.markdown(diff.as_deref()))?;
    results.write("report.html", report.html())?;
    Ok(())
}

/// Writes one input: a file with the extension of the original, or a folder.
fn put(material: &Material, results: &Results, name: &str) -> anyhow::Result<()> {
    let place = results.path(&file_name(material, name));
    remove(&place)?;
    match material.is_folder {
        true => {
            fs::create_dir_all(&place)?;
            for item in &material.items {
                item.write(&place)?;
            }
        }
        false => material.write_as(&place)?,
    }
    Ok(())
}

/// Removes the file or folder at a path, if there is one.
fn remove(place: &Path) -> io::Result<()> {
    match fs::symlink_metadata(place) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(place),
        Ok(_) => fs::remove_file(place),
        Err(_) => Ok(()),
    }
}
