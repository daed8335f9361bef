//! Settings of the whole JVM that a test changes (system properties, time zone, locale, standard streams), and the
//! method that restores them for the tests that run after it.

use crate::graph::Graph;
use crate::imports::Imports;
use crate::{Junit, graph};

/// The method that restores settings.
pub(crate) const METHOD: &str = "restoreSettings";

/// A setting of the JVM.
pub(crate) struct Setting {
    /// The class and the method that change it.
    pub(crate) class: &'static str,
    method: &'static str,
    /// The class of its value.
    pub(crate) of: &'static str,
    /// The field that keeps the value from before.
    pub(crate) field: &'static str,
    /// The value, after the name of the class.
    pub(crate) value: &'static str,
    /// The method that sets it again.
    pub(crate) restore: &'static str,
}

static SETTINGS: [Setting; 6] = [
    Setting {
        class: "java/lang/System",
        method: "setProperty",
        of: "java/util/Properties",
        field: "propertiesBefore",
        value: "getProperties().clone()",
        restore: "setProperties",
    },
    Setting {
        class: "java/util/TimeZone",
        method: "setDefault",
        of: "java/util/TimeZone",
        field: "timeZoneBefore",
        value: "getDefault()",
        restore: "setDefault",
    },
    Setting {
        class: "java/util/Locale",
        method: "setDefault",
        of: "java/util/Locale",
        field: "localeBefore",
        value: "getDefault()",
        restore: "setDefault",
    },
    Setting {
        class: "java/lang/System",
        method: "setIn",
        of: "java/io/InputStream",
        field: "inBefore",
        value: "in",
        restore: "setIn",
    },
    Setting {
        class: "java/lang/System",
        method: "setOut",
        of: "java/io/PrintStream",
        field: "outBefore",
        value: "out",
        restore: "setOut",
    },
    Setting {
        class: "java/lang/System",
        method: "setErr",
        of: "java/io/PrintStream",
        field: "errBefore",
        value: "err",
        restore: "setErr",
    },
];

impl Setting {
    fn is_changed_by(&self, node: &graph::Node<'_>) -> bool {
        let target = node.target();
        target.is_some_and(|target| target.owner == self.class && target.name == self.method)
    }
}

/// The settings that the statements of a test change.
pub(crate) fn changed(graph: &Graph<'_>) -> Vec<&'static Setting> {
    let is_changed = |setting: &&Setting| {
        let mut nodes = graph.nodes.iter();
        nodes.any(|node| setting.is_changed_by(node))
    };
    SETTINGS.iter().filter(is_changed).collect()
}

/// The members of a test class that restore what its statements set; empty if they set nothing.
#[derive(Default)]
pub(crate) struct Restoration {
    pub(crate) fields: String,
    pub(crate) method: String,
}

impl Restoration {
    pub(crate) fn of(graph: &Graph<'_>, imports: &Imports<'_>, junit: Junit) -> Restoration {
        let changed = changed(graph);
        if changed.is_empty() {
            return Restoration::default();
        }
        let (mut fields, mut body) = (String::new(), String::new());
        for setting in changed {
            let (class, of) = (imports.class(setting.class), imports.class(setting.of));
            let cast = match setting.method {
                "setProperty" => format!("({of}) "),
                _ => String::new(),
            };
            let Setting {
                field,
                value,
                restore,
                ..
            } = setting;
            fields.push_str(&format!(
                "    private final {of} {field} = {cast}{class}.{value};\n"
            ));
            body.push_str(&format!("        {class}.{restore}({field});\n"));
        }
        let (annotation, visible) = match junit {
            Junit::Four => ("org/junit/After", "public "),
            Junit::Five => ("org/junit/jupiter/api/AfterEach", ""),
        };
        let annotation = imports.class(annotation);
        Restoration {
            fields,
            method: format!("\n    @{annotation}\n    {visible}void {METHOD}() {{\n{body}    }}\n"),
        }
    }
}
