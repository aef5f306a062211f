//! Models, turns and agents: providers against servers of our own, the loop over the real pipeline with a model that
//! says what a test wants, and agents that work for agents.

mod bounds;
mod calls;
mod compacting;
mod faults;
mod katan;
mod kills;
mod loopback;
mod resuming;
mod retry;
mod scene;
mod scripted;
mod sub;
mod sub_background;
mod sub_background_several;
mod sub_delegate;
mod sub_git;
mod sub_matrix;
mod sub_totals;
mod sub_world;
mod turns;
mod wire;
