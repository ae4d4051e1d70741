//! The programs as processes, in directories of their own.

#[cfg(test)]
mod credentials;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod place;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod references;
#[cfg(test)]
mod reporting;
#[cfg(test)]
mod waiting;
