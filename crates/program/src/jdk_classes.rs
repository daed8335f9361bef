//! The classes that a JDK itself defines, whatever a class path has.

use std::collections::HashMap;

use culprit_jvm::Jdk;
use jimage_rs::JImage;

/// The classes in the image of a JDK.
pub struct JdkClasses {
    image: Option<JImage>,
    /// By package, with slashes, the module that has it.
    modules: HashMap<String, String>,
}

impl JdkClasses {
    /// Opens the image of a JDK. Without one, no class is known.
    pub fn of(jdk: &Jdk) -> JdkClasses {
        let image = JImage::open(jdk.home.join("lib/modules")).ok();
        let mut modules = HashMap::new();
        for name in image.iter().flat_map(JImage::resource_names_iter).flatten() {
            if name.extension == "class" {
                modules.insert(name.parent.into_owned(), name.module.into_owned());
            }
        }
        JdkClasses { image, modules }
    }

    /// The class file of a class, by its internal name.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let (package, _) = name.rsplit_once('/')?;
        let module = self.modules.get(package)?;
        let resource = format!("/{module}/{name}.class");
        let bytes = self.image.as_ref()?.find_resource(&resource).ok()??;
        Some(bytes.into_owned())
    }

    /// Whether the JDK has a class.
    pub fn has(&self, name: &str) -> bool {
        self.bytes(name).is_some()
    }
}
