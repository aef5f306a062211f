//! Which model is asked: by what the person says, by configuration, or by the key that is set.
//!
//! Pure: the names of the keys that are set are handed in, never the keys.

use std::collections::BTreeMap;

use nika_contract::text::near_names;
use nika_contract::{ToolError, code};

use super::{Adapter, Effort, Endpoint, Key, Model, PriceList, Prices, Provider};

/// A provider that is known by name.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The name.
    pub name: &'static str,
    /// How it speaks.
    pub adapter: Adapter,
    /// Where it listens; `None` where only the person can know.
    pub address: Option<&'static str>,
    /// The variable that its key is read from; `None` where it wants none.
    pub key_env: Option<&'static str>,
    /// The model that is asked when none is named.
    pub model: Option<&'static str>,
    /// Tokens of context to reckon with when configuration does not say: what its smaller models have.
    pub context_tokens: u64,
}

/// The providers. Where several keys are set, the first row decides.
///
/// No prices: they change without notice, and a wrong cost is worse than none. Configuration can say them.
pub const PROVIDERS: &[Row] = &[
    Row {
        name: "anthropic",
        adapter: Adapter::Anthropic,
        address: Some("https://api.anthropic.com/v1/"),
        key_env: Some("ANTHROPIC_API_KEY"),
        model: Some("claude-sonnet-4-6"),
        context_tokens: 200_000,
    },
    // Responses, not Chat Completions: only there does a model keep its reasoning over the calls of a turn.
    Row {
        name: "openai",
        adapter: Adapter::OpenAiResponses,
        address: Some("https://api.openai.com/v1/"),
        key_env: Some("OPENAI_API_KEY"),
        model: Some("gpt-5"),
        context_tokens: 272_000,
    },
    Row {
        name: "openai-chat",
        adapter: Adapter::OpenAi,
        address: Some("https://api.openai.com/v1/"),
        key_env: Some("OPENAI_API_KEY"),
        model: Some("gpt-5"),
        context_tokens: 272_000,
    },
    Row {
        name: "gemini",
        adapter: Adapter::Gemini,
        address: Some("https://generativelanguage.googleapis.com/v1beta/"),
        key_env: Some("GEMINI_API_KEY"),
        model: Some("gemini-3.5-flash"),
        context_tokens: 1_000_000,
    },
    Row {
        name: "mistral",
        adapter: Adapter::Mistral,
        address: Some("https://api.mistral.ai/v1/"),
        key_env: Some("MISTRAL_API_KEY"),
        model: Some("mistral-large-latest"),
        context_tokens: 128_000,
    },
    Row {
        name: "groq",
        adapter: Adapter::Groq,
        address: Some("https://api.groq.com/openai/v1/"),
        key_env: Some("GROQ_API_KEY"),
        model: Some("openai/gpt-oss-120b"),
        context_tokens: 128_000,
    },
    Row {
        name: "deepseek",
        adapter: Adapter::DeepSeek,
        address: Some("https://api.deepseek.com/v1/"),
        key_env: Some("DEEPSEEK_API_KEY"),
        model: Some("deepseek-chat"),
        context_tokens: 128_000,
    },
    Row {
        name: "ollama",
        adapter: Adapter::Ollama,
        address: Some("http://localhost:11434/"),
        key_env: None,
        model: None,
        context_tokens: 32_000,
    },
    Row {
        name: COMPATIBLE,
        adapter: Adapter::OpenAi,
        address: None,
        key_env: None,
        model: None,
        context_tokens: 32_000,
    },
];

/// The provider of an address that is named outright.
const COMPATIBLE: &str = "openai-compatible";

/// The provider whose model is a file.
pub const SCRIPTED: &str = "scripted";

/// What the person said on the command line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said<'a> {
    /// A provider's name, or the address of one that speaks as OpenAI does.
    pub provider: Option<&'a str>,
    /// A model; `PROVIDER/MODEL` names both when no provider is said.
    pub model: Option<&'a str>,
}

/// What configuration says.
#[derive(Debug, Clone, Default)]
pub struct Configured {
    /// The provider to ask.
    pub provider: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// What is said of single providers: known ones are changed, others are made.
    pub providers: BTreeMap<String, Provided>,
}

/// What configuration says of one provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Provided {
    /// How it speaks; `openai-chat` for a provider that is not known by name.
    pub adapter: Option<Adapter>,
    /// Where it listens.
    pub address: Option<String>,
    /// The variable that its key is read from.
    pub key_env: Option<String>,
    /// The model that is asked when none is named.
    pub model: Option<String>,
    /// Tokens of context of the model.
    pub context_tokens: Option<u64>,
    /// Tokens that one answer may have.
    pub max_output: Option<u32>,
    /// What a million tokens of its models cost.
    pub prices: PriceList,
    /// How hard it thinks.
    pub effort: Option<Effort>,
}

impl Provided {
    /// Lays what a nearer layer says over this; what it says nothing of stays. A wish for more effort must not send
    /// requests past the address that a person has chosen.
    pub fn lay(&mut self, nearer: &Provided) {
        let Provided { adapter, address, key_env, model, context_tokens, max_output, prices, effort } = nearer.clone();
        self.adapter = adapter.or(self.adapter);
        self.address = address.or(self.address.take());
        self.key_env = key_env.or(self.key_env.take());
        self.model = model.or(self.model.take());
        self.context_tokens = context_tokens.or(self.context_tokens);
        self.max_output = max_output.or(self.max_output);
        self.prices.lay(prices);
        self.effort = effort.or(self.effort);
    }
}

/// The model that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Chosen {
    /// One behind a network.
    Wire(Box<Choice>),
    /// A script.
    Scripted {
        /// The path as the person wrote it.
        file: String,
    },
}

/// A model behind a network, and where its key is to be found.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The provider's name.
    pub provider: String,
    /// How it speaks.
    pub adapter: Adapter,
    /// Where it listens.
    pub address: String,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// The model.
    pub model: Model,
    /// How hard it thinks.
    pub effort: Option<Effort>,
    /// Why this one, in a few words: `--provider`, `configuration`, `ANTHROPIC_API_KEY is set`.
    pub because: String,
}

impl Choice {
    /// The endpoint, with the key that was found under [`Choice::key_env`].
    pub fn endpoint(self, key: Option<Key>) -> Endpoint {
        let Choice { provider, adapter, address, model, effort, .. } = self;
        Endpoint { provider, adapter, address, key, model, effort, headers: Vec::new() }
    }
}

/// Chooses. `is_set` says whether a variable holds a key.
pub fn choose(said: Said<'_>, configured: &Configured, is_set: &dyn Fn(&str) -> bool) -> Result<Chosen, ToolError> {
    let (provider, model, because) = named(said, configured, is_set)?;
    let model = model_of(configured, &provider, model);
    if provider == SCRIPTED {
        return model.map(|file| Chosen::Scripted { file }).ok_or_else(|| {
            ToolError::new(code::NO_MODEL, "the scripted provider needs a script")
                .hint("name one: `--provider scripted --model FILE.yaml`; docs/models.md shows the form")
        });
    }
    if is_address(&provider) {
        // What configuration says of models holds for this address. Its adapter, and its key above all, belong to the
        // address that it names itself.
        let said = configured.providers.get(COMPATIBLE).cloned().unwrap_or_default();
        let own = Provided { adapter: None, address: Some(provider), key_env: None, ..said };
        return wire(COMPATIBLE, None, &own, model, because, is_set);
    }
    let row = PROVIDERS.iter().find(|row| row.name == provider);
    let own = configured.providers.get(&provider);
    if row.is_none() && own.is_none() {
        return Err(unknown(&provider, configured));
    }
    let own = own.cloned().unwrap_or_default();
    wire(&provider, row, &own, model, because, is_set)
}

/// What a million tokens cost of the model that [`choose`] would take. It wants no key: what a plan may cost is
/// reckoned before anything is asked.
pub fn prices(said: Said<'_>, configured: &Configured, is_set: &dyn Fn(&str) -> bool) -> Option<Prices> {
    let (provider, model, _) = named(said, configured, is_set).ok()?;
    let own = said_of(configured, &provider)?;
    own.prices.of(&model_of(configured, &provider, model)?)
}

/// What configuration says of a provider, or of any address that is named outright.
fn said_of<'c>(configured: &'c Configured, provider: &str) -> Option<&'c Provided> {
    configured.providers.get(if is_address(provider) { COMPATIBLE } else { provider })
}

fn is_address(provider: &str) -> bool {
    provider.starts_with("http://") || provider.starts_with("https://")
}

/// Refuses a model that `bound` could not count. What is played from a script costs what the script says, or nothing.
pub fn countable(model: &dyn Provider, bound: &str) -> Result<(), ToolError> {
    if model.model().prices.is_some() || model.name() == SCRIPTED { Ok(()) } else { Err(unpriced(model, bound)) }
}

/// A model that has no price, where `bound` wants one.
pub fn unpriced(model: &dyn Provider, bound: &str) -> ToolError {
    let (provider, id) = (model.name(), model.model().id.as_str());
    let message = format!("{bound} needs prices, and none are known for the model {id} of {provider}");
    ToolError::new(code::BAD_ARGUMENTS, message).hint(match provider {
        SCRIPTED => "say them in the script: `prices: {input: …, output: …}`".to_owned(),
        _ => format!(
            "say in the configuration what a million tokens cost, in US dollars (0 where they cost nothing): \
             `providers.{provider}.prices: {{{id}: {{input: …, output: …}}}}`"
        ),
    })
}

/// The model that a provider is asked for: the one that was said, that of the configuration (which belongs to the
/// provider of the configuration), the provider's own, the table's.
fn model_of(configured: &Configured, provider: &str, said: Option<&str>) -> Option<String> {
    let general = || configured.model.clone().filter(|_| configured.provider.as_deref() == Some(provider));
    let own = || said_of(configured, provider)?.model.clone();
    let known = || PROVIDERS.iter().find(|row| row.name == provider)?.model.map(str::to_owned);
    said.map(str::to_owned).or_else(general).or_else(own).or_else(known)
}

/// The provider, the model that was said with it, and why.
fn named<'a>(
    said: Said<'a>,
    configured: &Configured,
    is_set: &dyn Fn(&str) -> bool,
) -> Result<(String, Option<&'a str>, String), ToolError> {
    if let Some(provider) = said.provider {
        return Ok((provider.to_owned(), said.model, "--provider".to_owned()));
    }
    // Models of some providers have a slash in their own names: only a provider's name before it counts.
    if let Some((provider, model)) = said.model.and_then(|model| model.split_once('/'))
        && is_known(provider, configured)
    {
        return Ok((provider.to_owned(), Some(model), "--model".to_owned()));
    }
    if let Some(provider) = &configured.provider {
        return Ok((provider.clone(), said.model, "configuration".to_owned()));
    }
    let by_key = PROVIDERS.iter().find_map(|row| {
        let own = configured.providers.get(row.name).and_then(|own| own.key_env.as_deref());
        let env = own.or(row.key_env).filter(|env| is_set(env))?;
        Some((row.name.to_owned(), said.model, format!("{env} is set")))
    });
    by_key.ok_or_else(nothing)
}

fn is_known(provider: &str, configured: &Configured) -> bool {
    provider == SCRIPTED
        || PROVIDERS.iter().any(|row| row.name == provider)
        || configured.providers.contains_key(provider)
}

fn wire(
    name: &str,
    row: Option<&Row>,
    own: &Provided,
    model: Option<String>,
    because: String,
    is_set: &dyn Fn(&str) -> bool,
) -> Result<Chosen, ToolError> {
    let address = own.address.clone().or_else(|| row.and_then(|row| row.address).map(str::to_owned));
    let Some(address) = address else {
        return Err(ToolError::new(code::NO_MODEL, format!("the provider `{name}` has no address"))
            .hint(format!("give it one: `providers.{name}.address: http://localhost:8000/v1` in the configuration")));
    };
    let Some(id) = model else {
        let list = if name == "ollama" { "; `ollama list` shows yours" } else { "" };
        return Err(ToolError::new(code::NO_MODEL, format!("no model of `{name}` is chosen"))
            .hint(format!("name one: `--model MODEL`, or `providers.{name}.model` in the configuration{list}")));
    };
    let key_env = own.key_env.clone().or_else(|| row.and_then(|row| row.key_env).map(str::to_owned));
    // A server that the person put somewhere else may want no key, unless they said where to find one.
    let needed = own.key_env.is_some() || own.address.is_none();
    if let Some(env) = key_env.as_deref().filter(|env| needed && !is_set(env)) {
        return Err(ToolError::new(code::MODEL_KEY_REFUSED, format!("`{name}` wants a key, and {env} is not set"))
            .hint(format!("set it (`export {env}=…`), or choose another with --provider: {}", names().join(", "))));
    }
    let context_tokens = own.context_tokens.unwrap_or_else(|| row.map_or(32_000, |row| row.context_tokens));
    Ok(Chosen::Wire(Box::new(Choice {
        provider: name.to_owned(),
        adapter: own.adapter.or(row.map(|row| row.adapter)).unwrap_or(Adapter::OpenAi),
        address,
        key_env,
        model: Model { prices: own.prices.of(&id), id, context_tokens, max_output: own.max_output },
        effort: own.effort,
        because,
    })))
}

/// Names of all providers that are known without configuration.
pub fn names() -> Vec<&'static str> {
    PROVIDERS.iter().map(|row| row.name).chain([SCRIPTED]).collect()
}

/// Nothing says which model: the three shortest ways to one.
fn nothing() -> ToolError {
    let keys: Vec<&str> = PROVIDERS.iter().filter_map(|row| row.key_env).collect();
    let mut others: Vec<&str> = keys[1..].to_vec();
    others.dedup();
    ToolError::new(code::NO_MODEL, "no model is chosen: no provider is named, and no key is set").hint(format!(
        "the three shortest ways to one:\n  \
         a key:             export {}=…   (or {})\n  \
         Ollama:            --provider ollama --model NAME   (`ollama list` shows names)\n  \
         any other address: --provider http://localhost:8000/v1 --model NAME   (what speaks as OpenAI does)",
        keys[0],
        others.join(", ")
    ))
}

fn unknown(name: &str, configured: &Configured) -> ToolError {
    let own = configured.providers.keys().cloned();
    let all: Vec<String> = names().into_iter().map(str::to_owned).chain(own).collect();
    let near = near_names(name, all.iter().cloned(), 1);
    let hint = match near.first() {
        Some(near) => format!("did you mean `{near}`? There are {}, and any http:// address", all.join(", ")),
        None => format!("there are {}, and any http:// address", all.join(", ")),
    };
    ToolError::new(code::NO_MODEL, format!("no provider is called `{name}`")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(said: Said<'_>, configured: &Configured, keys: &[&str]) -> Result<Chosen, ToolError> {
        choose(said, configured, &|name| keys.contains(&name))
    }

    fn wired(chosen: Result<Chosen, ToolError>) -> Choice {
        match chosen.unwrap() {
            Chosen::Wire(choice) => *choice,
            Chosen::Scripted { file } => panic!("chose the script {file}"),
        }
    }

    fn said<'a>(provider: Option<&'a str>, model: Option<&'a str>) -> Said<'a> {
        Said { provider, model }
    }

    #[test]
    fn with_nothing_set_the_error_names_three_ways() {
        let error = pick(Said::default(), &Configured::default(), &[]).unwrap_err();
        assert_eq!(error.code, code::NO_MODEL);
        let text = error.to_string();
        for way in ["ANTHROPIC_API_KEY=", "GEMINI_API_KEY", "--provider ollama", "--provider http://localhost:8000/v1"]
        {
            assert!(text.contains(way), "{text}");
        }
    }

    #[test]
    fn a_key_that_is_set_chooses_its_provider_in_the_tables_order() {
        let choice = wired(pick(Said::default(), &Configured::default(), &["GROQ_API_KEY", "MISTRAL_API_KEY"]));
        assert_eq!(choice.provider, "mistral");
        assert_eq!(choice.because, "MISTRAL_API_KEY is set");
        assert_eq!(choice.model.id, "mistral-large-latest");
        assert_eq!(choice.model.prices, None);
    }

    #[test]
    fn what_is_said_wins_over_configuration_and_configuration_over_keys() {
        let configured =
            Configured { provider: Some("groq".into()), model: Some("llama".into()), ..Configured::default() };
        let keys = ["ANTHROPIC_API_KEY", "GROQ_API_KEY"];
        let choice = wired(pick(Said::default(), &configured, &keys));
        assert_eq!((choice.provider.as_str(), choice.model.id.as_str()), ("groq", "llama"));
        // The configured model is groq's, not Anthropic's.
        let choice = wired(pick(said(Some("anthropic"), None), &configured, &keys));
        assert_eq!((choice.provider.as_str(), choice.model.id.as_str()), ("anthropic", "claude-sonnet-4-6"));
        let choice = wired(pick(said(None, Some("other")), &configured, &keys));
        assert_eq!((choice.provider.as_str(), choice.model.id.as_str()), ("groq", "other"));
    }

    #[test]
    fn a_model_may_name_its_provider_and_a_slash_of_its_own_is_left_alone() {
        let keys = ["GROQ_API_KEY", "ANTHROPIC_API_KEY"];
        let choice = wired(pick(said(None, Some("groq/openai/gpt-oss-20b")), &Configured::default(), &keys));
        assert_eq!((choice.provider.as_str(), choice.model.id.as_str()), ("groq", "openai/gpt-oss-20b"));
        let choice = wired(pick(said(Some("groq"), Some("openai/gpt-oss-20b")), &Configured::default(), &keys));
        assert_eq!(choice.model.id, "openai/gpt-oss-20b");
        let choice = wired(pick(said(None, Some("meta/llama")), &Configured::default(), &keys));
        assert_eq!((choice.provider.as_str(), choice.model.id.as_str()), ("anthropic", "meta/llama"));
    }

    #[test]
    fn an_address_speaks_as_openai_does() {
        let choice = wired(pick(said(Some("http://localhost:8000/v1"), Some("qwen")), &Configured::default(), &[]));
        assert_eq!(choice.adapter, Adapter::OpenAi);
        assert_eq!(choice.provider, "openai-compatible");
        assert_eq!(choice.address, "http://localhost:8000/v1");
        assert_eq!(choice.key_env, None);
        let error = pick(said(Some("http://localhost:8000/v1"), None), &Configured::default(), &[]).unwrap_err();
        assert!(error.to_string().contains("--model"), "{error}");
    }

    #[test]
    fn ollama_wants_a_model_and_no_key() {
        let choice = wired(pick(said(Some("ollama"), Some("qwen3")), &Configured::default(), &[]));
        assert_eq!((choice.adapter, choice.key_env), (Adapter::Ollama, None));
        let error = pick(said(Some("ollama"), None), &Configured::default(), &[]).unwrap_err();
        assert!(error.to_string().contains("ollama list"), "{error}");
    }

    #[test]
    fn a_named_provider_without_its_key_is_told_which_to_set() {
        let error = pick(said(Some("gemini"), None), &Configured::default(), &["OPENAI_API_KEY"]).unwrap_err();
        assert_eq!(error.code, code::MODEL_KEY_REFUSED);
        assert!(error.to_string().contains("GEMINI_API_KEY"), "{error}");
    }

    #[test]
    fn configuration_changes_a_known_provider_and_makes_new_ones() {
        let prices = Prices { input: 1.0, cache_read: 0.1, cache_write: 1.25, output: 5.0 };
        let mut configured = Configured::default();
        configured.providers.insert(
            "anthropic".into(),
            Provided {
                address: Some("http://proxy:9".into()),
                prices: PriceList::of_all(prices),
                ..Provided::default()
            },
        );
        configured.providers.insert(
            "work".into(),
            Provided {
                address: Some("https://llm.example.com/v1".into()),
                key_env: Some("WORK_KEY".into()),
                model: Some("big".into()),
                context_tokens: Some(500_000),
                ..Provided::default()
            },
        );
        // Behind a proxy of one's own no key is needed.
        let choice = wired(pick(said(Some("anthropic"), None), &configured, &[]));
        assert_eq!(choice.address, "http://proxy:9");
        assert_eq!(choice.model.prices, Some(prices));
        let choice = wired(pick(said(Some("work"), None), &configured, &["WORK_KEY"]));
        assert_eq!((choice.adapter, choice.model.id.as_str()), (Adapter::OpenAi, "big"));
        assert_eq!(choice.model.context_tokens, 500_000);
        assert_eq!(choice.key_env.as_deref(), Some("WORK_KEY"));
        let error = pick(said(Some("work"), None), &configured, &[]).unwrap_err();
        assert!(error.to_string().contains("WORK_KEY"), "{error}");
    }

    #[test]
    fn each_model_of_a_provider_has_its_own_price_and_some_have_none() {
        let at = |input| Prices { input, cache_read: 0.0, cache_write: 0.0, output: 0.0 };
        let list = PriceList::default().with("claude-sonnet-4-6", at(3.0)).with("claude-haiku-*", at(1.0));
        let row = Provided { prices: list, ..Provided::default() };
        let mut configured = Configured::default();
        configured.providers.insert("anthropic".into(), row);
        let keys = ["ANTHROPIC_API_KEY"];
        for (model, price) in
            [(None, Some(3.0)), (Some("claude-haiku-4-5"), Some(1.0)), (Some("claude-opus-4-6"), None)]
        {
            let choice = wired(pick(said(None, model), &configured, &keys));
            assert_eq!(choice.model.prices.map(|prices| prices.input), price, "{model:?}");
            let named = said(Some("anthropic"), model);
            assert_eq!(prices(named, &configured, &|_| false).map(|prices| prices.input), price, "{model:?}, no key");
        }
        let slashed = said(None, Some("anthropic/claude-haiku-4-5"));
        assert_eq!(prices(slashed, &configured, &|_| false).map(|prices| prices.input), Some(1.0));
        assert_eq!(prices(Said::default(), &configured, &|_| false), None, "nobody knows who would be asked");
    }

    #[test]
    fn an_address_that_is_named_outright_has_what_is_said_of_compatible_ones_but_no_key() {
        let one = Prices { input: 1.0, cache_read: 1.0, cache_write: 1.0, output: 2.0 };
        let mut configured = Configured::default();
        let row = Provided {
            address: Some("https://llm.example.com/v1".into()),
            key_env: Some("WORK_KEY".into()),
            model: Some("qwen".into()),
            context_tokens: Some(128_000),
            prices: PriceList::default().with("qwen", one),
            ..Provided::default()
        };
        configured.providers.insert("openai-compatible".into(), row);
        let address = said(Some("http://localhost:8000/v1"), None);
        let choice = wired(pick(address, &configured, &["WORK_KEY"]));
        assert_eq!((choice.address.as_str(), choice.key_env), ("http://localhost:8000/v1", None));
        assert_eq!((choice.model.id.as_str(), choice.model.context_tokens), ("qwen", 128_000));
        assert_eq!(choice.model.prices, Some(one));
        assert_eq!(prices(address, &configured, &|_| false), Some(one), "also before anything runs");
        let other = said(Some("http://localhost:8000/v1"), Some("other"));
        assert_eq!(wired(pick(other, &configured, &[])).model.prices, None);
    }

    #[test]
    fn a_name_that_nobody_has_lists_near_ones() {
        let error = pick(said(Some("antropic"), None), &Configured::default(), &[]).unwrap_err();
        assert!(error.to_string().contains("did you mean `anthropic`"), "{error}");
    }

    #[test]
    fn a_script_is_a_model_named_by_its_file() {
        let chosen = pick(said(Some("scripted"), Some("demo.yaml")), &Configured::default(), &[]).unwrap();
        assert_eq!(chosen, Chosen::Scripted { file: "demo.yaml".into() });
        let chosen = pick(said(None, Some("scripted/a/demo.yaml")), &Configured::default(), &[]).unwrap();
        assert_eq!(chosen, Chosen::Scripted { file: "a/demo.yaml".into() });
        assert!(pick(said(Some("scripted"), None), &Configured::default(), &[]).is_err());
    }

    #[test]
    fn every_row_is_whole_and_its_address_is_one() {
        for row in PROVIDERS {
            if let Some(address) = row.address {
                assert_eq!(super::super::endpoint::base(row.adapter, address).unwrap(), address, "{}", row.name);
            }
            assert!(row.context_tokens >= 32_000, "{}", row.name);
        }
    }
}
