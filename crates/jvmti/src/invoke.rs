//! Acting on the program: calls of any method, accesses to any field, objects and arrays made
//! without its help. Access rights do not matter to JNI.
//!
//! An exception that a call ends with is given back, not left pending.

use std::ptr;

use jvmti_bindings::sys::jni as j;

use crate::jni::{Jni, Local, MethodId, StaticMethodId, c_string, call};
use crate::{Error, Result};

/// A value that is passed to the program or comes from it.
#[derive(Clone, Copy)]
pub enum Passed<'a> {
    Boolean(bool),
    Byte(i8),
    Short(i16),
    Char(u16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Reference(Option<Local<'a>>),
}

impl<'a> Passed<'a> {
    /// The value of a field before its class or object is initialised. `letter` is the first of the
    /// descriptor of its type.
    fn zero(letter: u8) -> Passed<'a> {
        match letter {
            b'Z' => Passed::Boolean(false),
            b'B' => Passed::Byte(0),
            b'S' => Passed::Short(0),
            b'C' => Passed::Char(0),
            b'I' => Passed::Int(0),
            b'J' => Passed::Long(0),
            b'F' => Passed::Float(0.0),
            b'D' => Passed::Double(0.0),
            _ => Passed::Reference(None),
        }
    }

    /// The object, unless it is null or the value is primitive.
    pub fn reference(self) -> Option<Local<'a>> {
        match self {
            Passed::Reference(object) => object,
            _ => None,
        }
    }

    /// The value, if it is a `long`.
    pub fn long(self) -> Option<i64> {
        match self {
            Passed::Long(value) => Some(value),
            _ => None,
        }
    }

    /// The first letter of its descriptor.
    pub fn letter(&self) -> u8 {
        match self {
            Passed::Boolean(_) => b'Z',
            Passed::Byte(_) => b'B',
            Passed::Short(_) => b'S',
            Passed::Char(_) => b'C',
            Passed::Int(_) => b'I',
            Passed::Long(_) => b'J',
            Passed::Float(_) => b'F',
            Passed::Double(_) => b'D',
            Passed::Reference(_) => b'L',
        }
    }

    fn raw(&self) -> j::jvalue {
        match *self {
            Passed::Boolean(z) => j::jvalue { z: u8::from(z) },
            Passed::Byte(b) => j::jvalue { b },
            Passed::Short(s) => j::jvalue { s },
            Passed::Char(c) => j::jvalue { c },
            Passed::Int(i) => j::jvalue { i },
            Passed::Long(j) => j::jvalue { j },
            Passed::Float(f) => j::jvalue { f },
            Passed::Double(d) => j::jvalue { d },
            Passed::Reference(l) => j::jvalue {
                l: l.map_or(ptr::null_mut(), |l| l.raw()),
            },
        }
    }
}

/// A reference that lives until it is deleted, in any thread.
pub struct Global(j::jobject);

// SAFETY: global references are valid in every thread of the JVM.
unsafe impl Send for Global {}
// SAFETY: as above; nothing behind it is changed by reading the handle.
unsafe impl Sync for Global {}

impl Global {
    /// The same object for use in a callback.
    pub fn local<'a>(&'a self, _: &Jni<'_>) -> Local<'a> {
        // SAFETY: a global reference is valid wherever a local one is, and outlives `'a`.
        let local = unsafe { Local::from_raw(self.0) };
        local.unwrap_or_else(|| unreachable!("a global reference is not null"))
    }
}

/// A static field, and the first letter of its type.
pub struct StaticFieldId(j::jfieldID, u8);

// SAFETY: the id of a field is the same in every thread, as long as its class is loaded.
unsafe impl Send for StaticFieldId {}
// SAFETY: as above; nothing behind it is changed by reading it.
unsafe impl Sync for StaticFieldId {}

/// The result of the function of the table for a type, given by the first letter of its descriptor.
macro_rules! by_type {
    (
        $self:ident, $letter:expr,
        [$z:ident $b:ident $s:ident $c:ident $i:ident $j:ident $f:ident $d:ident $l:ident $($v:ident)?],
        $arguments:tt
    ) => {
        match $letter {
            b'Z' => Passed::Boolean(by_type!($self, $z, $arguments) != 0),
            b'B' => Passed::Byte(by_type!($self, $b, $arguments)),
            b'S' => Passed::Short(by_type!($self, $s, $arguments)),
            b'C' => Passed::Char(by_type!($self, $c, $arguments)),
            b'I' => Passed::Int(by_type!($self, $i, $arguments)),
            b'J' => Passed::Long(by_type!($self, $j, $arguments)),
            b'F' => Passed::Float(by_type!($self, $f, $arguments)),
            b'D' => Passed::Double(by_type!($self, $d, $arguments)),
            $(b'V' => {
                by_type!($self, $v, $arguments);
                Passed::Reference(None)
            })?
            _ => {
                let raw = by_type!($self, $l, $arguments);
                // SAFETY: the call returned null or a new local reference of the current frame.
                Passed::Reference(unsafe { Local::from_raw(raw) })
            }
        }
    };
    ($self:ident, $function:ident, ($($argument:expr),*)) => {
        call!($self, $function $(, $argument)*)
    };
}

/// Writes a value by the function of the table for its type.
macro_rules! set_by_type {
    (
        $self:ident, $value:expr,
        [$z:ident $b:ident $s:ident $c:ident $i:ident $j:ident $f:ident $d:ident $l:ident],
        $holder:expr, $id:expr
    ) => {
        match *$value {
            Passed::Boolean(v) => call!($self, $z, $holder, $id, u8::from(v)),
            Passed::Byte(v) => call!($self, $b, $holder, $id, v),
            Passed::Short(v) => call!($self, $s, $holder, $id, v),
            Passed::Char(v) => call!($self, $c, $holder, $id, v),
            Passed::Int(v) => call!($self, $i, $holder, $id, v),
            Passed::Long(v) => call!($self, $j, $holder, $id, v),
            Passed::Float(v) => call!($self, $f, $holder, $id, v),
            Passed::Double(v) => call!($self, $d, $holder, $id, v),
            Passed::Reference(v) => {
                let v = v.map_or(ptr::null_mut(), |v| v.raw());
                call!($self, $l, $holder, $id, v);
            }
        }
    };
}

impl<'a> Jni<'a> {
    /// Calls a method or what overrides it; its result, null for none. `result` is the first letter
    /// of the descriptor of that. `Err` is what it threw.
    pub fn invoke(
        &self,
        receiver: &Local<'_>,
        method: MethodId,
        arguments: &[Passed<'_>],
        result: u8,
    ) -> std::result::Result<Passed<'a>, Local<'a>> {
        let values: Vec<j::jvalue> = arguments.iter().map(Passed::raw).collect();
        let (receiver, values) = (receiver.raw(), values.as_ptr());
        let result = by_type!(
            self,
            result,
            [
                CallBooleanMethodA CallByteMethodA CallShortMethodA CallCharMethodA
                CallIntMethodA CallLongMethodA CallFloatMethodA CallDoubleMethodA
                CallObjectMethodA CallVoidMethodA
            ],
            (receiver, method.0, values)
        );
        self.thrown().map(|()| result)
    }

    /// Calls a static method; otherwise the same.
    pub fn invoke_statically(
        &self,
        class: &Local<'_>,
        method: StaticMethodId,
        arguments: &[Passed<'_>],
        result: u8,
    ) -> std::result::Result<Passed<'a>, Local<'a>> {
        let values: Vec<j::jvalue> = arguments.iter().map(Passed::raw).collect();
        let (class, values) = (class.raw(), values.as_ptr());
        let result = by_type!(
            self,
            result,
            [
                CallStaticBooleanMethodA CallStaticByteMethodA CallStaticShortMethodA
                CallStaticCharMethodA CallStaticIntMethodA CallStaticLongMethodA
                CallStaticFloatMethodA CallStaticDoubleMethodA CallStaticObjectMethodA
                CallStaticVoidMethodA
            ],
            (class, method.0, values)
        );
        self.thrown().map(|()| result)
    }

    /// Calls exactly this method, whatever overrides it; otherwise the same.
    pub fn call_exactly(
        &self,
        receiver: &Local<'_>,
        class: &Local<'_>,
        method: MethodId,
        arguments: &[Passed<'_>],
        result: u8,
    ) -> std::result::Result<Passed<'a>, Local<'a>> {
        let values: Vec<j::jvalue> = arguments.iter().map(Passed::raw).collect();
        let (receiver, class, values) = (receiver.raw(), class.raw(), values.as_ptr());
        let result = by_type!(
            self,
            result,
            [
                CallNonvirtualBooleanMethodA CallNonvirtualByteMethodA CallNonvirtualShortMethodA
                CallNonvirtualCharMethodA CallNonvirtualIntMethodA CallNonvirtualLongMethodA
                CallNonvirtualFloatMethodA CallNonvirtualDoubleMethodA
                CallNonvirtualObjectMethodA CallNonvirtualVoidMethodA
            ],
            (receiver, class, method.0, values)
        );
        self.thrown().map(|()| result)
    }

    /// Calls a static method that gives a reference.
    pub fn static_object(
        &self,
        class: &Local<'_>,
        method: StaticMethodId,
        arguments: &[Passed<'_>],
    ) -> std::result::Result<Option<Local<'a>>, Local<'a>> {
        let result = self.invoke_statically(class, method, arguments, b'L')?;
        Ok(result.reference())
    }

    /// Calls a static method that returns nothing.
    pub fn call_static_void(
        &self,
        class: &Local<'_>,
        method: StaticMethodId,
        arguments: &[Passed<'_>],
    ) -> std::result::Result<(), Local<'a>> {
        self.invoke_statically(class, method, arguments, b'V')?;
        Ok(())
    }

    /// Calls a static method that gives a `long`.
    pub fn call_static_long(
        &self,
        class: &Local<'_>,
        method: StaticMethodId,
        arguments: &[Passed<'_>],
    ) -> std::result::Result<i64, Local<'a>> {
        let result = self.invoke_statically(class, method, arguments, b'J')?;
        Ok(result.long().unwrap_or_default())
    }

    /// The exception that is pending, taken.
    fn thrown(&self) -> std::result::Result<(), Local<'a>> {
        let raw = call!(self, ExceptionOccurred);
        // SAFETY: the call returned null or a new local reference of the current frame.
        match unsafe { Local::from_raw(raw) } {
            Some(thrown) => {
                call!(self, ExceptionClear);
                Err(thrown)
            }
            None => Ok(()),
        }
    }

    /// Sees to room for as many local references as there may be.
    pub fn make_room(&self) {
        call!(self, EnsureLocalCapacity, 65_536);
        self.clear_exception();
    }

    /// Enters the monitor of an object, or leaves it.
    pub fn monitor(&self, object: &Local<'_>, enters: bool) -> std::result::Result<(), Local<'a>> {
        match enters {
            true => call!(self, MonitorEnter, object.raw()),
            false => call!(self, MonitorExit, object.raw()),
        };
        self.thrown()
    }

    pub fn is_same(&self, one: &Local<'_>, other: &Local<'_>) -> bool {
        call!(self, IsSameObject, one.raw(), other.raw()) != 0
    }

    /// Makes an exception pending: the native method must return now.
    pub fn throw(&self, exception: &Local<'_>) {
        call!(self, Throw, exception.raw());
    }

    /// Makes a new exception pending.
    pub fn throw_new(&self, class: &str, message: &str) {
        if let (Ok(class), Ok(message)) = (self.find_class(class), c_string(message)) {
            call!(self, ThrowNew, class.raw(), message.as_ptr());
        }
    }

    /// Defines a class of the program in a loader. Where that fails, the exception stays pending: the
    /// native method must return now.
    pub fn define_or_throw(
        &self,
        name: &str,
        loader: &Local<'_>,
        bytes: &[u8],
    ) -> Option<Local<'a>> {
        let name = c_string(name).ok()?;
        let class = self.define(&name, loader.raw(), bytes);
        // SAFETY: the call returned null or a new local reference of the current frame.
        unsafe { Local::from_raw(class) }
    }

    /// An object of a class, with no constructor called.
    pub fn allocate(&self, class: &Local<'_>) -> Result<Local<'a>> {
        let raw = call!(self, AllocObject, class.raw());
        self.local("AllocObject", "it threw", raw)
    }

    pub fn new_string_units(&self, units: &[u16]) -> Result<Local<'a>> {
        let raw = call!(self, NewString, units.as_ptr(), units.len() as j::jsize);
        self.local("NewString", "it threw", raw)
    }

    pub fn new_object_array(&self, length: usize, element: &Local<'_>) -> Result<Local<'a>> {
        let raw = call!(
            self,
            NewObjectArray,
            length as j::jsize,
            element.raw(),
            ptr::null_mut()
        );
        self.local("NewObjectArray", "it threw", raw)
    }

    /// An array of primitives; `element` is the letter of their type.
    pub fn new_array(&self, length: usize, element: u8) -> Result<Local<'a>> {
        let length = length as j::jsize;
        let raw = match element {
            b'Z' => call!(self, NewBooleanArray, length),
            b'B' => call!(self, NewByteArray, length),
            b'S' => call!(self, NewShortArray, length),
            b'C' => call!(self, NewCharArray, length),
            b'I' => call!(self, NewIntArray, length),
            b'J' => call!(self, NewLongArray, length),
            b'F' => call!(self, NewFloatArray, length),
            _ => call!(self, NewDoubleArray, length),
        };
        self.local("NewArray", "it threw", raw)
    }

    pub fn set_element(
        &self,
        array: &Local<'_>,
        index: usize,
        value: Option<&Local<'_>>,
    ) -> std::result::Result<(), Local<'a>> {
        let value = value.map_or(ptr::null_mut(), Local::raw);
        call!(
            self,
            SetObjectArrayElement,
            array.raw(),
            index as j::jsize,
            value
        );
        self.thrown()
    }

    /// Overwrites bytes of a primitive array whose elements are `width` bytes wide.
    pub fn fill(&self, array: &Local<'_>, width: usize, from: usize, bytes: &[u8]) -> Result<()> {
        let length = self.array_length(array) * width;
        let at = from * width;
        if at.checked_add(bytes.len()).is_none_or(|end| end > length) {
            return Err(Error::Jni {
                call: "fill",
                what: "outside of the array".to_owned(),
            });
        }
        let memory = call!(
            self,
            GetPrimitiveArrayCritical,
            array.raw(),
            ptr::null_mut()
        );
        let memory = self.not_null("GetPrimitiveArrayCritical", "out of memory", memory)?;
        // SAFETY: the place is inside the array, which is `length` bytes long, by the check above.
        let place = unsafe { memory.cast::<u8>().add(at) };
        // SAFETY: the JVM lends the memory until the release below; `bytes` is not the array.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        call!(self, ReleasePrimitiveArrayCritical, array.raw(), memory, 0);
        Ok(())
    }

    /// Writes an instance field that `class` declares or inherits.
    pub fn set_field(
        &self,
        object: &Local<'_>,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
        value: &Passed<'_>,
    ) -> Result<()> {
        let id = self.field(class, name, descriptor)?;
        set_by_type!(
            self,
            value,
            [
                SetBooleanField SetByteField SetShortField SetCharField SetIntField SetLongField
                SetFloatField SetDoubleField SetObjectField
            ],
            object.raw(),
            id
        );
        Ok(())
    }

    /// Writes a static field.
    pub fn set_static_field(
        &self,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
        value: &Passed<'_>,
    ) -> Result<()> {
        let id = self.static_field_id(class, name, descriptor)?;
        self.set_static(class, id, value);
        Ok(())
    }

    fn set_static(&self, class: &Local<'_>, id: j::jfieldID, value: &Passed<'_>) {
        set_by_type!(
            self,
            value,
            [
                SetStaticBooleanField SetStaticByteField SetStaticShortField SetStaticCharField
                SetStaticIntField SetStaticLongField SetStaticFloatField SetStaticDoubleField
                SetStaticObjectField
            ],
            class.raw(),
            id
        );
    }

    /// The value of an instance field that `class` declares or inherits.
    pub fn get_field(
        &self,
        object: &Local<'_>,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Result<Passed<'a>> {
        let id = self.field(class, name, descriptor)?;
        let object = object.raw();
        Ok(by_type!(
            self,
            first_letter(descriptor),
            [
                GetBooleanField GetByteField GetShortField GetCharField GetIntField GetLongField
                GetFloatField GetDoubleField GetObjectField
            ],
            (object, id)
        ))
    }

    /// The value of a static field.
    pub fn get_static_field(
        &self,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Result<Passed<'a>> {
        let id = self.static_field_id(class, name, descriptor)?;
        let class = class.raw();
        Ok(by_type!(
            self,
            first_letter(descriptor),
            [
                GetStaticBooleanField GetStaticByteField GetStaticShortField GetStaticCharField
                GetStaticIntField GetStaticLongField GetStaticFloatField GetStaticDoubleField
                GetStaticObjectField
            ],
            (class, id)
        ))
    }

    /// A static field, to be set back again and again.
    pub fn static_field(
        &self,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Result<StaticFieldId> {
        let id = self.static_field_id(class, name, descriptor)?;
        Ok(StaticFieldId(id, first_letter(descriptor)))
    }

    /// Sets a static field to what it is before its class is initialised.
    pub fn clear_static_field(&self, class: &Local<'_>, field: &StaticFieldId) {
        self.set_static(class, field.0, &Passed::zero(field.1));
    }

    /// A local reference to what a global one names.
    pub fn reuse(&self, global: &Global) -> Local<'a> {
        let raw = call!(self, NewLocalRef, global.0);
        // SAFETY: the call returned a new local reference of the current frame.
        let local = unsafe { Local::from_raw(raw) };
        local.unwrap_or_else(|| unreachable!("a global reference is not null"))
    }

    /// A reference that outlives the callback.
    pub fn global(&self, object: &Local<'_>) -> Result<Global> {
        let raw = call!(self, NewGlobalRef, object.raw());
        let raw = self.not_null("NewGlobalRef", "out of memory", raw)?;
        Ok(Global(raw))
    }

    /// Ends a global reference.
    pub fn delete_global(&self, global: Global) {
        call!(self, DeleteGlobalRef, global.0);
    }
}

fn first_letter(descriptor: &str) -> u8 {
    descriptor.as_bytes().first().copied().unwrap_or(b'L')
}
