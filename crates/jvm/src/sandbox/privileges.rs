//! The powers of root, which a confined program has none of, whoever started it.

use std::io;

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// Gives up all capabilities of this thread, and every way to get new ones by executing a program.
/// Neither allocates nor locks.
pub(super) fn give_up() -> io::Result<()> {
    set_no_new_privs(true)?;
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // Beyond the last one that the kernel knows.
            Err(Errno::INVAL) => break,
            // It takes a capability to drop one. Who has none keeps none.
            Err(Errno::PERM) => break,
            Err(error) => return Err(error.into()),
        }
    }
    match clear_ambient_capability_set() {
        // Kernels before 4.3 have no such set.
        Ok(()) | Err(Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    let nothing = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, nothing)?;
    match capabilities(None)? == nothing {
        true => Ok(()),
        false => Err(io::ErrorKind::PermissionDenied.into()),
    }
}
