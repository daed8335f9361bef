//! Acting on the program: calls of any method, accesses to any field, objects and arrays made
//! without its help. Access rights do not matter to JNI.
//!
//! An exception that a call ends with is given back, not left pending.

use std::ffi::c_void;
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

impl Passed<'_> {
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

/// One function of the table for each type of result.
macro_rules! by_type {
    ($self:ident, $result:expr, $prefix:ident $(, $arg:expr)*) => {
        by_type!(@ $self, $result, $prefix, [$($arg),*])
    };
    (@ $self:ident, $result:expr, nonvirtual, [$($arg:expr),*]) => {
        match $result {
            b'Z' => drop(call!($self, CallNonvirtualBooleanMethodA $(, $arg)*)),
            b'B' => drop(call!($self, CallNonvirtualByteMethodA $(, $arg)*)),
            b'S' => drop(call!($self, CallNonvirtualShortMethodA $(, $arg)*)),
            b'C' => drop(call!($self, CallNonvirtualCharMethodA $(, $arg)*)),
            b'I' => drop(call!($self, CallNonvirtualIntMethodA $(, $arg)*)),
            b'J' => drop(call!($self, CallNonvirtualLongMethodA $(, $arg)*)),
            b'F' => drop(call!($self, CallNonvirtualFloatMethodA $(, $arg)*)),
            b'D' => drop(call!($self, CallNonvirtualDoubleMethodA $(, $arg)*)),
            b'V' => call!($self, CallNonvirtualVoidMethodA $(, $arg)*),
            _ => drop(call!($self, CallNonvirtualObjectMethodA $(, $arg)*)),
        }
    };
    (@ $self:ident, $result:expr, statically, [$($arg:expr),*]) => {
        match $result {
            b'Z' => drop(call!($self, CallStaticBooleanMethodA $(, $arg)*)),
            b'B' => drop(call!($self, CallStaticByteMethodA $(, $arg)*)),
            b'S' => drop(call!($self, CallStaticShortMethodA $(, $arg)*)),
            b'C' => drop(call!($self, CallStaticCharMethodA $(, $arg)*)),
            b'I' => drop(call!($self, CallStaticIntMethodA $(, $arg)*)),
            b'J' => drop(call!($self, CallStaticLongMethodA $(, $arg)*)),
            b'F' => drop(call!($self, CallStaticFloatMethodA $(, $arg)*)),
            b'D' => drop(call!($self, CallStaticDoubleMethodA $(, $arg)*)),
            b'V' => call!($self, CallStaticVoidMethodA $(, $arg)*),
            _ => drop(call!($self, CallStaticObjectMethodA $(, $arg)*)),
        }
    };
}

/// The result of one function of the table for each type of result.
macro_rules! result_of {
    ($self:ident, $result:expr, virtually, $($arg:expr),*) => {
        match $result {
            b'Z' => Passed::Boolean(call!($self, CallBooleanMethodA $(, $arg)*) != 0),
            b'B' => Passed::Byte(call!($self, CallByteMethodA $(, $arg)*)),
            b'S' => Passed::Short(call!($self, CallShortMethodA $(, $arg)*)),
            b'C' => Passed::Char(call!($self, CallCharMethodA $(, $arg)*)),
            b'I' => Passed::Int(call!($self, CallIntMethodA $(, $arg)*)),
            b'J' => Passed::Long(call!($self, CallLongMethodA $(, $arg)*)),
            b'F' => Passed::Float(call!($self, CallFloatMethodA $(, $arg)*)),
            b'D' => Passed::Double(call!($self, CallDoubleMethodA $(, $arg)*)),
            b'V' => {
                call!($self, CallVoidMethodA $(, $arg)*);
                Passed::Reference(None)
            }
            _ => {
                let raw = call!($self, CallObjectMethodA $(, $arg)*);
                // SAFETY: the call returned null or a new local reference of the current frame.
                Passed::Reference(unsafe { Local::from_raw(raw) })
            }
        }
    };
    ($self:ident, $result:expr, statically, $($arg:expr),*) => {
        match $result {
            b'Z' => Passed::Boolean(call!($self, CallStaticBooleanMethodA $(, $arg)*) != 0),
            b'B' => Passed::Byte(call!($self, CallStaticByteMethodA $(, $arg)*)),
            b'S' => Passed::Short(call!($self, CallStaticShortMethodA $(, $arg)*)),
            b'C' => Passed::Char(call!($self, CallStaticCharMethodA $(, $arg)*)),
            b'I' => Passed::Int(call!($self, CallStaticIntMethodA $(, $arg)*)),
            b'J' => Passed::Long(call!($self, CallStaticLongMethodA $(, $arg)*)),
            b'F' => Passed::Float(call!($self, CallStaticFloatMethodA $(, $arg)*)),
            b'D' => Passed::Double(call!($self, CallStaticDoubleMethodA $(, $arg)*)),
            b'V' => {
                call!($self, CallStaticVoidMethodA $(, $arg)*);
                Passed::Reference(None)
            }
            _ => {
                let raw = call!($self, CallStaticObjectMethodA $(, $arg)*);
                // SAFETY: the call returned null or a new local reference of the current frame.
                Passed::Reference(unsafe { Local::from_raw(raw) })
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
        let result = result_of!(self, result, virtually, receiver, method.0, values);
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
        let result = result_of!(self, result, statically, class, method.0, values);
        self.thrown().map(|()| result)
    }

    /// Calls exactly this method, whatever overrides it. `result` is the first letter of the
    /// descriptor of its result, which is dropped. `Err` is what it threw.
    pub fn call_exactly(
        &self,
        receiver: &Local<'_>,
        class: &Local<'_>,
        method: MethodId,
        arguments: &[Passed<'_>],
        result: u8,
    ) -> std::result::Result<(), Local<'a>> {
        let values: Vec<j::jvalue> = arguments.iter().map(Passed::raw).collect();
        let (receiver, class, values) = (receiver.raw(), class.raw(), values.as_ptr());
        by_type!(self, result, nonvirtual, receiver, class, method.0, values);
        self.thrown()
    }

    /// Calls a static method; otherwise the same.
    pub fn call_statically(
        &self,
        class: &Local<'_>,
        method: StaticMethodId,
        arguments: &[Passed<'_>],
        result: u8,
    ) -> std::result::Result<(), Local<'a>> {
        let values: Vec<j::jvalue> = arguments.iter().map(Passed::raw).collect();
        let (class, values) = (class.raw(), values.as_ptr());
        by_type!(self, result, statically, class, method.0, values);
        self.thrown()
    }

    /// Calls a static method that gives a reference.
    pub fn static_object(
        &self,
        class: &Local<'_>,
        method: StaticMethodId,
        arguments: &[Passed<'_>],
    ) -> std::result::Result<Option<Local<'a>>, Local<'a>> {
        let values: Vec<j::jvalue> = arguments.iter().map(Passed::raw).collect();
        let raw = call!(
            self,
            CallStaticObjectMethodA,
            class.raw(),
            method.0,
            values.as_ptr()
        );
        self.thrown()?;
        // SAFETY: the call returned null or a new local reference of the current frame.
        Ok(unsafe { Local::from_raw(raw) })
    }

    /// Calls a static method that gives a `long`.
    pub fn call_static_long(
        &self,
        class: &Local<'_>,
        method: StaticMethodId,
        arguments: &[Passed<'_>],
    ) -> std::result::Result<i64, Local<'a>> {
        let values: Vec<j::jvalue> = arguments.iter().map(Passed::raw).collect();
        let result = call!(
            self,
            CallStaticLongMethodA,
            class.raw(),
            method.0,
            values.as_ptr()
        );
        self.thrown()?;
        Ok(result)
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
        let class = call!(
            self,
            DefineClass,
            name.as_ptr(),
            loader.raw(),
            bytes.as_ptr().cast(),
            bytes.len() as j::jsize
        );
        // SAFETY: the call returned null or a new local reference of the current frame.
        unsafe { Local::from_raw(class) }
    }

    /// An object of a class, with no constructor called.
    pub fn allocate(&self, class: &Local<'_>) -> Result<Local<'a>> {
        let raw = call!(self, AllocObject, class.raw());
        self.made("AllocObject", raw)
    }

    pub fn new_string_units(&self, units: &[u16]) -> Result<Local<'a>> {
        let raw = call!(self, NewString, units.as_ptr(), units.len() as j::jsize);
        self.made("NewString", raw)
    }

    pub fn new_object_array(&self, length: usize, element: &Local<'_>) -> Result<Local<'a>> {
        let raw = call!(
            self,
            NewObjectArray,
            length as j::jsize,
            element.raw(),
            ptr::null_mut()
        );
        self.made("NewObjectArray", raw)
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
        self.made("NewArray", raw)
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
        if memory.is_null() {
            self.clear_exception();
            return Err(Error::Jni {
                call: "GetPrimitiveArrayCritical",
                what: "out of memory".to_owned(),
            });
        }
        // SAFETY: the place is inside the array, which is `length` bytes long, by the check above.
        let place = unsafe { memory.cast::<u8>().add(at) };
        // SAFETY: the JVM lends the memory until the release below; `bytes` is not the array.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        let memory: *mut c_void = memory;
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
        let object = object.raw();
        match *value {
            Passed::Boolean(v) => call!(self, SetBooleanField, object, id, u8::from(v)),
            Passed::Byte(v) => call!(self, SetByteField, object, id, v),
            Passed::Short(v) => call!(self, SetShortField, object, id, v),
            Passed::Char(v) => call!(self, SetCharField, object, id, v),
            Passed::Int(v) => call!(self, SetIntField, object, id, v),
            Passed::Long(v) => call!(self, SetLongField, object, id, v),
            Passed::Float(v) => call!(self, SetFloatField, object, id, v),
            Passed::Double(v) => call!(self, SetDoubleField, object, id, v),
            Passed::Reference(v) => {
                let v = v.map_or(ptr::null_mut(), |v| v.raw());
                call!(self, SetObjectField, object, id, v);
            }
        }
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
        let class = class.raw();
        match *value {
            Passed::Boolean(v) => call!(self, SetStaticBooleanField, class, id, u8::from(v)),
            Passed::Byte(v) => call!(self, SetStaticByteField, class, id, v),
            Passed::Short(v) => call!(self, SetStaticShortField, class, id, v),
            Passed::Char(v) => call!(self, SetStaticCharField, class, id, v),
            Passed::Int(v) => call!(self, SetStaticIntField, class, id, v),
            Passed::Long(v) => call!(self, SetStaticLongField, class, id, v),
            Passed::Float(v) => call!(self, SetStaticFloatField, class, id, v),
            Passed::Double(v) => call!(self, SetStaticDoubleField, class, id, v),
            Passed::Reference(v) => {
                let v = v.map_or(ptr::null_mut(), |v| v.raw());
                call!(self, SetStaticObjectField, class, id, v);
            }
        }
        Ok(())
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
        Ok(match descriptor.as_bytes().first() {
            Some(b'Z') => Passed::Boolean(call!(self, GetBooleanField, object, id) != 0),
            Some(b'B') => Passed::Byte(call!(self, GetByteField, object, id)),
            Some(b'S') => Passed::Short(call!(self, GetShortField, object, id)),
            Some(b'C') => Passed::Char(call!(self, GetCharField, object, id)),
            Some(b'I') => Passed::Int(call!(self, GetIntField, object, id)),
            Some(b'J') => Passed::Long(call!(self, GetLongField, object, id)),
            Some(b'F') => Passed::Float(call!(self, GetFloatField, object, id)),
            Some(b'D') => Passed::Double(call!(self, GetDoubleField, object, id)),
            _ => {
                let raw = call!(self, GetObjectField, object, id);
                // SAFETY: the call returned null or a new local reference of the current frame.
                Passed::Reference(unsafe { Local::from_raw(raw) })
            }
        })
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
        Ok(match descriptor.as_bytes().first() {
            Some(b'Z') => Passed::Boolean(call!(self, GetStaticBooleanField, class, id) != 0),
            Some(b'B') => Passed::Byte(call!(self, GetStaticByteField, class, id)),
            Some(b'S') => Passed::Short(call!(self, GetStaticShortField, class, id)),
            Some(b'C') => Passed::Char(call!(self, GetStaticCharField, class, id)),
            Some(b'I') => Passed::Int(call!(self, GetStaticIntField, class, id)),
            Some(b'J') => Passed::Long(call!(self, GetStaticLongField, class, id)),
            Some(b'F') => Passed::Float(call!(self, GetStaticFloatField, class, id)),
            Some(b'D') => Passed::Double(call!(self, GetStaticDoubleField, class, id)),
            _ => {
                let raw = call!(self, GetStaticObjectField, class, id);
                // SAFETY: the call returned null or a new local reference of the current frame.
                Passed::Reference(unsafe { Local::from_raw(raw) })
            }
        })
    }

    /// A static field, to be set back again and again.
    pub fn static_field(
        &self,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Result<StaticFieldId> {
        let letter = descriptor.as_bytes().first().copied().unwrap_or(b'L');
        let id = self.static_field_id(class, name, descriptor)?;
        Ok(StaticFieldId(id, letter))
    }

    /// Sets a static field to what it is before its class is initialised.
    pub fn clear_static_field(&self, class: &Local<'_>, field: &StaticFieldId) {
        let (class, id) = (class.raw(), field.0);
        match field.1 {
            b'Z' => call!(self, SetStaticBooleanField, class, id, 0),
            b'B' => call!(self, SetStaticByteField, class, id, 0),
            b'S' => call!(self, SetStaticShortField, class, id, 0),
            b'C' => call!(self, SetStaticCharField, class, id, 0),
            b'I' => call!(self, SetStaticIntField, class, id, 0),
            b'J' => call!(self, SetStaticLongField, class, id, 0),
            b'F' => call!(self, SetStaticFloatField, class, id, 0.0),
            b'D' => call!(self, SetStaticDoubleField, class, id, 0.0),
            _ => call!(self, SetStaticObjectField, class, id, ptr::null_mut()),
        }
    }

    fn static_field_id(
        &self,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Result<j::jfieldID> {
        let (name_c, descriptor_c) = (c_string(name)?, c_string(descriptor)?);
        let id = call!(
            self,
            GetStaticFieldID,
            class.raw(),
            name_c.as_ptr(),
            descriptor_c.as_ptr()
        );
        if id.is_null() {
            self.clear_exception();
            return Err(Error::Jni {
                call: "GetStaticFieldID",
                what: name.to_owned(),
            });
        }
        Ok(id)
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
        if raw.is_null() {
            self.clear_exception();
            return Err(Error::Jni {
                call: "NewGlobalRef",
                what: "out of memory".to_owned(),
            });
        }
        Ok(Global(raw))
    }

    /// Ends a global reference.
    pub fn delete_global(&self, global: Global) {
        call!(self, DeleteGlobalRef, global.0);
    }

    fn made(&self, call: &'static str, raw: j::jobject) -> Result<Local<'a>> {
        // SAFETY: the call returned null or a new local reference of the current frame.
        unsafe { Local::from_raw(raw) }.ok_or_else(|| {
            self.clear_exception();
            Error::Jni {
                call,
                what: "it threw".to_owned(),
            }
        })
    }
}
