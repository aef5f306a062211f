//! The stages, a file each. Each takes the type that only the one before it makes; `refresh` alone takes no call, as it
//! looks at the rules before one, and `rehearse` is a part of `settle`.

pub(crate) mod after;
pub(crate) mod before;
pub(crate) mod begin;
pub(crate) mod checkpoint;
pub(crate) mod decide;
pub(crate) mod end;
pub(crate) mod inquire;
pub(crate) mod lookup;
pub(crate) mod parse;
pub(crate) mod refresh;
pub(crate) mod rehearse;
pub(crate) mod run;
pub(crate) mod settle;
pub(crate) mod shape;
pub(crate) mod spend;
