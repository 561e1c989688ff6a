//! The arguments of `xtask fuzz`.

use anyhow::{Context, Result, bail};

/// How long to fuzz, and what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    /// For each target.
    pub(super) seconds: u64,
    /// Only this target.
    pub(super) target: Option<String>,
}

impl Arguments {
    pub(super) fn read(words: &[&str]) -> Result<Self> {
        let (mut seconds, mut target) = (None, None);
        for pair in words.chunks(2) {
            match pair {
                ["--seconds", number] => {
                    let number = number.parse::<u64>().ok().filter(|number| *number > 0);
                    seconds = Some(number.context("--seconds must be a whole number from 1")?);
                }
                ["--target", name] => target = Some((*name).to_owned()),
                _ => bail!("unknown arguments {:?}; write fuzz --seconds N [--target NAME]", pair.join(" ")),
            }
        }
        Ok(Self { seconds: seconds.context("--seconds is missing; write fuzz --seconds N [--target NAME]")?, target })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_or_explained() {
        let all = Arguments::read(&["--seconds", "5"]).unwrap();
        assert_eq!(all, Arguments { seconds: 5, target: None });
        let one = Arguments::read(&["--target", "sse", "--seconds", "60"]).unwrap();
        assert_eq!(one, Arguments { seconds: 60, target: Some("sse".to_owned()) });
        for (words, part) in [
            (&[][..], "--seconds is missing"),
            (&["--seconds", "0"], "from 1"),
            (&["--seconds"], "unknown arguments \"--seconds\""),
            (&["--minutes", "1"], "--minutes"),
        ] {
            let error = Arguments::read(words).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
