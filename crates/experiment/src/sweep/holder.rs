//! Who works on a run: a process, told from all others on all machines, and whether it is gone.

use std::fs;

use serde::{Deserialize, Serialize};

/// Who holds a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The machine.
    pub host: String,
    /// The number of the process there.
    pub process: u32,
    /// This start of the machine and the numbering of processes there, since containers have one of their own.
    machine: String,
    /// When the process began, in the machine's own count: numbers of processes come again.
    began: String,
    /// Who it belongs to: processes of others may be hidden from us.
    #[serde(default)]
    user: Option<u32>,
}

impl Holder {
    /// This process.
    pub fn this_process() -> Self {
        Self::of_process(std::process::id())
    }

    /// A process of this user on this machine.
    pub fn of_process(process: u32) -> Self {
        Self {
            host: gethostname::gethostname().to_string_lossy().to_string(),
            process,
            machine: machine(),
            began: began(process).unwrap_or_default(),
            user: user(),
        }
    }

    /// A name that no other process on any machine has: hosts and containers may share a name and numbers of processes.
    pub fn name(&self) -> String {
        let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
        let [host, machine, began] = [&self.host, &self.machine, &self.began].map(|text| plain(text));
        format!("{host}-{machine}-{}-{began}", self.process)
    }

    /// This process, if it were on another machine.
    #[cfg(test)]
    pub fn of_another_machine() -> Self {
        Self { machine: "another".to_string(), ..Self::this_process() }
    }

    /// Whether the process is gone; nothing where that cannot be told from here.
    pub fn is_gone(&self) -> Option<bool> {
        let is_here = !self.machine.is_empty() && !self.began.is_empty() && self.machine == machine();
        let is_ours = self.user == user() || user() == Some(0);
        (is_here && is_ours).then(|| began(self.process).as_deref() != Some(&self.began))
    }
}

/// What tells this start of this machine, and its numbering of processes, from all others; nothing where the system does not say.
fn machine() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let processes =
        fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().to_string()).unwrap_or_default();
    if boot.is_empty() || processes.is_empty() { String::new() } else { format!("{} {processes}", boot.trim()) }
}

/// The number of the user whose process this is; nothing where the system has none.
#[cfg(unix)]
fn user() -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").ok().map(|found| found.uid())
}

#[cfg(not(unix))]
fn user() -> Option<u32> {
    None
}

/// When a process of this machine began, in ticks since the machine did; nothing where it is gone or the system does not say. One that has
/// ended and was not yet waited for is gone.
fn began(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program stands in brackets, and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") { None } else { fields.nth(18).map(str::to_string) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_there_until_it_is_gone_and_its_number_may_come_again() {
        let this = Holder::this_process();
        assert_eq!(this.is_gone(), Some(false));
        assert_eq!(Holder { began: "1".to_string(), ..this }.is_gone(), Some(true));
        assert_eq!(Holder::of_another_machine().is_gone(), None);
    }
}
