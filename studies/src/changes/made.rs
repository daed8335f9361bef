//! A made-up program in C in two versions: thousands of changed places, many of which need each
//! other to build, and one string constant that decides.
//!
//! Rebuilt from the account of a debugger's new version that broke its front end: the text of a
//! help message changed, and somebody parsed it.

use std::fs;
use std::path::Path;

/// Functions of a module.
const FUNCTIONS: usize = 60;

/// Files of one version.
struct Sources {
    is_new: bool,
    modules: usize,
}

/// Writes both versions, with so many modules.
pub fn write(old: &Path, new: &Path, modules: usize) -> anyhow::Result<()> {
    for (folder, is_new) in [(old, false), (new, true)] {
        fs::create_dir_all(folder)?;
        let sources = Sources { is_new, modules };
        for module in 0..modules {
            fs::write(folder.join(format!("m{module}.h")), sources.header(module))?;
            fs::write(folder.join(format!("m{module}.c")), sources.source(module))?;
        }
        fs::write(folder.join("main.c"), sources.main())?;
        fs::write(folder.join("Makefile"), MAKEFILE)?;
    }
    Ok(())
}

const MAKEFILE: &str = "\
objects := $(patsubst %.c,%.o,$(wildcard *.c))
tool: $(objects)
\t@cc -o $@ $(objects)
%.o: %.c
\t@cc -O0 -Werror=implicit-function-declaration -MMD -MP -c -o $@ $<
-include $(wildcard *.d)
";

impl Sources {
    /// Old text, or new.
    fn pick<'t>(&self, old: &'t str, new: &'t str) -> &'t str {
        if self.is_new { new } else { old }
    }

    fn header(&self, module: usize) -> String {
        let mut text = format!("struct s{module} {{\n  unsigned start;\n");
        // A field has another name: whoever uses it must know.
        text += &match self.is_new {
            false => format!("  unsigned count{module};\n"),
            true => format!("  unsigned total{module};\n"),
        };
        text += "  unsigned end;\n};\n";
        for function in 0..FUNCTIONS {
            text += &self.prototype(module, function);
        }
        if self.is_new {
            text += &format!("unsigned h{module}_1(unsigned value);\n");
        }
        text
    }

    /// The head of a function. One is renamed, one has a parameter more, one is gone.
    fn head(&self, module: usize, function: usize) -> Option<String> {
        match (function, self.is_new) {
            (3, true) => Some(format!("unsigned renamed{module}_3(unsigned value)")),
            (5, true) => Some(format!(
                "unsigned f{module}_5(unsigned value, unsigned more)"
            )),
            (7, true) => None,
            _ => Some(format!("unsigned f{module}_{function}(unsigned value)")),
        }
    }

    fn prototype(&self, module: usize, function: usize) -> String {
        let head = self.head(module, function);
        head.map_or(String::new(), |head| format!("{head};\n"))
    }

    fn source(&self, module: usize) -> String {
        let before = (module + self.modules - 1) % self.modules;
        let earlier = (module + self.modules - 2) % self.modules;
        let mut text = format!(
            "#include <stdio.h>\n#include \"m{module}.h\"\n#include \"m{before}.h\"\n#include \"m{earlier}.h\"\n\n"
        );
        for function in 0..FUNCTIONS {
            if let Some(head) = self.head(module, function) {
                text += &self.function(&head, module, function);
            }
            if (module, function) == (self.modules / 2, FUNCTIONS / 2) {
                text += &self.show();
            }
        }
        if self.is_new {
            text += &format!(
                "unsigned h{module}_1(unsigned value) {{\n  return value ^ {module};\n}}\n\n"
            );
        }
        text += &format!(
            "unsigned m{module}(unsigned value) {{\n  struct s{module} own = {{0}};\n  struct s{before} other = {{0}};\n"
        );
        let field = self.pick("count", "total");
        text += &format!(
            "  own.{field}{module} = value;\n  value += 1;\n  other.{field}{before} = value;\n  value += 2;\n"
        );
        let calls = [
            format!("  value += {};\n", self.pick_call(before, 3)),
            "  value ^= 3;\n".to_owned(),
            format!("  value += {};\n", self.pick_call(earlier, 3)),
            "  value ^= 4;\n".to_owned(),
            format!("  value += {};\n", self.pick_call(before, 5)),
            "  value ^= 5;\n".to_owned(),
            format!("  value += {};\n", self.pick_call(earlier, 5)),
            "  value ^= 6;\n".to_owned(),
            format!("  value += {};\n", self.pick_call(before, 7)),
            "  value ^= 7;\n".to_owned(),
        ];
        text += &calls.concat();
        if self.is_new {
            text += &format!("  value += h{before}_1(value);\n");
        }
        text += &format!("  return value + own.{field}{module} + other.{field}{before};\n}}\n");
        text
    }

    fn pick_call(&self, module: usize, function: usize) -> String {
        match (function, self.is_new) {
            (3, true) => format!("renamed{module}_3(value)"),
            (5, true) => format!("f{module}_5(value, 2)"),
            (7, true) => "0".to_owned(),
            _ => format!("f{module}_{function}(value)"),
        }
    }

    /// A function in which two numbers change, with a line between them that does not.
    fn function(&self, head: &str, module: usize, function: usize) -> String {
        let first = module * 7 + function;
        let (a, b) = match self.is_new {
            false => (first, first + 1),
            true => (first + 1000, first + 2000),
        };
        format!(
            "{head} {{\n  unsigned result = value;\n  result += {a};\n  result ^= {module};\n  result += {b};\n  return result;\n}}\n\n"
        )
    }

    /// The help text that decides, in the midst of everything else.
    fn show(&self) -> String {
        let text = self.pick("arguments", "argument list");
        format!("void show(void) {{\n  printf(\"%s to give the program\\n\", \"{text}\");\n}}\n\n")
    }

    fn main(&self) -> String {
        let mut text = "#include <stdio.h>\n\nvoid show(void);\n".to_owned();
        for module in 0..self.modules {
            text += &format!("unsigned m{module}(unsigned value);\n");
        }
        text += "\nint main(void) {\n  unsigned value = 1;\n";
        for module in 0..self.modules {
            text += &format!("  value += m{module}(value);\n");
        }
        text += "  show();\n  printf(\"%u\\n\", value);\n  return 0;\n}\n";
        text
    }
}
