//! The whole environment of an agent, built from tables; pure, so that it can be shown what passes and what does not.
//!
//! A run must not fill the user's history, read the user's settings or spend the user's money. So an agent gets where
//! programs are and which language is spoken, a fresh home, the variables of the scripted model, those of its profile
//! and those that the user named. Proxies do not pass by themselves: the scripted model is on loopback.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::variables::{self, is_model_variable, is_served};
use super::{Named, Placeholders};

/// Variables and their values.
pub type Variables = BTreeMap<OsString, OsString>;

/// Hosts that are never reached by a proxy: the scripted model is there.
pub(crate) const LOOPBACK: &str = "127.0.0.1,localhost,::1";

/// The variables that hold hosts not to be reached by a proxy; programs know one spelling or the other.
pub(crate) const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// What is known of the user.
#[derive(Clone, Copy)]
pub struct User<'a> {
    /// The user's own variables.
    pub variables: &'a Variables,
    /// Whether a folder is there.
    pub has_folder: &'a dyn Fn(&Path) -> bool,
}

/// The folders of the run.
#[derive(Clone, Copy, Debug)]
pub struct Folders<'a> {
    /// The fresh home.
    pub home: &'a Path,
    /// The session's folder.
    pub workspace: &'a Path,
    /// The folder for temporary files.
    pub tmp: &'a Path,
}

/// The scripted model as an agent is to see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelAccess {
    /// Its address, such as `http://127.0.0.1:4711`; what `{model}` stands for.
    pub address: String,
    /// The variables that lead agents to it.
    pub variables: BTreeMap<String, String>,
}

/// Which home folder an agent gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// The fresh one.
    #[default]
    Fresh,
    /// The user's own (`--home keep`).
    Keep,
}

/// What an agent is to find in its environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Whether the user's own variables pass (`--env-all`).
    pub all: bool,
    /// Which home it gets.
    pub home: Home,
    /// The scripted model; `None` for `--model none`: then no variable of a model is set or passed, unless it is the
    /// user's own and passes by `all` or is in `named`.
    pub model: Option<ModelAccess>,
    /// The variables of its profile.
    pub profile: BTreeMap<String, String>,
    /// What `--env` names, the later the stronger.
    pub named: Vec<Named>,
}

impl Environment {
    /// The placeholders of a run in this environment.
    pub fn placeholders(&self, user: User<'_>, folders: Folders<'_>) -> Placeholders {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let home = match self.home {
            Home::Keep => user_home(user.variables).unwrap_or_else(|| folders.home.to_owned()),
            Home::Fresh => folders.home.to_owned(),
        };
        Placeholders {
            home: shown(&home),
            cwd: shown(folders.workspace),
            model: self.model.as_ref().map(|model| model.address.clone()),
        }
    }

    /// Builds all variables, the weakest first: the user's that pass, the home's, the caches', the model's, the
    /// profile's, and what is named.
    ///
    /// The mark of the run is not among them: [`AgentProcess::start`](super::AgentProcess::start) sets it.
    pub fn build(&self, user: User<'_>, folders: Folders<'_>) -> Variables {
        let mut variables = self.passed(user.variables);
        self.put_home(&mut variables, user, folders);
        set(&mut variables, "TMPDIR", folders.tmp);
        let placeholders = self.placeholders(user, folders);
        if let Some(model) = &self.model {
            for (name, value) in &model.variables {
                fill(&mut variables, &placeholders, name, value);
            }
        }
        for (name, value) in &self.profile {
            if self.model.is_some() || !is_model_variable(name) {
                fill(&mut variables, &placeholders, name, value);
            }
        }
        for name in NO_PROXY {
            let hosts = variables.entry(name.into()).or_default();
            if !hosts.is_empty() {
                hosts.push(",");
            }
            hosts.push(LOOPBACK);
        }
        for named in &self.named {
            match named {
                Named::Set(name, value) => fill(&mut variables, &placeholders, name, value),
                Named::Pass(name) => {
                    if let Some(value) = user.variables.get(OsStr::new(name)) {
                        set(&mut variables, name, value);
                    }
                }
            }
        }
        variables
    }

    /// The user's variables of models that the agent gets, by name, with the flag that hands each over: keys of real models,
    /// and what leads to them.
    pub fn handed_over(&self, user: &Variables) -> BTreeMap<String, &'static str> {
        let all = user
            .keys()
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| self.all && self.passes_all(name))
            .map(|name| (name, "--env-all"));
        let named = self.named.iter().filter_map(|named| match named {
            Named::Set(name, _) => Some((name.clone(), "--env")),
            Named::Pass(name) => user
                .contains_key(OsStr::new(name))
                .then(|| (name.clone(), "--env")),
        });
        all.chain(named)
            .filter(|(name, _)| is_model_variable(name))
            .collect()
    }

    /// The names of the user's variables of models that the agent does not get.
    pub fn kept_back(&self, user: &Variables) -> Vec<String> {
        let handed = self.handed_over(user);
        user.keys()
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| is_model_variable(name) && !handed.contains_key(name))
            .collect()
    }

    /// Whether a variable passes where all were asked for: with the scripted model, nothing that leads past it.
    fn passes_all(&self, name: &str) -> bool {
        self.model.is_none() || !is_served(name)
    }

    /// The user's variables that pass.
    fn passed(&self, user: &Variables) -> Variables {
        let mut passed: Variables = user
            .iter()
            .filter(|(name, _)| {
                let name = name.to_string_lossy();
                if self.all {
                    self.passes_all(&name)
                } else {
                    variables::passes(&name)
                }
            })
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        passed
            .entry("PATH".into())
            .or_insert_with(|| super::process::DEFAULT_PATH.into());
        passed.entry("TERM".into()).or_insert_with(|| "dumb".into());
        passed
    }

    /// The home folder, and what stays the user's in a fresh one: the folders of tools.
    fn put_home(&self, variables: &mut Variables, user: User<'_>, folders: Folders<'_>) {
        let own = user_home(user.variables);
        let kept = own.as_deref().filter(|_| self.home == Home::Keep);
        set(variables, "HOME", kept.unwrap_or(folders.home));
        for (name, below) in variables::HOME_FOLDERS {
            if kept.is_none() {
                set(variables, name, &folders.home.join(below));
            } else if let Some(value) = user.value(name) {
                set(variables, name, value);
            }
        }
        for (name, places) in variables::TOOL_FOLDERS {
            if let Some(value) = user.value(name) {
                set(variables, name, value);
            } else if let (Some(own), None) = (&own, kept) {
                let place = places
                    .iter()
                    .map(|place| tool_folder(place, own, user))
                    .find(|folder| (user.has_folder)(folder));
                if let Some(place) = place {
                    set(variables, name, &place);
                }
            }
        }
    }
}

impl User<'_> {
    /// The user's value of a variable, in any spelling of its letters: npm has two.
    fn value(&self, name: &str) -> Option<&OsString> {
        self.variables.get(OsStr::new(name)).or_else(|| {
            let mut others = self.variables.iter();
            let (_, value) = others.find(|(other, _)| other.eq_ignore_ascii_case(name))?;
            Some(value)
        })
    }
}

/// Where the default place of a tool is for this user.
fn tool_folder(place: &variables::DefaultPlace, home: &Path, user: User<'_>) -> PathBuf {
    let (variable, default, below) = match place {
        variables::DefaultPlace::Home(below) => return home.join(below),
        variables::DefaultPlace::Cache(below) => ("XDG_CACHE_HOME", ".cache", below),
        variables::DefaultPlace::Data(below) => ("XDG_DATA_HOME", ".local/share", below),
        variables::DefaultPlace::Config(below) => ("XDG_CONFIG_HOME", ".config", below),
    };
    match user.value(variable) {
        Some(base) if Path::new(base).is_absolute() => Path::new(base).join(below),
        _ => home.join(default).join(below),
    }
}

fn user_home(user: &Variables) -> Option<PathBuf> {
    let home = PathBuf::from(user.get(OsStr::new("HOME"))?);
    home.is_absolute().then_some(home)
}

fn set(variables: &mut Variables, name: &str, value: &(impl AsRef<OsStr> + ?Sized)) {
    variables.insert(name.into(), value.as_ref().to_owned());
}

/// Sets a variable unless its value asks for a model that is not there.
fn fill(variables: &mut Variables, placeholders: &Placeholders, name: &str, value: &str) {
    if let Some(value) = placeholders.fill(value) {
        set(variables, name, &value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDERS: [&str; 3] = ["/run/home", "/run/workspace", "/run/tmp"];

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    /// A user with keys, settings, proxies and caches.
    fn user() -> Variables {
        variables(&[
            ("HOME", "/home/ada"),
            ("PATH", "/opt/bin:/bin"),
            ("LANG", "de_DE.UTF-8"),
            ("LC_TIME", "C"),
            ("TZ", "Europe/Berlin"),
            ("TERM", "xterm-256color"),
            ("XDG_CONFIG_HOME", "/home/ada/settings"),
            ("OPENAI_API_KEY", "sk-real"),
            ("anthropic_api_key", "sk-real"),
            ("GEMINI_API_KEY", "real"),
            ("SOME_NEW_API_KEY", "real"),
            ("OPENAI_BASE_URL", "https://paid.example"),
            ("AWS_SECRET_ACCESS_KEY", "real"),
            ("GITHUB_TOKEN", "real"),
            ("DATABASE_PASSWORD", "secret"),
            ("HTTPS_PROXY", "http://user:secret@proxy"),
            ("NO_PROXY", "intern.example"),
            ("NPM_CONFIG_CACHE", "/big/npm"),
            ("UV_CACHE_DIR", "/big/uv"),
        ])
    }

    fn built(
        environment: &Environment,
        user: &Variables,
        there: &[&str],
    ) -> BTreeMap<String, String> {
        let [home, workspace, tmp] = FOLDERS.map(Path::new);
        let user = User {
            variables: user,
            has_folder: &|folder| there.iter().any(|there| folder == Path::new(there)),
        };
        let folders = Folders {
            home,
            workspace,
            tmp,
        };
        environment
            .build(user, folders)
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect()
    }

    fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn scripted() -> Option<ModelAccess> {
        Some(ModelAccess {
            address: "http://127.0.0.1:9".into(),
            variables: texts(&[
                ("OPENAI_API_KEY", "dummy"),
                ("OPENAI_BASE_URL", "{model}/v1"),
            ]),
        })
    }

    #[test]
    fn an_agent_gets_what_it_needs_and_nothing_else() {
        let environment = Environment {
            model: scripted(),
            ..Environment::default()
        };
        let expected = texts(&[
            ("HOME", "/run/home"),
            ("LANG", "de_DE.UTF-8"),
            ("LC_TIME", "C"),
            ("NO_PROXY", LOOPBACK),
            ("OPENAI_API_KEY", "dummy"),
            ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
            ("PATH", "/opt/bin:/bin"),
            ("TERM", "dumb"),
            ("TMPDIR", "/run/tmp"),
            ("TZ", "Europe/Berlin"),
            ("UV_CACHE_DIR", "/big/uv"),
            ("XDG_CACHE_HOME", "/run/home/.cache"),
            ("XDG_CONFIG_HOME", "/run/home/.config"),
            ("XDG_DATA_HOME", "/run/home/.local/share"),
            ("XDG_STATE_HOME", "/run/home/.local/state"),
            ("no_proxy", LOOPBACK),
            ("npm_config_cache", "/big/npm"),
        ]);
        assert_eq!(built(&environment, &user(), &[]), expected);
    }

    #[test]
    fn with_env_all_nothing_stands_in_for_the_scripted_model_and_all_else_passes() {
        let environment = Environment {
            all: true,
            model: scripted(),
            ..Environment::default()
        };
        let built = built(&environment, &user(), &[]);
        for name in ["anthropic_api_key", "GEMINI_API_KEY"] {
            assert!(!built.contains_key(name), "{name}");
        }
        for name in ["SOME_NEW_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"] {
            assert!(built.contains_key(name), "{name}");
        }
        assert_eq!(built["OPENAI_API_KEY"], "dummy");
        assert_eq!(built["OPENAI_BASE_URL"], "http://127.0.0.1:9/v1");
        assert_eq!(
            built["DATABASE_PASSWORD"], "secret",
            "that is what was asked for"
        );
        assert_eq!(built["TERM"], "xterm-256color");
        assert_eq!(built["HOME"], "/run/home");
        assert_eq!(built["XDG_CONFIG_HOME"], "/run/home/.config");
    }

    #[test]
    fn env_all_without_the_scripted_model_passes_the_keys() {
        let environment = Environment {
            all: true,
            ..Environment::default()
        };
        assert_eq!(
            built(&environment, &user(), &[])["OPENAI_API_KEY"],
            "sk-real"
        );
    }

    #[test]
    fn a_key_passes_where_the_user_names_it() {
        let named =
            ["GEMINI_API_KEY", "OPENAI_API_KEY=own", "NOT_SET"].map(|text| text.parse().unwrap());
        let environment = Environment {
            model: scripted(),
            named: named.into(),
            ..Environment::default()
        };
        let built = built(&environment, &user(), &[]);
        assert_eq!(built["GEMINI_API_KEY"], "real");
        assert_eq!(built["OPENAI_API_KEY"], "own");
        assert!(!built.contains_key("NOT_SET"));
    }

    #[test]
    fn what_is_handed_over_is_told_with_its_flag() {
        let scripted = Environment {
            all: true,
            model: scripted(),
            named: [
                "GEMINI_API_KEY",
                "NOT_SET_API_KEY",
                "TERM",
                "OPENAI_API_KEY=own",
            ]
            .map(|text| text.parse().unwrap())
            .into(),
            ..Environment::default()
        };
        let told: Vec<_> = scripted.handed_over(&user()).into_iter().collect();
        for (name, by) in [
            ("GEMINI_API_KEY", "--env"),
            ("OPENAI_API_KEY", "--env"),
            ("AWS_SECRET_ACCESS_KEY", "--env-all"),
        ] {
            assert!(told.contains(&(name.to_owned(), by)), "{name}");
        }
        let all = Environment {
            all: true,
            ..Environment::default()
        };
        let told = all.handed_over(&user());
        assert_eq!(told.get("OPENAI_API_KEY"), Some(&"--env-all"));
        assert!(!told.contains_key("TERM"));
        assert!(Environment::default().handed_over(&user()).is_empty());
        let kept = scripted.kept_back(&user());
        assert!(kept.contains(&"anthropic_api_key".to_owned()));
        assert!(!kept.contains(&"GEMINI_API_KEY".to_owned()));
        assert!(!kept.contains(&"TERM".to_owned()));
    }

    #[test]
    fn without_a_model_no_variable_of_a_model_is_set() {
        let profile = texts(&[
            ("OPENAI_API_KEY", "dummy"),
            ("OPENAI_MODEL", "fake"),
            ("MY_AGENT_ADDRESS", "{model}/v1"),
            ("MY_AGENT_HOME", "{home}/.agent"),
            ("MY_AGENT_FOLDER", "{cwd}"),
        ]);
        let environment = Environment {
            profile,
            ..Environment::default()
        };
        let built = built(&environment, &user(), &[]);
        for name in ["OPENAI_API_KEY", "OPENAI_MODEL", "MY_AGENT_ADDRESS"] {
            assert!(!built.contains_key(name), "{name}");
        }
        assert_eq!(built["MY_AGENT_HOME"], "/run/home/.agent");
        assert_eq!(built["MY_AGENT_FOLDER"], "/run/workspace");
    }

    #[test]
    fn the_profile_is_stronger_than_the_model_and_the_user_is_the_strongest() {
        let environment = Environment {
            model: scripted(),
            profile: texts(&[
                ("OPENAI_BASE_URL", "{model}/openai"),
                ("OPENAI_API_KEY", "profile"),
            ]),
            named: vec![
                "OPENAI_API_KEY=a".parse().unwrap(),
                "OPENAI_API_KEY=b".parse().unwrap(),
            ],
            ..Environment::default()
        };
        let built = built(&environment, &user(), &[]);
        assert_eq!(built["OPENAI_BASE_URL"], "http://127.0.0.1:9/openai");
        assert_eq!(built["OPENAI_API_KEY"], "b");
    }

    #[test]
    fn a_kept_home_is_the_users_own_with_its_folders() {
        let environment = Environment {
            home: Home::Keep,
            ..Environment::default()
        };
        let built = built(&environment, &user(), &["/home/ada/.cargo"]);
        assert_eq!(built["HOME"], "/home/ada");
        assert_eq!(built["XDG_CONFIG_HOME"], "/home/ada/settings");
        assert_eq!(built["UV_CACHE_DIR"], "/big/uv");
        assert!(!built.contains_key("XDG_DATA_HOME"));
        assert!(
            !built.contains_key("CARGO_HOME"),
            "it is found by itself in the user's home"
        );
    }

    #[test]
    fn tools_keep_the_folders_that_the_user_has() {
        let there = [
            "/home/ada/.nvm",
            "/home/ada/.local/share/pnpm",
            "/home/ada/settings/mise",
            "/home/ada/.local/pipx",
        ];
        let built = built(&Environment::default(), &user(), &there);
        assert_eq!(built["NVM_DIR"], "/home/ada/.nvm");
        assert_eq!(built["PNPM_HOME"], "/home/ada/.local/share/pnpm");
        assert_eq!(built["MISE_CONFIG_DIR"], "/home/ada/settings/mise");
        assert_eq!(built["PIPX_HOME"], "/home/ada/.local/pipx");
        assert!(!built.contains_key("PYENV_ROOT"));
    }

    #[test]
    fn a_user_without_variables_gets_a_path() {
        let built = built(&Environment::default(), &Variables::new(), &[]);
        assert_eq!(built["PATH"], super::super::process::DEFAULT_PATH);
        assert_eq!(built["HOME"], "/run/home");
    }

    #[test]
    fn proxies_pass_with_env_all_but_never_for_loopback() {
        let environment = Environment {
            all: true,
            ..Environment::default()
        };
        let built = built(&environment, &user(), &[]);
        assert_eq!(built["HTTPS_PROXY"], "http://user:secret@proxy");
        assert_eq!(built["NO_PROXY"], format!("intern.example,{LOOPBACK}"));
        assert_eq!(built["no_proxy"], LOOPBACK);
    }
}
