// An encoder in a shared library: a barrier where a dispatch conflicts with one since the last.
// rustc --edition 2021 --crate-type cdylib -O -o mine.so docs/examples/library_encoder.rs
// The structs are those of encoder/interlock_encoder.h, version 1.
use std::os::raw::c_void;

const READ: u32 = 0;
const ATOMIC: u32 = 3;
const FULL: u32 = 0;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Access {
    begin: u64,
    end: u64,
    memory: u32,
    mode: u32,
}

#[repr(C)]
pub struct Dispatch {
    accesses: *const Access,
    access_count: usize,
    index: u32,
    atomic_op: u32,
}

type Sync = extern "C" fn(*mut c_void, u32);

#[derive(Default)]
pub struct Encoder {
    since: Vec<(Access, u32)>, // Accesses since the last barrier, with their atomic operation.
}

fn conflicts(a: &(Access, u32), b: &(Access, u32)) -> bool {
    let shares_a_byte = a.0.memory == b.0.memory && a.0.begin.max(b.0.begin) < a.0.end.min(b.0.end);
    let may_overlap =
        a.0.mode == b.0.mode && (a.0.mode == READ || (a.0.mode == ATOMIC && a.1 == b.1));
    shares_a_byte && !may_overlap
}

#[no_mangle]
pub extern "C" fn interlock_encoder_version() -> u32 {
    1
}

#[no_mangle]
pub extern "C" fn interlock_encoder_create() -> *mut Encoder {
    Box::into_raw(Box::default())
}

#[no_mangle]
pub unsafe extern "C" fn interlock_encoder_dispatch(
    encoder: *mut Encoder,
    dispatch: *const Dispatch,
    sync: Sync,
    context: *mut c_void,
) {
    let (encoder, dispatch) = (&mut *encoder, &*dispatch);
    let accesses: Vec<(Access, u32)> = (0..dispatch.access_count)
        .map(|i| (*dispatch.accesses.add(i), dispatch.atomic_op))
        .collect();
    if accesses.iter().any(|a| encoder.since.iter().any(|b| conflicts(a, b))) {
        interlock_encoder_wait(encoder, sync, context);
    }
    encoder.since.extend(accesses);
}

#[no_mangle]
pub unsafe extern "C" fn interlock_encoder_wait(
    encoder: *mut Encoder,
    sync: Sync,
    context: *mut c_void,
) {
    sync(context, FULL);
    (*encoder).since.clear();
}

#[no_mangle]
pub unsafe extern "C" fn interlock_encoder_destroy(encoder: *mut Encoder) {
    drop(Box::from_raw(encoder));
}
