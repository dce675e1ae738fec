//! MODE-02, MODE-04, CONFIG-05, -08, -09 and INTEROP-20: what comes of what the client chooses. One rule, as INTEROP-20 is
//! about modes and options alike.

use super::config_set::ConfigChanges;
use super::mode_set::ModeChanges;
use super::{Moment, Out, Rule};

/// See the two files for what is judged.
#[derive(Default)]
pub(super) struct Changes {
    modes: ModeChanges,
    options: ConfigChanges,
}

impl Rule for Changes {
    fn judges(&self) -> &'static [&'static str] {
        &[
            "MODE-02",
            "MODE-04",
            "CONFIG-05",
            "CONFIG-08",
            "CONFIG-09",
            "INTEROP-20",
        ]
    }

    fn see(&mut self, moment: &Moment<'_>, out: &mut Out<'_>) {
        if moment.talk.is_version_one() {
            self.modes.see(moment, out);
            self.options.see(moment, out);
        }
    }
}
