//! Which variables pass to an agent, which never do, and where tools keep what they downloaded: tables.

/// The user's variables that pass: where programs, libraries and certificates are, language and time zone. None of them
/// holds settings of an agent or a secret. An entry that ends with `*` is a prefix.
const PASS: [&str; 23] = [
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOCALE_ARCHIVE",
    "TZ",
    "TZDIR",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "NIX_LD",
    "NIX_LD_LIBRARY_PATH",
    "NIX_PROFILES",
    "NIX_SSL_CERT_FILE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "JAVA_HOME",
    "DOTNET_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// Where a home keeps settings, data, state and caches, by the variable that moves it.
pub(super) const HOME_FOLDERS: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
];

/// Where a tool keeps its folder if its variable is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefaultPlace {
    /// Below the home folder.
    Home(&'static str),
    /// Below the folder of caches.
    Cache(&'static str),
    /// Below the folder of data.
    Data(&'static str),
    /// Below the folder of settings.
    Config(&'static str),
}

use DefaultPlace::{Cache, Config, Data, Home};

/// Folders of the user that stay in use in a fresh home, by the variable that leads to them: caches of package runners,
/// so that nothing is downloaded again, and what version managers installed, without which their programs do not start.
/// Set to the user's own value, else to the first default place that is there, else not at all.
pub(super) const TOOL_FOLDERS: [(&str, &[DefaultPlace]); 35] = [
    ("npm_config_cache", &[Home(".npm")]),
    (
        "YARN_CACHE_FOLDER",
        &[Cache("yarn"), Home("Library/Caches/Yarn")],
    ),
    ("YARN_GLOBAL_FOLDER", &[Home(".yarn/berry")]),
    ("PNPM_HOME", &[Data("pnpm"), Home("Library/pnpm")]),
    ("COREPACK_HOME", &[Cache("node/corepack")]),
    ("BUN_INSTALL", &[Home(".bun")]),
    ("DENO_DIR", &[Cache("deno"), Home("Library/Caches/deno")]),
    ("UV_CACHE_DIR", &[Cache("uv")]),
    ("UV_PYTHON_INSTALL_DIR", &[Data("uv/python")]),
    ("UV_TOOL_DIR", &[Data("uv/tools")]),
    ("PIP_CACHE_DIR", &[Cache("pip"), Home("Library/Caches/pip")]),
    ("PIPX_HOME", &[Data("pipx"), Home(".local/pipx")]),
    ("CARGO_HOME", &[Home(".cargo")]),
    ("RUSTUP_HOME", &[Home(".rustup")]),
    ("GOPATH", &[Home("go")]),
    (
        "GOCACHE",
        &[Cache("go-build"), Home("Library/Caches/go-build")],
    ),
    ("GRADLE_USER_HOME", &[Home(".gradle")]),
    ("NUGET_PACKAGES", &[Home(".nuget/packages")]),
    (
        "PLAYWRIGHT_BROWSERS_PATH",
        &[Cache("ms-playwright"), Home("Library/Caches/ms-playwright")],
    ),
    ("PUPPETEER_CACHE_DIR", &[Cache("puppeteer")]),
    ("NVM_DIR", &[Home(".nvm"), Config("nvm")]),
    (
        "FNM_DIR",
        &[
            Data("fnm"),
            Home("Library/Application Support/fnm"),
            Home(".fnm"),
        ],
    ),
    ("VOLTA_HOME", &[Home(".volta")]),
    ("N_PREFIX", &[]),
    ("NODENV_ROOT", &[Home(".nodenv")]),
    ("PYENV_ROOT", &[Home(".pyenv")]),
    ("RBENV_ROOT", &[Home(".rbenv")]),
    ("GOENV_ROOT", &[Home(".goenv")]),
    ("JENV_ROOT", &[Home(".jenv")]),
    ("SDKMAN_DIR", &[Home(".sdkman")]),
    ("ASDF_DIR", &[]),
    ("ASDF_DATA_DIR", &[Home(".asdf")]),
    ("PROTO_HOME", &[Home(".proto")]),
    ("MISE_DATA_DIR", &[Data("mise")]),
    ("MISE_CONFIG_DIR", &[Config("mise")]),
];

/// Variables that lead to a model or pay for it: keys, addresses, names of models, and the accounts at the clouds and at
/// GitHub that models can be reached with. An entry that ends with `*` is a prefix, one that begins with `*` an ending.
const MODEL: [&str; 42] = [
    "*_API_KEY",
    "*_API_KEYS",
    "*_API_TOKEN",
    "*_AUTH_TOKEN",
    "*_OAUTH_TOKEN",
    "*_BASE_URL",
    "*_API_BASE",
    "*_API_HOST",
    "*_MODEL",
    "OPENAI_*",
    "AZURE_OPENAI_*",
    "AZURE_API_*",
    "AZURE_AI_*",
    "CODEX_ACCESS_TOKEN",
    "ANTHROPIC_*",
    "CLAUDE_CODE_OAUTH_*",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_*",
    "GOOGLE_GEMINI_*",
    "GOOGLE_GENAI_*",
    "GOOGLE_VERTEX_*",
    "VERTEX_*",
    "VERTEXAI_*",
    "CLOUD_ML_REGION",
    "AWS_*",
    "BEDROCK_*",
    "OPENROUTER_*",
    "LITELLM_*",
    "OLLAMA_*",
    "LMSTUDIO_*",
    "WATSONX_*",
    "CLINE_PROVIDER",
    "COPILOT_PROVIDER_*",
    "COPILOT_GITHUB_TOKEN",
    "GITHUB_COPILOT_*",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
];

/// Variables of the families that the scripted model serves: with it, the user's own never stand in for its.
const SERVED: &[&str] = &[
    "OPENAI_*",
    "ANTHROPIC_*",
    "GEMINI_*",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_*",
    "GOOGLE_GENAI_*",
];

/// Whether a variable of the user's passes without being named.
pub(super) fn passes(name: &str) -> bool {
    PASS.iter().any(|entry| fits(entry, name))
}

/// Whether a variable leads to a model, in any spelling of its letters.
pub(super) fn is_model_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // Where the system's certificates are is no secret, whoever asks for them.
    !name.ends_with("_CA_BUNDLE") && MODEL.iter().any(|entry| fits(entry, &name))
}

/// Whether a variable leads to a model of a family that the scripted model serves.
pub(super) fn is_served(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SERVED.iter().any(|entry| fits(entry, &name))
}

fn fits(entry: &str, name: &str) -> bool {
    if let Some(prefix) = entry.strip_suffix('*') {
        name.starts_with(prefix)
    } else if let Some(ending) = entry.strip_prefix('*') {
        name.ends_with(ending)
    } else {
        entry == name
    }
}
