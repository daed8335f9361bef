//! The JVM and its tool interface.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

use jvmti_bindings::sys::jni as j;
use jvmti_bindings::sys::jvmti as t;

use crate::{Error, Jni, Local, MethodId, Result};

/// The running JVM.
#[derive(Clone, Copy)]
pub struct Vm(*mut j::JavaVM);

// SAFETY: a JavaVM pointer is valid in every thread of the process until the process ends (JNI
// specification, "The Invocation API").
unsafe impl Send for Vm {}
// SAFETY: as above; the invocation functions are thread-safe.
unsafe impl Sync for Vm {}

impl Vm {
    /// # Safety
    /// `raw` is the pointer the JVM passed to `Agent_OnLoad`.
    pub unsafe fn from_raw(raw: *mut j::JavaVM) -> Vm {
        Vm(raw)
    }

    /// A tool environment of the oldest version we support (JDK 11).
    pub fn jvmti(self) -> Result<Jvmti> {
        let mut env: *mut c_void = ptr::null_mut();
        // SAFETY: `self.0` points to the JVM's pointer to its invocation table.
        let table = unsafe { *self.0 };
        // SAFETY: the table is never freed.
        let table = unsafe { &*table };
        // SAFETY: GetEnv writes one pointer to `env`; any thread may call it in OnLoad.
        let code = unsafe { (table.GetEnv)(self.0, &mut env, t::JVMTI_VERSION_11) };
        if code != 0 || env.is_null() {
            return Err(Error::Jvmti {
                call: "GetEnv",
                code,
            });
        }
        Ok(Jvmti(env.cast()))
    }
}

/// A field or method that a class declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declared {
    pub name: String,
    pub descriptor: String,
    pub modifiers: i32,
}

/// A frame of a thread's stack.
#[derive(Clone, Copy)]
pub struct StackFrame {
    pub method: MethodId,
    /// The place in its code, in a unit of the JVM's own.
    pub location: i64,
}

/// A JVMTI environment.
#[derive(Clone, Copy)]
pub struct Jvmti(*mut t::jvmtiEnv);

// SAFETY: "JVM TI functions may be called from any thread" unless the function says otherwise;
// the environment lives until it is disposed of, which we never do.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

/// Calls a function of the tool table and turns its code into a `Result`.
macro_rules! call {
    ($self:ident, $name:ident $(, $arg:expr)*) => {{
        // SAFETY: the environment pointer is valid (see `Jvmti`).
        let environment = unsafe { &*$self.0 };
        // SAFETY: the environment's table lives as long as the environment.
        let table = unsafe { &*environment.functions };
        match table.$name {
            // SAFETY: the arguments meet the function's contract; each caller says how.
            Some(function) => match unsafe { function($self.0 $(, $arg)*) } {
                code if code == t::jvmtiError::NONE => Ok(()),
                code => Err(Error::Jvmti { call: stringify!($name), code: code.raw() }),
            },
            None => Err(Error::Jvmti { call: stringify!($name), code: -1 }),
        }
    }};
}

impl Jvmti {
    /// # Safety
    /// `raw` is an environment that the JVM passed to a callback.
    pub unsafe fn from_raw(raw: *mut t::jvmtiEnv) -> Jvmti {
        Jvmti(raw)
    }

    /// The capabilities this JVM could still grant.
    pub fn potential_capabilities(self) -> Result<t::jvmtiCapabilities> {
        let mut capabilities = t::jvmtiCapabilities::default();
        call!(self, GetPotentialCapabilities, &mut capabilities)?;
        Ok(capabilities)
    }

    pub fn add_capabilities(self, capabilities: t::jvmtiCapabilities) -> Result<()> {
        call!(self, AddCapabilities, &capabilities)
    }

    /// Installs the callbacks; `feature` is the JDK's feature version, which decides how much of
    /// the table it understands.
    pub fn set_callbacks(self, callbacks: &t::jvmtiEventCallbacks, feature: u16) -> Result<()> {
        call!(
            self,
            SetEventCallbacks,
            callbacks,
            t::event_callbacks_size_for_feature(feature)
        )
    }

    pub fn enable(self, event: t::jvmtiEvent) -> Result<()> {
        call!(
            self,
            SetEventNotificationMode,
            t::JVMTI_ENABLE,
            event,
            ptr::null_mut()
        )
    }

    /// Ends the events of a kind. Called by a thread of the JVM only.
    pub fn disable(self, event: t::jvmtiEvent) -> Result<()> {
        call!(
            self,
            SetEventNotificationMode,
            t::JVMTI_DISABLE,
            event,
            ptr::null_mut()
        )
    }

    pub fn is_live(self) -> bool {
        let mut phase: t::jvmtiPhase = 0;
        call!(self, GetPhase, &mut phase).is_ok() && phase == t::JVMTI_PHASE_LIVE
    }

    /// A system property, as the JVM knows it before any Java code runs.
    pub fn system_property(self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        let mut value: *mut c_char = ptr::null_mut();
        call!(self, GetSystemProperty, name.as_ptr(), &mut value).ok()?;
        self.take_string(value)
    }

    /// All system properties that the JVM knows by itself.
    pub fn system_properties(self) -> Vec<(String, String)> {
        let mut count = 0;
        let mut names: *mut *mut c_char = ptr::null_mut();
        if call!(self, GetSystemProperties, &mut count, &mut names).is_err() || names.is_null() {
            return Vec::new();
        }
        // SAFETY: GetSystemProperties returned an array of `count` strings.
        let all = unsafe { std::slice::from_raw_parts(names, count as usize) };
        let mut properties = Vec::new();
        for &name in all {
            if let Some(name) = self.take_string(name) {
                if let Some(value) = self.system_property(&name) {
                    properties.push((name, value));
                }
            }
        }
        self.deallocate(names.cast());
        properties
    }

    /// The signature of a class: `Lcom/acme/Order;`, `[I`.
    pub fn class_signature(self, class: &Local<'_>) -> Result<String> {
        let mut signature: *mut c_char = ptr::null_mut();
        call!(
            self,
            GetClassSignature,
            class.raw(),
            &mut signature,
            ptr::null_mut()
        )?;
        Ok(self.take_string(signature).unwrap_or_default())
    }

    /// The defining loader of a class; `None` is the boot loader.
    pub fn class_loader<'a>(self, class: &Local<'a>) -> Result<Option<Local<'a>>> {
        let mut loader: j::jobject = ptr::null_mut();
        call!(self, GetClassLoader, class.raw(), &mut loader)?;
        // SAFETY: the function returned a new local reference of the current frame, or null.
        Ok(unsafe { Local::from_raw(loader) })
    }

    /// The class that declares a method.
    pub fn declaring_class<'a>(
        self,
        _jni: &Jni<'a>,
        method: MethodId,
    ) -> Result<Option<Local<'a>>> {
        let mut class: j::jclass = ptr::null_mut();
        call!(self, GetMethodDeclaringClass, method.0, &mut class)?;
        // SAFETY: the function returned a new local reference of the current frame.
        Ok(unsafe { Local::from_raw(class) })
    }

    /// The frames of the current thread, innermost first, at most so many.
    pub fn stack_trace(self, most: usize) -> Result<Vec<StackFrame>> {
        let none = t::jvmtiFrameInfo {
            method: ptr::null_mut(),
            location: 0,
        };
        let mut frames = vec![none; most];
        let mut count = 0;
        call!(
            self,
            GetStackTrace,
            ptr::null_mut(),
            0,
            most as j::jint,
            frames.as_mut_ptr(),
            &mut count
        )?;
        let found = frames.iter().take(count as usize);
        let frame = |frame: &t::jvmtiFrameInfo| StackFrame {
            method: MethodId(frame.method),
            location: frame.location,
        };
        Ok(found.map(frame).collect())
    }

    /// The name of a method.
    pub fn method_name(self, method: MethodId) -> Result<String> {
        let mut name: *mut c_char = ptr::null_mut();
        call!(
            self,
            GetMethodName,
            method.0,
            &mut name,
            ptr::null_mut(),
            ptr::null_mut()
        )?;
        Ok(self.take_string(name).unwrap_or_default())
    }

    /// The class that declares an instance field which `class` has.
    pub fn field_declaring_class<'a>(
        self,
        jni: &Jni<'a>,
        class: &Local<'_>,
        name: &str,
        descriptor: &str,
    ) -> Result<Option<Local<'a>>> {
        let field = jni.field(class, name, descriptor)?;
        let mut declaring: j::jclass = ptr::null_mut();
        call!(
            self,
            GetFieldDeclaringClass,
            class.raw(),
            field,
            &mut declaring
        )?;
        // SAFETY: the function returned a new local reference of the current frame.
        Ok(unsafe { Local::from_raw(declaring) })
    }

    pub fn method_modifiers(self, method: MethodId) -> Result<i32> {
        let mut modifiers = 0;
        call!(self, GetMethodModifiers, method.0, &mut modifiers)?;
        Ok(modifiers)
    }

    pub fn class_modifiers(self, class: &Local<'_>) -> Result<i32> {
        let mut modifiers = 0;
        call!(self, GetClassModifiers, class.raw(), &mut modifiers)?;
        Ok(modifiers)
    }

    /// The tag of an object, 0 if it has none. Needs `can_tag_objects`.
    pub fn tag(self, object: &Local<'_>) -> Result<i64> {
        let mut tag = 0;
        call!(self, GetTag, object.raw(), &mut tag)?;
        Ok(tag)
    }

    pub fn set_tag(self, object: &Local<'_>, tag: i64) -> Result<()> {
        call!(self, SetTag, object.raw(), tag)
    }

    /// Makes a module read another one.
    pub fn add_module_reads(self, module: &Local<'_>, read: &Local<'_>) -> Result<()> {
        call!(self, AddModuleReads, module.raw(), read.raw())
    }

    /// Exports a package (`jdk.internal.misc`) of a module to another one.
    pub fn add_module_exports(
        self,
        module: &Local<'_>,
        package: &str,
        to: &Local<'_>,
    ) -> Result<()> {
        let package = c_string("AddModuleExports", package)?;
        call!(
            self,
            AddModuleExports,
            module.raw(),
            package.as_ptr(),
            to.raw()
        )
    }

    /// Opens a package of a module to another one.
    pub fn add_module_opens(self, module: &Local<'_>, package: &str, to: &Local<'_>) -> Result<()> {
        let package = c_string("AddModuleOpens", package)?;
        call!(
            self,
            AddModuleOpens,
            module.raw(),
            package.as_ptr(),
            to.raw()
        )
    }

    /// All modules of the boot layer and of the layers made so far.
    pub fn all_modules<'a>(self, _jni: &Jni<'a>) -> Result<Vec<Local<'a>>> {
        let mut count = 0;
        let mut modules: *mut j::jobject = ptr::null_mut();
        call!(self, GetAllModules, &mut count, &mut modules)?;
        // SAFETY: GetAllModules returned an array of `count` references.
        let raw = unsafe { std::slice::from_raw_parts(modules, count as usize) };
        // SAFETY: each is a local reference of the current frame.
        let all = raw
            .iter()
            .filter_map(|raw| unsafe { Local::from_raw(*raw) })
            .collect();
        self.deallocate(modules.cast());
        Ok(all)
    }

    /// All classes that are loaded.
    pub fn loaded_classes<'a>(self, _jni: &Jni<'a>) -> Result<Vec<Local<'a>>> {
        let mut count = 0;
        let mut classes: *mut j::jclass = ptr::null_mut();
        call!(self, GetLoadedClasses, &mut count, &mut classes)?;
        // SAFETY: GetLoadedClasses returned an array of `count` references.
        let raw = unsafe { std::slice::from_raw_parts(classes, count as usize) };
        let all = raw
            .iter()
            // SAFETY: each is a local reference of the current frame.
            .filter_map(|raw| unsafe { Local::from_raw(*raw) })
            .collect();
        self.deallocate(classes.cast());
        Ok(all)
    }

    /// The interfaces that a class names itself.
    pub fn interfaces<'a>(self, _jni: &Jni<'a>, class: &Local<'_>) -> Result<Vec<Local<'a>>> {
        let mut count = 0;
        let mut interfaces: *mut j::jclass = ptr::null_mut();
        call!(
            self,
            GetImplementedInterfaces,
            class.raw(),
            &mut count,
            &mut interfaces
        )?;
        if count == 0 {
            self.deallocate(interfaces.cast());
            return Ok(Vec::new());
        }
        // SAFETY: the function returned an array of `count` references.
        let raw = unsafe { std::slice::from_raw_parts(interfaces, count as usize) };
        let all = raw
            .iter()
            // SAFETY: each is a local reference of the current frame.
            .filter_map(|raw| unsafe { Local::from_raw(*raw) })
            .collect();
        self.deallocate(interfaces.cast());
        Ok(all)
    }

    /// The fields that a class declares. The class must be linked.
    pub fn fields(self, class: &Local<'_>) -> Result<Vec<Declared>> {
        let mut count = 0;
        let mut fields: *mut j::jfieldID = ptr::null_mut();
        call!(self, GetClassFields, class.raw(), &mut count, &mut fields)?;
        self.each(fields, count, |field| {
            let (mut name, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
            let generic = ptr::null_mut();
            call!(
                self,
                GetFieldName,
                class.raw(),
                field,
                &mut name,
                &mut descriptor,
                generic
            )?;
            let mut modifiers = 0;
            call!(self, GetFieldModifiers, class.raw(), field, &mut modifiers)?;
            Ok(self.declared(name, descriptor, modifiers))
        })
    }

    /// The methods that a class declares, constructors and initialiser included. The class must be
    /// linked.
    pub fn methods(self, class: &Local<'_>) -> Result<Vec<Declared>> {
        let mut count = 0;
        let mut methods: *mut j::jmethodID = ptr::null_mut();
        call!(self, GetClassMethods, class.raw(), &mut count, &mut methods)?;
        self.each(methods, count, |method| {
            let (mut name, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
            let generic = ptr::null_mut();
            call!(
                self,
                GetMethodName,
                method,
                &mut name,
                &mut descriptor,
                generic
            )?;
            let mut modifiers = 0;
            call!(self, GetMethodModifiers, method, &mut modifiers)?;
            Ok(self.declared(name, descriptor, modifiers))
        })
    }

    /// Asks about each of the ids that the JVM returned, and gives their memory back.
    fn each<I: Copy>(
        self,
        ids: *mut I,
        count: j::jint,
        ask: impl Fn(I) -> Result<Declared>,
    ) -> Result<Vec<Declared>> {
        if count == 0 {
            self.deallocate(ids.cast());
            return Ok(Vec::new());
        }
        // SAFETY: the function that was called before returned an array of `count` ids.
        let all = unsafe { std::slice::from_raw_parts(ids, count as usize) };
        let declared = all.iter().map(|id| ask(*id)).collect();
        self.deallocate(ids.cast());
        declared
    }

    fn declared(self, name: *mut c_char, descriptor: *mut c_char, modifiers: j::jint) -> Declared {
        Declared {
            name: self.take_string(name).unwrap_or_default(),
            descriptor: self.take_string(descriptor).unwrap_or_default(),
            modifiers,
        }
    }

    /// Has the JVM pass classes through the load hook once more.
    pub fn retransform(self, classes: &[Local<'_>]) -> Result<()> {
        let raw: Vec<j::jclass> = classes.iter().map(Local::raw).collect();
        call!(self, RetransformClasses, raw.len() as j::jint, raw.as_ptr())
    }

    /// Memory that the JVM will free: for the new bytes of a class.
    pub fn copy_to_jvm(self, bytes: &[u8]) -> Result<*mut u8> {
        let mut memory: *mut u8 = ptr::null_mut();
        call!(self, Allocate, bytes.len() as j::jlong, &mut memory)?;
        // SAFETY: Allocate returned `bytes.len()` writable bytes that overlap nothing of ours.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        Ok(memory)
    }

    fn take_string(self, raw: *mut c_char) -> Option<String> {
        if raw.is_null() {
            return None;
        }
        // SAFETY: the JVM returned a NUL-terminated string that we own until deallocated.
        let text = unsafe { CStr::from_ptr(raw) }
            .to_string_lossy()
            .into_owned();
        self.deallocate(raw.cast());
        Some(text)
    }

    fn deallocate(self, memory: *mut u8) {
        // A failure leaks the block, which harms nobody.
        let _ = call!(self, Deallocate, memory);
    }
}

fn c_string(call: &'static str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Jni {
        call,
        what: format!("`{text}` holds a NUL byte"),
    })
}
