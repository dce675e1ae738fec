//! Versions of a program that are wanted, as npm packages write them: `>=20`, `^20.19 || >=22.12`.

/// A range of versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    text: String,
    /// One of these must hold; all bounds of each.
    any: Vec<Vec<Bound>>,
}

/// The least version, or the first that is too high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    From([u64; 3]),
    Below([u64; 3]),
}

impl Versions {
    /// Reads a range: `>=`, `>`, `<=`, `<`, `=`, `^`, `~` or nothing before a version of one to three numbers, `x` and `*`
    /// for any number, several side by side where all must hold, `||` between such lists. `None` for anything else.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let any = text.split("||").map(all).collect::<Option<_>>()?;
        Some(Self {
            text: text.trim().to_owned(),
            any,
        })
    }

    /// Whether a version, such as `v20.11.1`, is among them; `false` for what is no version.
    #[must_use]
    pub fn hold(&self, version: &str) -> bool {
        let plain = version.trim().trim_start_matches('v');
        let plain = plain.split(['-', '+']).next().unwrap_or(plain);
        let Some((version, _)) = numbers(plain) else {
            return false;
        };
        let holds = |bound: &Bound| match *bound {
            Bound::From(least) => version >= least,
            Bound::Below(end) => version < end,
        };
        self.any.iter().any(|all| all.iter().all(holds))
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The bounds of one list.
fn all(text: &str) -> Option<Vec<Bound>> {
    let mut bounds = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let version = word.trim_start_matches(['>', '<', '=', '^', '~']);
        let sign = word.strip_suffix(version)?;
        // `>= 20` is written too.
        let version = match version {
            "" => words.next()?,
            version => version,
        };
        let (from, given) = numbers(version.trim_start_matches('v'))?;
        // The first version that is higher in the last number that was given; any version has none.
        let next = |place: usize| {
            let mut end = [0; 3];
            for (at, number) in from.iter().enumerate().take(place + 1) {
                *end.get_mut(at)? = number + u64::from(at == place);
            }
            Some(Bound::Below(end))
        };
        let after = || given.checked_sub(1).and_then(next);
        match sign {
            ">=" => bounds.push(Bound::From(from)),
            ">" => bounds.push(match after()? {
                Bound::Below(end) | Bound::From(end) => Bound::From(end),
            }),
            "<" => bounds.push(Bound::Below(from)),
            "<=" => bounds.push(after()?),
            "^" => {
                let place = from
                    .iter()
                    .take(given.max(1))
                    .position(|number| *number > 0);
                bounds.push(Bound::From(from));
                bounds.push(next(place.unwrap_or(given.max(1) - 1))?);
            }
            "~" => {
                bounds.push(Bound::From(from));
                bounds.push(next(given.clamp(1, 2) - 1)?);
            }
            "" | "=" => {
                bounds.push(Bound::From(from));
                bounds.extend(after());
            }
            _ => return None,
        }
    }
    Some(bounds)
}

/// The three numbers of a version, and how many of them were given.
fn numbers(text: &str) -> Option<([u64; 3], usize)> {
    let mut numbers = [0; 3];
    let mut given = 0;
    for part in text.split('.') {
        if matches!(part, "x" | "X" | "*") {
            break;
        }
        *numbers.get_mut(given)? = part.parse().ok()?;
        given += 1;
    }
    Some((numbers, given))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A range, versions in it, versions that are not.
    const RANGES: [(&str, &[&str], &[&str]); 12] = [
        (">=20", &["v20.0.0", "22.1.0"], &["v19.9.9", "new", ""]),
        (">= 20.19.0", &["20.19.0"], &["20.18.9"]),
        (">20", &["21.0.0"], &["20.5.0"]),
        (
            "^20.19 || >=22.12",
            &["20.19.1", "22.12.0", "24.0.0"],
            &["20.18.0", "21.0.0", "22.11.0"],
        ),
        (">=18 <21", &["20.1.0"], &["21.0.0", "17.0.0"]),
        ("~20.1", &["20.1.7"], &["20.2.0", "20.0.0"]),
        ("20", &["20.9.0"], &["21.0.0"]),
        ("20.x", &["20.9.0"], &["21.0.0"]),
        ("=20.1.2", &["20.1.2"], &["20.1.3"]),
        ("<=20", &["20.9.0"], &["21.0.0"]),
        ("*", &["1.2.3"], &[]),
        (">=22.0.0-rc.1", &[], &[]),
    ];

    #[test]
    fn ranges_hold_what_npm_holds_in_them() {
        for (text, inside, outside) in RANGES {
            let Some(range) = Versions::read(text) else {
                assert!(inside.is_empty(), "{text}");
                continue;
            };
            assert_eq!(range.as_str(), text);
            for version in inside {
                assert!(range.hold(version), "{version} in {text}");
            }
            for version in outside {
                assert!(!range.hold(version), "{version} not in {text}");
            }
        }
    }

    #[test]
    fn what_names_no_versions_is_none() {
        for text in ["new", ">=", "=>20", "20.1.2.3", "latest"] {
            assert_eq!(Versions::read(text), None, "{text}");
        }
    }
}
