//! Scripts in real worker processes of the real program, over a small set of tools.

mod faults;
mod hostile;
mod limits;
mod support;
mod tools;
mod values;
