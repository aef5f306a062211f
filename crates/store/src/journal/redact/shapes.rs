//! Secrets that are known by how they begin, whatever stands before them.

use super::rows::Rows;
use super::secrets::{Secret, is_alnum, is_base64, is_dotted, is_hex, is_upper, is_url64, is_word, run};

/// A secret that is known by how it begins.
struct Shape {
    prefix: &'static str,
    kind: &'static str,
    /// What may follow.
    rest: fn(u8) -> bool,
    /// At least so many bytes follow.
    min: usize,
    /// And the whole must look like this.
    also: fn(&[u8]) -> bool,
    /// The beginning is an address, and no part of the secret.
    is_address: bool,
}

const fn shape(prefix: &'static str, kind: &'static str, rest: fn(u8) -> bool, min: usize) -> Shape {
    Shape { prefix, kind, rest, min, also: |_| true, is_address: false }
}

/// What follows is words as often as a key: it must have letters and digits.
const fn mixed(prefix: &'static str, kind: &'static str, rest: fn(u8) -> bool, min: usize) -> Shape {
    Shape { also: is_mixed, ..shape(prefix, kind, rest, min) }
}

/// Twenty capitals and digits in all.
const fn aws(prefix: &'static str) -> Shape {
    Shape { also: |all| all.len() == 20, ..shape(prefix, "aws_key", is_upper, 16) }
}

/// An address whose path is what lets one in.
const fn hook(prefix: &'static str, min: usize) -> Shape {
    Shape { is_address: true, ..shape(prefix, "webhook", is_path, min) }
}

/// By their prefixes' first bytes; of two that begin alike the longer first.
const SHAPES: &[Shape] = &[
    aws("ABIA"),
    mixed("ABSK", "aws_key", is_base64, 100),
    aws("ACCA"),
    shape("AGE-SECRET-KEY-1", "age_key", is_upper, 40),
    mixed("AKCp", "artifactory_key", is_alnum, 60),
    aws("AKIA"),
    aws("ASIA"),
    mixed("ATATT3", "atlassian_token", is_token, 20),
    mixed("ATBB", "bitbucket_token", is_alnum, 28),
    mixed("ATCTT3", "atlassian_token", is_token, 20),
    shape("AIza", "google_key", is_url64, 35),
    mixed("ATSTT3", "atlassian_token", is_token, 20),
    mixed("CCIPAT_", "circleci_token", is_word, 40),
    shape("CFPAT-", "contentful_token", is_url64, 40),
    mixed("CLOJARS_", "clojars_token", is_alnum, 60),
    mixed("EAAC", "facebook_token", is_alnum, 40),
    mixed("EZAK", "easypost_key", is_alnum, 50),
    mixed("EZTK", "easypost_key", is_alnum, 50),
    mixed("FLWSECK-", "flutterwave_key", is_url64, 20),
    mixed("FLWSECK_TEST-", "flutterwave_key", is_url64, 12),
    shape("GOCSPX-", "google_secret", is_url64, 20),
    mixed("GR1348941", "gitlab_token", is_url64, 20),
    mixed("HRKU-", "heroku_key", is_url64, 36),
    mixed("LTAI", "alibaba_key", is_alnum, 16),
    mixed("NRAK-", "newrelic_key", is_upper, 20),
    mixed("PMAK-", "postman_key", is_url64, 20),
    Shape {
        also: |all| all.iter().filter(|&&b| b == b'.').count() == 2,
        ..shape("SG.", "sendgrid_key", is_dotted, 30)
    },
    Shape { also: |all| all.len() == 34 && is_small_hex(&all[2..]), ..shape("SK", "twilio_key", is_alnum, 32) },
    Shape {
        also: |all| all.len() == 42 && has_both_cases(&all[8..]),
        ..shape("api_org_", "huggingface_token", is_alnum, 34)
    },
    shape("atlasv1.", "terraform_token", is_url64, 60),
    mixed("bkua_", "buildkite_token", is_hex, 40),
    Shape { also: is_bot, is_address: true, ..shape("bot", "telegram_token", is_bot_token, 40) },
    Shape { also: |all| all.len() == 35 && is_cased(all), ..shape("cio", "crates_io_token", is_alnum, 32) },
    mixed("dckr_oat_", "docker_token", is_url64, 16),
    mixed("dckr_pat_", "docker_token", is_url64, 16),
    shape("dapi", "databricks_token", is_hex, 32),
    shape("doo_v1_", "digitalocean_token", is_hex, 20),
    shape("dop_v1_", "digitalocean_token", is_hex, 20),
    shape("dor_v1_", "digitalocean_token", is_hex, 20),
    mixed("dp.audit.", "doppler_token", is_alnum, 40),
    mixed("dp.ct.", "doppler_token", is_alnum, 40),
    mixed("dp.pt.", "doppler_token", is_alnum, 40),
    mixed("dp.sa.", "doppler_token", is_alnum, 40),
    mixed("dp.scim.", "doppler_token", is_alnum, 40),
    mixed("dp.st.", "doppler_token", is_dotted, 40),
    mixed("dt0c01.", "dynatrace_token", is_dotted, 60),
    mixed("duffel_live_", "duffel_token", is_token, 40),
    mixed("duffel_test_", "duffel_token", is_token, 40),
    Shape { also: is_jwt, ..shape("eyJ", "jwt", is_dotted, 20) },
    mixed("figd_", "figma_token", is_url64, 20),
    mixed("fio-u-", "frameio_token", is_token, 60),
    mixed("fm2_", "fly_token", is_base64, 60),
    mixed("fo1_", "fly_token", is_url64, 40),
    shape("gho_", "github_token", is_alnum, 20),
    shape("ghp_", "github_token", is_alnum, 20),
    shape("ghr_", "github_token", is_alnum, 20),
    shape("ghs_", "github_token", is_alnum, 20),
    shape("ghu_", "github_token", is_alnum, 20),
    shape("github_pat_", "github_token", is_word, 20),
    mixed("glagent-", "gitlab_token", is_dotted, 20),
    mixed("glcbt-", "gitlab_token", is_dotted, 20),
    mixed("gldt-", "gitlab_token", is_dotted, 20),
    mixed("glffct-", "gitlab_token", is_dotted, 20),
    mixed("glft-", "gitlab_token", is_dotted, 20),
    mixed("glimt-", "gitlab_token", is_dotted, 20),
    mixed("gloas-", "gitlab_token", is_dotted, 20),
    shape("glpat-", "gitlab_token", is_dotted, 20),
    shape("glptt-", "gitlab_token", is_dotted, 20),
    shape("glrt-", "gitlab_token", is_dotted, 20),
    mixed("glrtr-", "gitlab_token", is_dotted, 20),
    mixed("glsoat-", "gitlab_token", is_dotted, 20),
    mixed("glc_", "grafana_token", is_base64, 20),
    mixed("glsa_", "grafana_token", is_word, 20),
    mixed("glwt-", "gitlab_token", is_dotted, 20),
    mixed("gsk_", "groq_key", is_alnum, 20),
    mixed("hf_", "huggingface_token", is_alnum, 16),
    Shape {
        also: |all| all.len() == 37 && has_both_cases(&all[3..]),
        ..shape("hf_", "huggingface_token", is_alnum, 34)
    },
    hook("hooks.slack.com/services/", 20),
    hook("hooks.slack.com/triggers/", 20),
    hook("hooks.slack.com/workflows/", 20),
    hook("hooks.zapier.com/hooks/catch/", 8),
    shape("hvb.", "vault_token", is_url64, 20),
    mixed("hvr.", "vault_token", is_url64, 20),
    shape("hvs.", "vault_token", is_url64, 20),
    shape("lin_api_", "linear_key", is_alnum, 20),
    shape("lin_oauth_", "linear_key", is_alnum, 20),
    mixed("lsv2_pt_", "langsmith_key", is_word, 32),
    mixed("lsv2_sk_", "langsmith_key", is_word, 32),
    mixed("napi_", "neon_key", is_alnum, 40),
    mixed("nfp_", "netlify_token", is_alnum, 36),
    mixed("npm_", "npm_token", is_alnum, 16),
    mixed("ntn_", "notion_token", is_alnum, 20),
    mixed("nvapi-", "nvidia_key", is_url64, 20),
    hook("open.feishu.cn/open-apis/bot/v2/hook/", 16),
    hook("open.larksuite.com/open-apis/bot/v2/hook/", 16),
    mixed("ops_eyJ", "onepassword_token", is_base64, 100),
    hook("outlook.office.com/webhook/", 20),
    hook("outlook.office365.com/webhook/", 20),
    Shape { also: |all| all.len() == 46 && is_mixed(all), ..shape("oy2", "nuget_key", is_alnum, 43) },
    Shape {
        also: |all| all.len() == 82 && all[17] == b'.' && is_small_hex(&all[18..]),
        ..shape("pat", "airtable_token", is_dotted, 79)
    },
    mixed("pcsk_", "pinecone_key", is_word, 40),
    mixed("phx_", "posthog_key", is_alnum, 40),
    mixed("pnu_", "prefect_key", is_alnum, 36),
    mixed("pplx-", "perplexity_key", is_alnum, 20),
    mixed("pscale_oauth_", "planetscale_token", is_dotted, 32),
    mixed("pscale_pw_", "planetscale_token", is_dotted, 32),
    mixed("pscale_tkn_", "planetscale_token", is_dotted, 32),
    mixed("pul-", "pulumi_token", is_hex, 40),
    shape("pypi-AgE", "pypi_token", is_url64, 8),
    shape("pypi-", "pypi_token", is_url64, 50),
    mixed("pypi-", "pypi_token", is_word, 16),
    hook("qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", 16),
    mixed("r8_", "replicate_token", is_alnum, 37),
    Shape {
        also: |all| all.len() == 36 && all[11] == b'_' && is_cased(all),
        ..shape("re_", "resend_key", is_word, 33)
    },
    shape("rk_live_", "stripe_key", is_alnum, 16),
    shape("rk_test_", "stripe_key", is_alnum, 16),
    mixed("rpa_", "runpod_key", is_alnum, 40),
    mixed("rubygems_", "rubygems_key", is_hex, 32),
    mixed("sb_secret_", "supabase_token", is_url64, 20),
    mixed("sbp_", "supabase_token", is_hex, 32),
    Shape { also: |all| all.len() == 50 && is_cased(all), ..shape("secret_", "notion_token", is_alnum, 43) },
    mixed("sgp_", "sourcegraph_token", is_word, 40),
    mixed("shippo_live_", "shippo_token", is_hex, 40),
    mixed("shippo_test_", "shippo_token", is_hex, 40),
    shape("shpat_", "shopify_token", is_hex, 32),
    shape("shpca_", "shopify_token", is_hex, 32),
    shape("shppa_", "shopify_token", is_hex, 32),
    shape("shpss_", "shopify_token", is_hex, 32),
    Shape { also: is_cased, ..shape("sk-admin-", "api_key", is_url64, 16) },
    mixed("sk-ant-", "api_key", is_url64, 16),
    mixed("sk-or-v1-", "api_key", is_url64, 16),
    Shape { also: is_cased, ..shape("sk-proj-", "api_key", is_url64, 16) },
    Shape { also: is_cased, ..shape("sk-svcacct-", "api_key", is_url64, 16) },
    Shape { also: has_solid_run, ..shape("sk-", "api_key", is_url64, 20) },
    shape("sk_live_", "stripe_key", is_alnum, 16),
    shape("sk_test_", "stripe_key", is_alnum, 16),
    mixed("sl.", "dropbox_token", is_dotted, 120),
    mixed("sntrys_", "sentry_token", is_base64, 20),
    mixed("sntryu_", "sentry_token", is_hex, 32),
    mixed("sq0atp-", "square_token", is_url64, 20),
    mixed("sq0csp-", "square_token", is_url64, 20),
    mixed("tfp_", "typeform_token", is_dotted, 40),
    mixed("tgp_v1_", "together_key", is_url64, 40),
    mixed("tskey-", "tailscale_key", is_url64, 16),
    mixed("tvly-", "tavily_key", is_url64, 20),
    mixed("vercel_blob_rw_", "vercel_token", is_word, 30),
    mixed("waka_", "wakatime_key", is_url64, 36),
    hook("webhook.office.com/webhookb2/", 20),
    Shape { also: is_hook_of_discord, ..hook("webhooks/", 50) },
    shape("whsec_", "stripe_key", is_base64, 16),
    mixed("xai-", "xai_key", is_alnum, 20),
    shape("xapp-", "slack_token", is_url64, 20),
    mixed("xkeysib-", "brevo_key", is_url64, 60),
    shape("xoxa-", "slack_token", is_url64, 10),
    shape("xoxb-", "slack_token", is_url64, 10),
    shape("xoxc-", "slack_token", is_url64, 10),
    shape("xoxd-", "slack_token", is_url_encoded, 10),
    shape("xoxe", "slack_token", is_dotted, 20),
    mixed("xoxo-", "slack_token", is_url64, 10),
    shape("xoxp-", "slack_token", is_url64, 10),
    shape("xoxr-", "slack_token", is_url64, 10),
    shape("xoxs-", "slack_token", is_url64, 10),
    mixed("xsmtpsib-", "brevo_key", is_url64, 60),
    shape("ya29.", "google_token", is_dotted, 20),
];

/// The rows of [`SHAPES`] by their beginnings.
static ROWS: Rows = {
    let mut rows = Rows::NONE;
    let mut at = 0;
    while at < SHAPES.len() {
        rows = rows.with(SHAPES[at].prefix, at);
        at += 1;
    }
    rows
};

/// The secret whose form begins at `at`.
pub(super) fn shaped(bytes: &[u8], at: usize) -> Option<Secret> {
    SHAPES[ROWS.of(bytes, at)].iter().find_map(|shape| {
        let rest = bytes[at..].strip_prefix(shape.prefix.as_bytes())?;
        let mut len = run(rest, shape.rest);
        // The full stop behind a token is the sentence's.
        len -= rest[..len].iter().rev().take_while(|&&b| b == b'.').count();
        let begun = at + shape.prefix.len();
        let end = begun + len;
        let start = if shape.is_address { begun } else { at };
        (len >= shape.min && (shape.also)(&bytes[at..end])).then_some(Secret { range: start..end, kind: shape.kind })
    })
}

fn is_token(b: u8) -> bool {
    is_url64(b) || b == b'='
}

fn is_path(b: u8) -> bool {
    is_dotted(b) || matches!(b, b'/' | b'@' | b'%')
}

fn is_bot_token(b: u8) -> bool {
    is_url64(b) || b == b':'
}

fn is_url_encoded(b: u8) -> bool {
    is_url64(b) || b == b'%'
}

/// Behind its beginning, letters and digits.
fn is_mixed(all: &[u8]) -> bool {
    let rest = &all[run(all, is_alnum).min(all.len() - 1)..];
    // A beginning without a sign behind it is part of the key.
    let rest = if rest.len() < 12 { all } else { rest };
    rest.iter().any(u8::is_ascii_digit) && rest.iter().any(u8::is_ascii_alphabetic)
}

/// No `sk-proj-card-2-wide`: capitals, small letters and digits.
fn is_cased(all: &[u8]) -> bool {
    is_mixed(all) && has_both_cases(all)
}

fn has_both_cases(part: &[u8]) -> bool {
    part.iter().any(u8::is_ascii_uppercase) && part.iter().any(u8::is_ascii_lowercase)
}

fn is_small_hex(part: &[u8]) -> bool {
    part.iter().all(|&b| is_hex(b) && !b.is_ascii_uppercase())
}

/// `bot`, a number, a colon and 35 characters.
fn is_bot(all: &[u8]) -> bool {
    let number = run(&all[3..], |b| b.is_ascii_digit());
    number >= 6 && all.get(3 + number) == Some(&b':') && all.len() - number - 4 >= 30
}

/// `webhooks/`, a number and a long token.
fn is_hook_of_discord(all: &[u8]) -> bool {
    let rest = &all["webhooks/".len()..];
    let number = run(rest, |b| b.is_ascii_digit());
    number >= 15 && rest.get(number) == Some(&b'/') && run(&rest[number + 1..], is_url64) >= 30
}

/// Two parts at least, and the first long enough to be a header.
fn is_jwt(all: &[u8]) -> bool {
    let mut parts = all.split(|&b| b == b'.');
    parts.next().is_some_and(|header| header.len() >= 15) && parts.next().is_some_and(|claims| claims.len() >= 5)
}

/// No `sk-list-item-of-words`: some part of it is one long run with digits and letters.
fn has_solid_run(all: &[u8]) -> bool {
    all.split(|&b| b == b'-')
        .any(|part| part.len() >= 16 && part.iter().any(u8::is_ascii_digit) && part.iter().any(u8::is_ascii_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_stand_together_by_their_first_byte() {
        let firsts: Vec<u8> = SHAPES.iter().map(|shape| shape.prefix.as_bytes()[0]).collect();
        assert!(firsts.is_sorted());
    }
}
