//! The files that a program finds where it works.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use culprit_jvm::{Scratch, Template, WorkingFolder, copy_input};
use culprit_scripts::InputFile;

/// The most bytes of a file that becomes a text in a test.
const LONGEST_TEXT: u64 = 8 << 10;

/// The files of a program's working folder, as they were before the program ran.
pub struct FilesFound {
    /// A time at which the program had not run yet. Younger files may be its work.
    began: SystemTime,
    /// The folder as it was then, if it was saved.
    saved: Option<Saved>,
    /// The folder of the recording, if it was there when the program ran.
    recorded: Option<PathBuf>,
    /// Copies of files that tests find on the class path.
    resources: Mutex<Resources>,
}

/// Copies of files, in a folder that is on the class path of candidates and tests.
#[derive(Default)]
struct Resources {
    /// The folder, once there is a file for it.
    folder: Option<Scratch>,
    /// The original paths, by the names of the copies.
    originals: BTreeMap<String, PathBuf>,
}

impl Resources {
    /// The name of the copy of a file or folder, which is made if there is none yet; `None` if it is no file that a test
    /// can have.
    fn name(&mut self, path: &Path) -> Option<String> {
        let last = path.file_name()?.to_str()?;
        let names = [last.to_owned()].into_iter();
        let mut names = names.chain((2..).map(|number| format!("{number}-{last}")));
        let name = names.find(|name| self.originals.get(name).is_none_or(|it| it == path))?;
        if self.originals.contains_key(&name) {
            return Some(name);
        }
        if self.folder.is_none() {
            self.folder = Scratch::new("resources").ok();
        }
        let copy = self.folder.as_ref()?.path().join(&name);
        // A file that cannot be read is as good as none.
        let is_copied = copy_input(path, &copy).unwrap_or(false);
        is_copied.then(|| {
            self.originals.insert(name.clone(), path.to_owned());
            name
        })
    }
}

struct Saved {
    template: Arc<Template>,
    /// Removes the copies when it is dropped.
    _scratch: Scratch,
}

impl FilesFound {
    /// The files of a program that ran from a certain time on, without the folder of its recording.
    pub fn since(began: SystemTime, recorded: &Path) -> FilesFound {
        FilesFound {
            began,
            saved: None,
            recorded: recorded.canonicalize().ok(),
            resources: Mutex::default(),
        }
    }

    /// The files of a program that is about to run in a folder, without the folder for results. They are saved now.
    pub fn now(folder: &Path, results: &Path, now: SystemTime) -> FilesFound {
        let saved = || -> io::Result<Saved> {
            let scratch = Scratch::new("files")?;
            let template = Template::of(folder, now)?.without(results);
            let template = template.save_to(scratch.path())?;
            Ok(Saved {
                template: Arc::new(template),
                _scratch: scratch,
            })
        };
        FilesFound {
            began: now,
            recorded: None,
            resources: Mutex::default(),
            // Without them, the files that are left after the program has run have to do.
            saved: saved().ok(),
        }
    }

    /// A file or folder that a test can have: one that it can contain, one in a folder that the run made, or a resource.
    pub(crate) fn input(&self, directory: Option<&Path>, name: &str) -> Option<InputFile> {
        let text = self.text(directory, name).map(InputFile::Text);
        let temporary = || {
            let folder = self.temporary_folder(Path::new(name))?;
            let folder = folder.to_str()?.to_owned();
            Some(InputFile::Temporary { folder })
        };
        let resource = || self.resource(directory, name).map(InputFile::Resource);
        text.or_else(temporary).or_else(resource)
    }

    /// The name of the resource that is a copy of a file or folder, if the program found it.
    fn resource(&self, directory: Option<&Path>, name: &str) -> Option<String> {
        let path = directory.unwrap_or(Path::new("/")).join(name);
        let known = fs::metadata(&path).ok()?;
        let is_old = known.modified().is_ok_and(|modified| modified < self.began);
        let is_around = directory.is_some_and(|directory| directory.starts_with(&path));
        if !is_old || is_around {
            return None;
        }
        let resources = self.resources.lock();
        resources
            .unwrap_or_else(PoisonError::into_inner)
            .name(&path)
    }

    /// The folder of the resources, if there are any.
    pub(crate) fn resources(&self) -> Option<Arc<Template>> {
        let resources = self.resources.lock();
        let resources = resources.unwrap_or_else(PoisonError::into_inner);
        let folder = resources
            .folder
            .as_ref()
            .filter(|_| !resources.originals.is_empty())?;
        let template = Template::whole(folder.path()).ok()?;
        Some(Arc::new(template))
    }

    /// The outermost folder above a path, or the path itself, that is in the folder for temporary files and was not there before
    /// the run.
    fn temporary_folder<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let all = env::temp_dir();
        let is_new = |folder: &&Path| match fs::symlink_metadata(folder) {
            Ok(known) => known.created().is_ok_and(|created| created >= self.began),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let above: Vec<&Path> = path.ancestors().collect();
        let inside = above.into_iter().rev();
        let mut inside = inside.filter(|folder| folder.starts_with(&all) && **folder != all);
        let folder = inside.find(is_new)?;
        let is_alone = folder == path && path.extension().is_some();
        (!is_alone).then_some(folder)
    }

    /// The text of a file that the program found, if a test can contain it: a short text that is the same in every charset.
    fn text(&self, directory: Option<&Path>, name: &str) -> Option<String> {
        let path = directory.unwrap_or(Path::new("/")).join(name);
        let known = fs::metadata(&path).ok()?;
        let is_old = known.modified().is_ok_and(|modified| modified < self.began);
        if !known.is_file() || known.len() > LONGEST_TEXT || !is_old {
            return None;
        }
        let text = fs::read_to_string(&path).ok()?;
        let is_plain = |c: char| c.is_ascii() && !c.is_ascii_control() || "\t\n\r".contains(c);
        text.chars().all(is_plain).then_some(text)
    }

    /// The working folders to try, in this order. A test that fails in an empty folder needs nothing but itself; others
    /// need files of the folder that the program worked in, as it was before the program ran, or as it is.
    pub(crate) fn working_folders(&self, directory: Option<&Path>) -> Vec<WorkingFolder> {
        let mut folders = vec![WorkingFolder::Empty];
        let Some(directory) = directory else {
            return folders;
        };
        let saved = self.saved.as_ref().map(|saved| &saved.template);
        let saved = saved
            .filter(|template| template.root() == directory)
            .cloned();
        let found = || {
            let template = Template::of(directory, self.began).ok()?;
            let recorded = self.recorded.iter();
            Some(recorded.fold(template, |template, folder| template.without(folder)))
        };
        let template = saved.or_else(|| found().map(Arc::new));
        let template = template.filter(|template| !template.is_empty());
        folders.extend(template.map(WorkingFolder::Copy));
        folders.push(WorkingFolder::Given(directory.to_owned()));
        folders
    }
}
