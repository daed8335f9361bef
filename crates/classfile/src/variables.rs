//! The names of local variables in the code of a method, as compilers write them with `-g`.

use crate::code::Code;
use crate::error::Result;
use crate::pool::Pool;
use crate::reader::Reader;

/// The local variables of a method, merged from all its `LocalVariableTable`s.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VariableTable {
    variables: Vec<Variable>,
}

/// A local variable and the part of the code in which it has its value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    start: u32,
    end: u32,
    local: u16,
    name: String,
}

impl Code {
    /// The names of the local variables.
    pub fn variables(&self, pool: &Pool) -> Result<VariableTable> {
        let mut variables = Vec::new();
        let tables = self.attributes.iter();
        for table in tables.filter(|it| it.is(pool, "LocalVariableTable")) {
            let mut reader = Reader::new(&table.bytes);
            for _ in 0..reader.u16()? {
                let start = u32::from(reader.u16()?);
                let end = start + u32::from(reader.u16()?);
                let name = pool.utf8(reader.u16()?)?.into_owned();
                let _descriptor = reader.u16()?;
                variables.push(Variable {
                    start,
                    end,
                    local: reader.u16()?,
                    name,
                });
            }
        }
        Ok(VariableTable { variables })
    }
}

impl VariableTable {
    /// The name of the variable that an instruction before `pc` has put into a local.
    pub fn name_at(&self, local: u16, pc: u32) -> Option<&str> {
        let mut variables = self.variables.iter();
        let found = variables.find(|it| it.local == local && (it.start..it.end).contains(&pc));
        found.map(|it| it.name.as_str())
    }

    /// True if the method has no names of variables.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }
}
