//! `callboard eval`: reads its files, chooses the model, and prints the report.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};

use super::bfcl::Questions;
use super::cases::{self, CaseFile};
use super::comparison::Comparison;
use super::report::Report;
use super::{bfcl, case_run};
use crate::author::scripted_model::ScriptedModel;
use crate::author::turn_runner::CharacterTurns;
use crate::characters::LoadedCharacter;
use crate::cli::EvalArgs;
use crate::services::Services;
use crate::upstream::{Upstream, Upstreams};

/// Plays all files and writes the report; false when no case could be played.
pub(in crate::author) async fn eval(
    arguments: &EvalArgs,
    app: &Services,
    out: &mut impl Write,
) -> anyhow::Result<bool> {
    let (id, files) = split(&arguments.what)?;
    let loaded = match id {
        Some(id) => Some(app.characters.load_one(id).await?),
        None => None,
    };
    let model = model(app, loaded.as_deref()).await?;
    let mut report = Report::new(arguments.verbose);
    let mut comparison = Comparison::default();
    for path in files {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let played_by = if arguments.expected { "the expected calls" } else { &model };
        writeln!(out, "{}: {played_by}", path.display())?;
        match (cases::read(path, &text)?, &loaded) {
            (Some(file), Some(character)) => play_cases(arguments, app, character, &file, &mut report, out).await?,
            (Some(_), None) => {
                bail!("{} holds cases of a character; run: callboard eval CHARACTER FILE", path.display())
            }
            (None, Some(_)) => bail!("{} holds no cases; a case file is a JSON object with \"cases\"", path.display()),
            (None, None) => {
                let questions = bfcl::read(path, &text, arguments.answers.as_deref())?;
                let first = arguments.first.unwrap_or(usize::MAX).min(questions.len());
                let (required, direct) = (arguments.required, arguments.direct);
                let questions = questions.get(..first).unwrap_or_default();
                let asked = Questions { model: &model, questions, required, direct };
                bfcl::play(app, &asked, &mut report, &mut comparison, out).await?;
            }
        }
    }
    writeln!(out)?;
    if comparison.has_both() {
        comparison.write(out)?;
        writeln!(out)?;
    }
    report.write(out)?;
    Ok(!report.is_void())
}

/// The character, if the first word is one, and the files.
fn split(what: &[String]) -> anyhow::Result<(Option<&str>, Vec<&Path>)> {
    let (character, files) = match what {
        [first, files @ ..] if !files.is_empty() && !Path::new(first).is_file() => (Some(first.as_str()), files),
        files => (None, files),
    };
    if files.is_empty() {
        bail!("no file of cases given; run: callboard eval CHARACTER FILE");
    }
    Ok((character, files.iter().map(Path::new).collect()))
}

/// The model to measure: the character's own, the one of the settings, or the first of the model server.
async fn model(app: &Services, character: Option<&LoadedCharacter>) -> anyhow::Result<String> {
    let own = character.and_then(|loaded| loaded.character.manifest().model.clone());
    let own = own.filter(|_| app.upstreams.has_server());
    let set = Some(app.settings.stage.model.clone()).filter(|model| !model.is_empty());
    match own.or(set) {
        Some(model) => Ok(model),
        None => {
            Ok(app.upstreams.first_model(&app.client(), None).await.map_err(|error| anyhow::anyhow!(error.message))?)
        }
    }
}

async fn play_cases(
    arguments: &EvalArgs,
    app: &Services,
    character: &Arc<LoadedCharacter>,
    file: &CaseFile,
    report: &mut Report,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let script = Arc::new(ScriptedModel::default());
    let scripted = Upstreams::new(vec![Upstream::local("expected", Arc::clone(&script) as _)]);
    let turns = CharacterTurns {
        character: Arc::clone(character),
        settings: &app.settings,
        tools: &app.tools,
        upstreams: if arguments.expected { &scripted } else { &app.upstreams },
        client: app.client(),
    };
    case_run::play(&turns, file, arguments.expected.then_some(&*script), report, out).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_may_be_a_character() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let table = [
            ("grimlog cases.json", Some("grimlog"), 1),
            ("cases.json", None, 1),
            ("Cargo.toml other.json", None, 2),
            ("grimlog a.json b.json", Some("grimlog"), 2),
        ];
        for (text, character, files) in table {
            let words = words(text);
            let split = split(&words).unwrap();
            assert_eq!((split.0, split.1.len()), (character, files), "{text}");
        }
        assert!(split(&[]).is_err());
    }
}
