//! The shadow of the program's memory: for each place, the instruction instance that defined its value.

use std::collections::{BTreeMap, HashMap};

use crate::graph::{Dependence, NodeId};

/// The shadow of a local or of a slot of the operand stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    pub(crate) definition: Option<NodeId>,
    /// How whoever uses the value depends on the definition.
    pub(crate) kind: Dependence,
    /// The object, if the value is one that has been met: its id in the trace, or a fresh one with the top bit set
    /// before its constructor has returned.
    pub(crate) object: u32,
}

impl Slot {
    /// A value that nobody has defined.
    pub(crate) const UNKNOWN: Slot = Slot {
        definition: None,
        kind: Dependence::Value,
        object: 0,
    };

    pub(crate) fn of(definition: NodeId, kind: Dependence) -> Slot {
        Slot {
            definition: Some(definition),
            kind,
            object: 0,
        }
    }

    pub(crate) fn with_object(self, object: u32) -> Slot {
        Slot { object, ..self }
    }

    /// The dependence on the definition.
    pub(crate) fn parent(self) -> Option<(NodeId, Dependence)> {
        Some((self.definition?, self.kind))
    }

    /// The dependence of an access through the object.
    pub(crate) fn base(self) -> Option<(NodeId, Dependence)> {
        Some((self.definition?, Dependence::Base))
    }
}

/// Objects that have no id yet.
pub(crate) const FRESH: u32 = 1 << 31;

/// A part of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Part {
    Field(u32),
    Element(u32),
}

/// The definition of a part, and the object that it refers to, if it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) definition: NodeId,
    pub(crate) object: u32,
}

#[derive(Clone, Debug, Default)]
struct ObjectShadow {
    parts: BTreeMap<Part, Cell>,
    /// The last call of code that is not traced and that may have changed the object.
    library: Option<NodeId>,
}

/// The shadow of the heap and of static fields.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    objects: HashMap<u32, ObjectShadow>,
    statics: HashMap<u32, Cell>,
    fresh: u32,
    /// Parts that copies have moved.
    moved: usize,
}

/// Parts that copies may move, in all: a trace of a few words could otherwise take any time.
const MOST_MOVED: usize = 1 << 26;

impl Heap {
    /// An id for an object that has none yet.
    pub(crate) fn fresh(&mut self) -> u32 {
        self.fresh = (self.fresh + 1) & !FRESH;
        FRESH | self.fresh
    }

    /// An object gets its id.
    pub(crate) fn name(&mut self, fresh: u32, id: u32) {
        if fresh & FRESH != 0
            && let Some(mut shadow) = self.objects.remove(&fresh)
        {
            let known = self.objects.entry(id).or_default();
            // Parts that are known under the id are later ones.
            shadow.parts.append(&mut known.parts);
            shadow.library = known.library.or(shadow.library);
            *known = shadow;
        }
    }

    pub(crate) fn write(&mut self, object: u32, part: Part, cell: Cell) {
        if object != 0 {
            self.objects
                .entry(object)
                .or_default()
                .parts
                .insert(part, cell);
        }
    }

    /// The dependences of a read.
    pub(crate) fn read(
        &self,
        object: u32,
        part: Part,
    ) -> impl Iterator<Item = (NodeId, Dependence)> + use<> {
        let shadow = self.objects.get(&object);
        let cell = shadow
            .and_then(|it| it.parts.get(&part))
            .map(|it| it.definition);
        let library = shadow.and_then(|it| it.library);
        let library = library.filter(|node| cell.is_none_or(|cell| cell < *node));
        let kind = match part {
            Part::Field(_) => Dependence::Field,
            Part::Element(_) => Dependence::Element,
        };
        let cell = cell.map(|it| (it, kind));
        cell.into_iter()
            .chain(library.map(|it| (it, Dependence::Library)))
    }

    pub(crate) fn write_static(&mut self, field: u32, cell: Cell) {
        self.statics.insert(field, cell);
    }

    pub(crate) fn read_static(&self, field: u32) -> Option<(NodeId, Dependence)> {
        let cell = self.statics.get(&field)?;
        Some((cell.definition, Dependence::Static))
    }

    /// Elements move from one array to another, or within one.
    pub(crate) fn copy(&mut self, copy: &ArrayCopy, mut by: impl FnMut(Cell) -> Cell) {
        let ArrayCopy {
            from,
            at,
            to,
            into,
            length,
        } = *copy;
        let moved: Vec<(u32, Cell)> = match self.objects.get(&from) {
            Some(source) => elements(source, at, length)
                .map(|(index, cell)| (index - at, cell))
                .collect(),
            None => Vec::new(),
        };
        self.moved = self.moved.saturating_add(moved.len());
        if self.moved > MOST_MOVED || to == 0 {
            return;
        }
        let target = self.objects.entry(to).or_default();
        // Elements without a definition take that of the target away.
        let old: Vec<(u32, Cell)> = elements(target, into, length).collect();
        for (index, _) in old {
            target.parts.remove(&Part::Element(index));
        }
        for (offset, cell) in moved {
            let part = Part::Element(into.wrapping_add(offset));
            target.parts.insert(part, by(cell));
        }
    }

    /// An object is copied with all its parts.
    pub(crate) fn duplicate(&mut self, original: u32, copy: u32) {
        let Some(shadow) = self.objects.get(&original) else {
            return;
        };
        self.moved = self.moved.saturating_add(shadow.parts.len());
        if self.moved <= MOST_MOVED && copy != 0 {
            let shadow = shadow.clone();
            self.objects.insert(copy, shadow);
        }
    }

    /// Code that is not traced may have changed an object.
    pub(crate) fn change(&mut self, object: u32, by: NodeId) {
        if object != 0 {
            self.objects.entry(object).or_default().library = Some(by);
        }
    }

    /// The call that may have changed an object last.
    pub(crate) fn changed(&self, object: u32) -> Option<(NodeId, Dependence)> {
        let library = self.objects.get(&object)?.library?;
        Some((library, Dependence::Library))
    }

    /// The definitions of at most `most` parts of an object, in order, and of those that its parts refer to.
    pub(crate) fn contents(&self, object: u32, most: usize) -> Vec<(NodeId, Dependence)> {
        let mut found = Vec::new();
        let mut inner = Vec::new();
        for cell in self.cells(object, most) {
            found.push((cell.definition, Dependence::Library));
            inner.push(cell.object);
        }
        for object in inner.into_iter().filter(|it| *it != 0) {
            let left = most.saturating_sub(found.len());
            let cells = self.cells(object, left);
            found.extend(cells.iter().map(|it| (it.definition, Dependence::Library)));
        }
        found
    }

    fn cells(&self, object: u32, most: usize) -> Vec<Cell> {
        let Some(shadow) = self.objects.get(&object) else {
            return Vec::new();
        };
        shadow.parts.values().take(most).copied().collect()
    }
}

/// The elements of an array in a range that have a definition.
fn elements(
    array: &ObjectShadow,
    from: u32,
    length: u32,
) -> impl Iterator<Item = (u32, Cell)> + '_ {
    let end = from.saturating_add(length);
    let range = array.parts.range(Part::Element(from)..Part::Element(end));
    range.filter_map(|(part, cell)| match part {
        Part::Element(index) => Some((*index, *cell)),
        Part::Field(_) => None,
    })
}

/// Elements that `System.arraycopy` has copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrayCopy {
    pub(crate) from: u32,
    pub(crate) at: u32,
    pub(crate) to: u32,
    pub(crate) into: u32,
    pub(crate) length: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(node: u32) -> Cell {
        Cell {
            definition: NodeId(node),
            object: 0,
        }
    }

    fn element(heap: &Heap, object: u32, index: u32) -> Option<u32> {
        let mut found = heap.read(object, Part::Element(index));
        found.next().map(|(node, _)| node.0)
    }

    #[test]
    fn a_copy_within_an_array_may_overlap() {
        let mut heap = Heap::default();
        for index in [0, 1, 2, 4] {
            heap.write(1, Part::Element(index), cell(index + 10));
        }
        let copy = ArrayCopy {
            from: 1,
            at: 0,
            to: 1,
            into: 1,
            length: 4,
        };
        heap.copy(&copy, |cell| cell);
        let found = (0..5).map(|index| element(&heap, 1, index));
        let expect = [Some(10), Some(10), Some(11), Some(12), None];
        assert_eq!(found.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_later_call_of_the_library_is_a_dependence_of_a_read() {
        let mut heap = Heap::default();
        let kinds = |heap: &Heap| {
            heap.read(5, Part::Field(2))
                .map(|it| it.1)
                .collect::<Vec<_>>()
        };
        heap.change(5, NodeId(1));
        assert_eq!(kinds(&heap), [Dependence::Library]);
        heap.write(5, Part::Field(2), cell(3));
        assert_eq!(kinds(&heap), [Dependence::Field]);
        heap.change(5, NodeId(4));
        assert_eq!(kinds(&heap), [Dependence::Field, Dependence::Library]);
    }

    #[test]
    fn an_object_keeps_its_parts_when_it_gets_its_id() {
        let mut heap = Heap::default();
        let fresh = heap.fresh();
        heap.write(fresh, Part::Field(1), cell(7));
        heap.name(fresh, 12);
        assert_eq!(
            heap.read(12, Part::Field(1)).next(),
            Some((NodeId(7), Dependence::Field))
        );
        assert_eq!(heap.contents(12, 9).len(), 1);
    }
}
