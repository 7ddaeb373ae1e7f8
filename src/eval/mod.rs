//! Evaluation: the cases of a suite, each run several times as a job, judged, and summed up; and tests, whose steps and
//! recordings are played without a planner on the same desks, by the same judge, into the same reports.
//!
//! A run is an ordinary job: its calls pass the gate, its limits hold, and it is on record in the store. What is new here
//! is around it: the desk that a case asks for, the judge of how it ended, and the figures. Nothing here sends an input.

pub mod desk;
pub mod judge;
pub mod junit;
pub mod pages;
pub mod report;
pub mod run;
pub mod statistics;
pub mod suite;
pub mod test_file;
pub mod test_run;
