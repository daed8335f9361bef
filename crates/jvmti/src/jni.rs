//! JNI, as far as an agent needs it. Every call checks for a pending exception and clears it, so
//! none is ever left behind in the program.

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use jvmti_bindings::sys::jni as j;

use crate::{Error, Passed, Result};

/// The JNI environment of the current thread, for the duration of a callback.
#[derive(Clone, Copy)]
pub struct Jni<'a> {
    pub(crate) env: *mut j::JNIEnv,
    scope: PhantomData<&'a *mut ()>,
}

/// A local reference, never null. It dies with the callback or frame it was made in.
#[derive(Clone, Copy)]
pub struct Local<'a> {
    raw: j::jobject,
    scope: PhantomData<&'a *mut ()>,
}

/// An instance method.
#[derive(Clone, Copy)]
pub struct MethodId(pub(crate) j::jmethodID);

/// A static method.
#[derive(Clone, Copy)]
pub struct StaticMethodId(pub(crate) j::jmethodID);

// SAFETY: the id of a method is the same in every thread, as long as its class is loaded.
unsafe impl Send for MethodId {}
// SAFETY: as above; nothing behind it is changed by reading it.
unsafe impl Sync for MethodId {}
// SAFETY: as above.
unsafe impl Send for StaticMethodId {}
// SAFETY: as above; nothing behind it is changed by reading it.
unsafe impl Sync for StaticMethodId {}

impl MethodId {
    /// # Safety
    /// `raw` is null or the id of a method that the JVM passed to a callback.
    pub unsafe fn from_raw(raw: j::jmethodID) -> Option<MethodId> {
        (!raw.is_null()).then_some(MethodId(raw))
    }

    /// A number that no other method has, as long as its class is loaded.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

impl StaticMethodId {
    /// The same for questions that are asked of any method.
    pub fn as_method(self) -> MethodId {
        MethodId(self.0)
    }
}

/// A native method to register: name, descriptor and function.
pub struct NativeMethod {
    pub name: &'static str,
    pub descriptor: &'static str,
    function: *mut c_void,
}

impl NativeMethod {
    pub fn new(
        name: &'static str,
        descriptor: &'static str,
        function: *mut c_void,
    ) -> NativeMethod {
        NativeMethod {
            name,
            descriptor,
            function,
        }
    }
}

impl<'a> Local<'a> {
    /// # Safety
    /// `raw` is null or a local reference that stays valid for `'a`.
    pub unsafe fn from_raw(raw: j::jobject) -> Option<Local<'a>> {
        (!raw.is_null()).then_some(Local {
            raw,
            scope: PhantomData,
        })
    }

    pub fn raw(&self) -> j::jobject {
        self.raw
    }
}

/// Calls a function of the JNI table.
macro_rules! call {
    ($self:ident, $name:ident $(, $arg:expr)*) => {{
        // SAFETY: the environment pointer is valid for `'a` in this thread.
        let table = unsafe { *$self.env };
        // SAFETY: the environment's table lives as long as the environment.
        let table = unsafe { &*table };
        // SAFETY: the arguments meet the function's contract: references are live for `'a`,
        // strings are NUL-terminated, no exception is pending (each call clears its own).
        unsafe { (table.$name)($self.env $(, $arg)*) }
    }};
}
pub(crate) use call;

/// Looks up the id of a member of a class.
macro_rules! lookup {
    ($self:ident, $function:ident, $class:ident, $name:ident, $descriptor:ident, $what:expr) => {{
        let (name, descriptor) = (c_string($name)?, c_string($descriptor)?);
        let (name, descriptor) = (name.as_ptr(), descriptor.as_ptr());
        let id = call!($self, $function, $class.raw(), name, descriptor);
        $self.not_null(stringify!($function), $what, id)
    }};
}

impl<'a> Jni<'a> {
    /// # Safety
    /// `env` is the environment of the current thread and stays so for `'a`.
    pub unsafe fn from_raw(env: *mut j::JNIEnv) -> Jni<'a> {
        Jni {
            env,
            scope: PhantomData,
        }
    }

    pub fn find_class(&self, name: &str) -> Result<Local<'a>> {
        let name_c = c_string(name)?;
        let class = call!(self, FindClass, name_c.as_ptr());
        self.local("FindClass", name, class)
    }

    /// Defines a class in a loader; `None` is the boot loader.
    pub fn define_class(
        &self,
        name: &str,
        loader: Option<&Local<'_>>,
        bytes: &[u8],
    ) -> Result<Local<'a>> {
        let loader = loader.map_or(ptr::null_mut(), Local::raw);
        let class = self.define(&c_string(name)?, loader, bytes);
        self.local("DefineClass", name, class)
    }

    /// Defines a class; null, and an exception pending, where that fails.
    pub(crate) fn define(&self, name: &CStr, loader: j::jobject, bytes: &[u8]) -> j::jclass {
        call!(
            self,
            DefineClass,
            name.as_ptr(),
            loader,
            bytes.as_ptr().cast(),
            bytes.len() as j::jsize
        )
    }

    pub fn register_natives(&self, class: &Local<'_>, methods: &[NativeMethod]) -> Result<()> {
        let mut strings = Vec::new();
        let mut table = Vec::new();
        for method in methods {
            let name = c_string(method.name)?;
            let descriptor = c_string(method.descriptor)?;
            table.push(j::JNINativeMethod {
                name: name.as_ptr() as *mut c_char,
                signature: descriptor.as_ptr() as *mut c_char,
                fnPtr: method.function,
            });
            strings.push((name, descriptor));
        }
        let code = call!(
            self,
            RegisterNatives,
            class.raw(),
            table.as_ptr(),
            table.len() as j::jint
        );
        if code == 0 {
            return Ok(());
        }
        self.clear_exception();
        Err(Error::Jni {
            call: "RegisterNatives",
            what: format!("code {code}"),
        })
    }

    pub fn method(&self, class: &Local<'_>, name: &str, descriptor: &str) -> Result<MethodId> {
        let signature = format_args!("{name}{descriptor}");
        lookup!(self, GetMethodID, class, name, descriptor, signature).map(MethodId)
    }

    pub fn static_method(
        &self,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Result<StaticMethodId> {
        let signature = format_args!("{name}{descriptor}");
        lookup!(self, GetStaticMethodID, class, name, descriptor, signature).map(StaticMethodId)
    }

    /// Calls a method that takes references and returns one.
    pub fn call_object(
        &self,
        receiver: &Local<'_>,
        method: MethodId,
        arguments: &[&Local<'_>],
    ) -> Result<Option<Local<'a>>> {
        let passed = arguments.iter().map(|it| Passed::Reference(Some(**it)));
        let passed: Vec<Passed<'_>> = passed.collect();
        let called = self.invoke(receiver, method, &passed, b'L');
        let result = called.map_err(|_| threw("CallObjectMethod"))?;
        Ok(result.reference())
    }

    /// Calls a method that takes nothing and returns a boolean.
    pub fn call_boolean(&self, receiver: &Local<'_>, method: MethodId) -> Result<bool> {
        let called = self.invoke(receiver, method, &[], b'Z');
        let result = called.map_err(|_| threw("CallBooleanMethod"))?;
        Ok(matches!(result, Passed::Boolean(true)))
    }

    /// Calls a static method that takes nothing and returns a reference.
    pub fn call_static_object(
        &self,
        class: &Local<'_>,
        method: StaticMethodId,
    ) -> Result<Option<Local<'a>>> {
        let called = self.static_object(class, method, &[]);
        called.map_err(|_| threw("CallStaticObjectMethod"))
    }

    /// The value of a `long` field that the object's class declares or inherits.
    pub fn long_field(&self, object: &Local<'_>, name: &str) -> Result<i64> {
        let class = self.object_class(object);
        let id = self.field(&class, name, "J");
        call!(self, DeleteLocalRef, class.raw());
        Ok(call!(self, GetLongField, object.raw(), id?))
    }

    pub(crate) fn field(
        &self,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Result<j::jfieldID> {
        lookup!(self, GetFieldID, class, name, descriptor, name)
    }

    pub(crate) fn static_field_id(
        &self,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Result<j::jfieldID> {
        lookup!(self, GetStaticFieldID, class, name, descriptor, name)
    }

    /// Whether an object is of a class or a subclass of it.
    pub fn is_instance(&self, object: &Local<'_>, class: &Local<'_>) -> bool {
        call!(self, IsInstanceOf, object.raw(), class.raw()) != 0
    }

    /// The superclass; `None` for `Object` and interfaces.
    pub fn superclass(&self, class: &Local<'_>) -> Option<Local<'a>> {
        let raw = call!(self, GetSuperclass, class.raw());
        // SAFETY: the call returned null or a new local reference of the current frame.
        unsafe { Local::from_raw(raw) }
    }

    pub fn object_class(&self, object: &Local<'_>) -> Local<'a> {
        let raw = call!(self, GetObjectClass, object.raw());
        Local {
            raw,
            scope: PhantomData,
        }
    }

    pub fn new_string(&self, text: &str) -> Result<Local<'a>> {
        let units: Vec<u16> = text.encode_utf16().collect();
        self.new_string_units(&units)
    }

    /// The code units of a string.
    pub fn string_units(&self, string: &Local<'_>) -> Vec<u16> {
        let length = call!(self, GetStringLength, string.raw());
        let mut units = vec![0u16; length as usize];
        call!(
            self,
            GetStringRegion,
            string.raw(),
            0,
            length,
            units.as_mut_ptr()
        );
        units
    }

    pub fn string(&self, string: &Local<'_>) -> String {
        String::from_utf16_lossy(&self.string_units(string))
    }

    pub fn array_length(&self, array: &Local<'_>) -> usize {
        call!(self, GetArrayLength, array.raw()) as usize
    }

    pub fn array_element(&self, array: &Local<'_>, index: usize) -> Result<Option<Local<'a>>> {
        let raw = call!(self, GetObjectArrayElement, array.raw(), index as j::jsize);
        if self.clear_exception() {
            return Err(threw("GetObjectArrayElement"));
        }
        // SAFETY: the call returned null or a new local reference of the current frame.
        Ok(unsafe { Local::from_raw(raw) })
    }

    /// The elements of a `long[]`.
    pub fn longs(&self, array: &Local<'_>) -> Vec<i64> {
        let mut values = vec![0i64; self.array_length(array)];
        let length = values.len() as j::jsize;
        call!(
            self,
            GetLongArrayRegion,
            array.raw(),
            0,
            length,
            values.as_mut_ptr()
        );
        values
    }

    /// Lends the memory of a primitive array to `f`, which must not call the JVM and be brief:
    /// the collector may wait for it. `width` is the size of an element.
    pub fn with_elements<R>(
        &self,
        array: &Local<'_>,
        width: usize,
        f: impl FnOnce(&[u8]) -> R,
    ) -> Option<R> {
        let length = self.array_length(array) * width;
        let memory = call!(
            self,
            GetPrimitiveArrayCritical,
            array.raw(),
            ptr::null_mut()
        );
        if memory.is_null() {
            self.clear_exception();
            return None;
        }
        let _lent = Lent {
            jni: self,
            array,
            memory,
        };
        // SAFETY: the JVM lends `length` bytes until the matching release; `f` cannot keep them.
        let bytes = unsafe { std::slice::from_raw_parts(memory.cast::<u8>(), length) };
        Some(f(bytes))
    }

    /// Runs `f` in a frame of its own: local references made inside end with it.
    pub fn with_frame<R>(&self, f: impl FnOnce(&Jni<'_>) -> R) -> Result<R> {
        self.with_frame_of(16, f)
    }

    /// The same with room for so many references.
    pub fn with_frame_of<R>(&self, references: i32, f: impl FnOnce(&Jni<'_>) -> R) -> Result<R> {
        if call!(self, PushLocalFrame, references) != 0 {
            self.clear_exception();
            return Err(Error::Jni {
                call: "PushLocalFrame",
                what: "out of memory".to_owned(),
            });
        }
        let _frame = LocalFrame(self);
        Ok(f(self))
    }

    /// Ends a local reference before its frame does.
    ///
    /// # Safety
    /// The reference is of the current frame, and nothing uses it, or a copy of it, any more.
    pub unsafe fn delete(&self, local: Local<'_>) {
        call!(self, DeleteLocalRef, local.raw());
    }

    /// Whether an exception of the program was pending; it is cleared.
    pub fn clear_exception(&self) -> bool {
        let pending = call!(self, ExceptionCheck) != 0;
        if pending {
            call!(self, ExceptionClear);
        }
        pending
    }

    /// A pointer that a call returned, unless it is null.
    pub(crate) fn not_null(
        &self,
        call: &'static str,
        what: impl fmt::Display,
        raw: *mut c_void,
    ) -> Result<*mut c_void> {
        if raw.is_null() {
            self.clear_exception();
            let what = what.to_string();
            return Err(Error::Jni { call, what });
        }
        Ok(raw)
    }

    /// A new local reference that a call returned, unless it is null.
    pub(crate) fn local(
        &self,
        call: &'static str,
        what: &str,
        raw: j::jobject,
    ) -> Result<Local<'a>> {
        let raw = self.not_null(call, what, raw)?;
        Ok(Local {
            raw,
            scope: PhantomData,
        })
    }
}

fn threw(call: &'static str) -> Error {
    let what = "it threw".to_owned();
    Error::Jni { call, what }
}

/// A frame of local references, which ends also where a panic leaves it.
struct LocalFrame<'j, 'a>(&'j Jni<'a>);

impl Drop for LocalFrame<'_, '_> {
    fn drop(&mut self) {
        let jni = self.0;
        call!(jni, PopLocalFrame, ptr::null_mut());
    }
}

/// The memory of an array, which is given back also where a panic leaves it.
struct Lent<'j, 'a, 'l> {
    jni: &'j Jni<'a>,
    array: &'j Local<'l>,
    memory: *mut std::ffi::c_void,
}

impl Drop for Lent<'_, '_, '_> {
    fn drop(&mut self) {
        // 2 is JNI_ABORT: nothing was changed, so nothing is copied back.
        let (jni, array, memory) = (self.jni, self.array.raw(), self.memory);
        call!(jni, ReleasePrimitiveArrayCritical, array, memory, 2);
    }
}

pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Jni {
        call: "string",
        what: format!("`{text}` holds a NUL byte"),
    })
}
