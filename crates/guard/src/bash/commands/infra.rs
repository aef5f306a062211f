//! Containers, clusters, infrastructure and providers: whatever they are asked, a daemon or a provider answers.
//!
//! A socket of a container daemon is the whole machine, and a list of pods is a request to a cluster. Only what
//! the client says about itself, or about files here, is harmless.

use super::super::judge::{Arg, Judge, Word};
use super::effects::{Opts, asks, changes, dash, only, prints, reaches, run, runs, with, with_dash};
use super::places;
use super::spec::{self, Does, Operands, PLAIN, Parsed, Spec, Style};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    raw("docker podman nerdctl docker-compose podman-compose buildah skopeo", daemon),
    changes(
        "crictl ctr lxc lxc-ls lxc-start lxc-stop incus machinectl multipass virsh VBoxManage vboxmanage \
        qemu-img limactl colima vagrant minikube \
        kind k3d k3s kubeadm systemd-nspawn runc crun dive ctop lazydocker dockerd containerd buildctl img kaniko \
        act",
    ),
    with("kubectl oc k kubecolor", KUBECTL_OPTS, KUBECTL),
    with("helm helm3", &[(Does::Value, "n namespace kube-context")], HELM),
    with("kustomize", &[], &[prints("version", &[(Does::Flag, "short")]), renders("build cfg fn create edit")]),
    Spec {
        check: Some(elsewhere),
        ..with_dash("terraform tofu", &[(Does::Info, "version v help h"), (Does::Value, "chdir")], TERRAFORM)
    },
    with("pulumi", &[], &[prints("version", &[]), reaches(PULUMI)]),
    with(
        "ansible ansible-playbook ansible-galaxy ansible-vault ansible-inventory ansible-pull \
        ansible-console",
        &[(Does::Info, "version")],
        &[asks("_")],
    )
    .anything(remote),
    // The settings of the project name plugins that it loads.
    runs("ansible-doc"),
    with("ansible-lint", &[(Does::Info, "version L T list-rules list-tags")], &[runs("_")]).anything(lint),
    raw(
        "aws gcloud az oci ibmcloud aliyun gcloud-crc doctl linode-cli hcloud vultr-cli scw exo civo openstack nova \
        heroku fly flyctl vercel now vc netlify ntl \
        firebase railway render wrangler surge eb ecs-cli sam copilot cdk cdktf serverless sls sst amplify eksctl \
        kops terragrunt nomad consul argocd flux istioctl linkerd velero \
        helmfile skaffold tilt okteto knife puppet chef-client salt salt-call bosh cf juju packer waypoint boundary \
        crane regctl oras cosign syft grype trivy snyk \
        sentry-cli stripe twilio circleci travis datadog-ci newrelic pscale-cli gcrane govc talosctl clusterctl \
        spacectl infracost",
        provider,
    ),
];

const fn raw(names: &'static str, check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(check), ..PLAIN }
}

impl Spec {
    /// The row with every word seen by `check` alone.
    const fn anything(self, check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
        Spec { style: Style::Raw, operands: Operands::Custom, check: Some(check), ..self }
    }
}

fn daemon(parsed: &Parsed, judge: &mut Judge<'_>) {
    if only(
        parsed,
        "--version -v --help \
        help",
    ) || (parsed.path.first().is_some_and(|name| name.ends_with("-compose")) && only(parsed, "version"))
    {
        return;
    }
    let words: Vec<&str> = parsed.operands.iter().map(|arg| arg.exact().unwrap_or_default()).collect();
    match words.as_slice() {
        ["compose" | "buildx", "version"] | ["context", "show"] => return,
        _ => {}
    }
    judge.system(format!("`{}` talks to the daemon of the containers", parsed.path.join(" ")));
    let first = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    if matches!(
        first,
        "pull"
            | "push"
            | "login"
            | "search"
            | "build"
            | "buildx"
            | "compose"
            | "run"
            | "create"
            | "manifest"
            | "copy"
            | "inspect-remote"
    ) {
        judge.net(None);
    }
    if matches!(
        first,
        "run"
            | "exec"
            | "build"
            | "buildx"
            | "create"
            | "start"
            | "compose"
            | "cp"
            | "commit"
            | "plugin"
            | "context"
            | "export"
            | "save"
            | "up"
    ) {
        judge.opaque("what runs in a container is not seen from here");
    }
}

const KUBECTL_OPTS: Opts = &[
    (Does::Value, "n namespace context cluster kubeconfig-none user request-timeout v"),
    (Does::Flag, "warnings-as-errors"),
];

const KUBECTL: &[Spec] = &[
    // Names of what is configured, and of nothing that is secret in it.
    with(
        "config",
        &[],
        &[
            prints("current-context", &[]),
            prints("get-contexts get-clusters get-users", &[(Does::Flag, "no-headers"), (Does::Value, "o output")]),
            asks(
                "view use-context use set set-context set-cluster set-credentials unset rename-context delete-context \
                 delete-cluster delete-user",
            ),
        ],
    ),
    Spec {
        names: "version",
        opts: &[(Does::Maybe, "client"), (Does::Flag, "short"), (Does::Value, "o output")],
        operands: Operands::None,
        check: Some(kubectl_version),
        ..PLAIN
    },
    prints("options", &[]),
    prints("completion", &[]),
    renders("kustomize"),
    reaches(
        "get describe logs top explain api-resources api-versions cluster-info auth diff wait events rollout \
        apply create delete edit patch replace scale \
        autoscale expose run exec attach port-forward proxy cp drain cordon uncordon taint label annotate set \
        certificate debug rollback adm new-app new-project \
        project projects login logout whoami status policy image convert",
    ),
    asks("plugin alpha"),
];

fn kubectl_version(parsed: &Parsed, judge: &mut Judge<'_>) {
    let says = parsed.value("client").is_none_or(|value| value.exact() == Some("true"));
    if !parsed.has("client") || !says {
        judge.net(None);
    }
}

/// Renders what it is given, with generators and plugins of the workspace; what is given may be an address.
const fn renders(names: &'static str) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(render), ..PLAIN }
}

fn render(parsed: &Parsed, judge: &mut Judge<'_>) {
    places::addresses(&parsed.operands, true, judge);
    for text in parsed.operands.iter().filter_map(Arg::exact) {
        let remote = ["git@", "git::", "github.com/", "gitlab.com/", "bitbucket.org/"];
        if remote.iter().any(|start| text.starts_with(start)) || text.contains("?ref=") {
            judge.net(None);
        }
        if matches!(text, "--enable-exec" | "--post-renderer" | "--enable-alpha-plugins" | "--enable-helm") {
            judge.opaque(format!("`{text}` runs other programs"));
        }
    }
    run(parsed, judge);
}

/// A chart that is named by its place.
const fn shows_chart(names: &'static str) -> Spec {
    Spec {
        names,
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let here =
                |text: &str| text.starts_with("./") || text.starts_with("../") || text == "." || text.starts_with('/');
            for chart in &parsed.operands {
                judge.read_tree(chart);
                if !chart.exact().is_some_and(here) {
                    judge.net(None);
                }
            }
        }),
        ..PLAIN
    }
}

/// Options of `helm template` behind which a value stands.
const VALUES_OF_TEMPLATE: &str = "-n --namespace --kube-context --kubeconfig -f --values --set --set-string --set-file --set-json \
    --set-literal --version -a --api-versions --kube-version --name-template --output-dir --post-renderer \
    --post-renderer-args -s --show-only --repo --username --password --ca-file --cert-file --key-file --keyring --timeout \
    --description -l --labels --kube-apiserver --kube-as-user --kube-as-group --kube-ca-file --kube-tls-server-name \
    --kube-token --burst-limit --qps --registry-config --repository-cache --repository-config";

/// Directories in which a project keeps charts of its own: `a/b` is otherwise the chart `b` of the repository `a`.
const CHARTS: &str = "charts chart helm helm-charts helm-chart deploy deployment deployments k8s kubernetes infra manifests ops \
    examples test tests packages apps services src";

/// `helm template [NAME] CHART`: a chart that does not lie here is fetched from a repository.
fn charts(parsed: &Parsed, judge: &mut Judge<'_>) {
    updates(parsed, judge);
    let (mut chart, mut value) = (None, false);
    for word in &parsed.operands {
        let text = word.exact().unwrap_or_default();
        match std::mem::take(&mut value) {
            true => {}
            false if text.starts_with('-') => value = spec::lists(VALUES_OF_TEMPLATE, text),
            false => chart = Some(word),
        }
        let option = text.split('=').next().unwrap_or_default();
        // Another repository, or the cluster that answers for itself.
        if spec::lists("--repo --validate", option) || text == "--dry-run=server" {
            judge.net(None);
        }
    }
    let here = |text: &str| {
        let first = text.split('/').next().unwrap_or_default();
        // Without a slash it is a directory or nothing, and no repository has one with a slash in its name.
        text.matches('/').count() != 1
            || matches!(first, "" | "." | "..")
            || spec::lists(CHARTS, first)
            || text.ends_with('/')
    };
    if chart.and_then(super::filters::text).is_some_and(|text| !here(text)) {
        judge.net(None);
    }
}

/// What a chart depends on is fetched first.
fn updates(parsed: &Parsed, judge: &mut Judge<'_>) {
    let asked = |text: &str| {
        let short = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        text.starts_with("--dependency-update") && !text.ends_with("=false")
            || parsed.path.last().is_some_and(|sub| sub == "package")
                && short.is_some_and(|letters| letters.starts_with('u'))
    };
    if parsed.operands.iter().filter_map(Arg::exact).any(asked) {
        judge.net(None);
    }
}

const HELM: &[Spec] = &[
    prints("version", &[(Does::Flag, "short c client"), (Does::Value, "template")]),
    prints("completion", &[]),
    Spec {
        names: "lint",
        opts: &[
            (Does::Flag, "strict quiet with-subcharts"),
            (
                Does::Value,
                "set \
        kube-version",
            ),
            (Does::Read, "f values"),
        ],
        operands: Operands::ReadTree,
        ..PLAIN
    },
    raw("template", |parsed, judge| {
        charts(parsed, judge);
        render(parsed, judge);
    }),
    raw("package", |parsed, judge| {
        updates(parsed, judge);
        render(parsed, judge);
    }),
    renders("create unittest"),
    prints("env", &[]),
    // What lies in a chart here; a name that is no place here would be asked of a repository.
    with("show inspect", &[], &[shows_chart("all chart crds readme values")]),
    with("dependency dep", &[], &[shows_chart("list ls"), reaches("update up build")]),
    with("plugin", &[], &[prints("list ls", &[]), asks("install add uninstall remove update up")]),
    reaches(
        "list ls install upgrade uninstall delete del un rollback status history get search repo \
        pull fetch push registry test verify",
    ),
];

const TERRAFORM: &[Spec] = &[
    dash(prints("version", &[(Does::Flag, "json")])),
    Spec {
        names: "fmt",
        style: Style::OneDash,
        opts: &[(Does::Flag, "check recursive diff list write no-color")],
        operands: Operands::Custom,
        check: Some(terraform_fmt),
        ..PLAIN
    },
    runs("validate test graph"),
    Spec { names: "providers", operands: Operands::None, check: Some(terraform_here), style: Style::OneDash, ..PLAIN },
    // Which one is chosen stands in a file; all others are asked of where the state is kept.
    with_dash("workspace", &[], &[prints("show", &[]), reaches("list select new delete")]),
    with_dash("metadata", &[], &[dash(prints("functions", &[(Does::Flag, "json")]))]),
    reaches(
        "init plan apply destroy refresh import show output state taint untaint get login logout \
        force-unlock console modules",
    ),
];

/// `-check`, or `-write=false`, only looks.
fn terraform_fmt(parsed: &Parsed, judge: &mut Judge<'_>) {
    let looks = parsed.switch("check") == Some(true) || parsed.switch("write") == Some(false);
    let here = [judge.word(".")];
    let trees = if parsed.operands.is_empty() { &here } else { parsed.operands.as_slice() };
    for tree in trees.iter().filter(|arg| arg.exact() != Some("-")).map(|tree| below(parsed, tree)) {
        if looks { judge.read_tree(&tree) } else { judge.write_tree(&tree) }
    }
}

/// `-chdir=DIR`: it works there, and what it runs writes there.
fn elsewhere(parsed: &Parsed, judge: &mut Judge<'_>) {
    let Some(dir) = parsed.value("chdir") else { return };
    if dir.exact().is_none() {
        judge.opaque("the directory of `-chdir` is not known");
    }
    judge.read_tree(dir);
    if parsed.path.get(1).is_some_and(|sub| spec::lists("validate test graph", sub)) {
        judge.write_tree(dir);
    }
}

/// A path as it is meant from the directory of `-chdir`, seen from here.
fn below(parsed: &Parsed, path: &Arg) -> Arg {
    let seen = |dir: &str, path: &str| if path.starts_with('/') { path.to_owned() } else { format!("{dir}/{path}") };
    match (parsed.value("chdir").and_then(Arg::exact), &path.word) {
        (Some(dir), Word::Exact(text)) => path.with(&seen(dir, text)),
        (Some(dir), Word::Glob { pattern, prefix }) => {
            path.as_word(Word::Glob { pattern: seen(dir, pattern), prefix: seen(dir, prefix) })
        }
        _ => path.clone(),
    }
}

fn terraform_here(_: &Parsed, judge: &mut Judge<'_>) {
    judge.read_cwd();
    judge.code("starts the providers of the project");
}

const PULUMI: &str = "up update preview destroy refresh stack config login logout new state import cancel logs \
    plugin org whoami env about watch policy package convert";

/// Runs whatever it is told on other machines.
fn remote(parsed: &Parsed, judge: &mut Judge<'_>) {
    if only(parsed, "--version --help") {
        return;
    }
    judge.net(None);
    judge.opaque("what runs on the other machines is not seen from here");
}

fn lint(parsed: &Parsed, judge: &mut Judge<'_>) {
    super::effects::run(parsed, judge);
}

/// A request to a provider, with credentials of the person.
fn provider(parsed: &Parsed, judge: &mut Judge<'_>) {
    // These ask the cluster for its version as well, or where newer ones are kept.
    const ASK: &str = "istioctl argocd velero linkerd flux talosctl clusterctl doctl waypoint civo scw stripe helmfile";
    const SHORT: &[(&str, &str)] = &[
        (
            "gcloud az oci ibmcloud heroku vercel now vc netlify ntl wrangler copilot serverless sls terragrunt nomad \
             consul knife chef-client bosh cf trivy snyk twilio cdktf waypoint helmfile",
            "-v",
        ),
        ("firebase railway surge puppet salt sentry-cli packer", "-V"),
    ];
    let name = parsed.path.first().map_or("", String::as_str);
    let asks = spec::lists(ASK, name);
    let short = SHORT.iter().find(|(names, _)| spec::lists(names, name)).map_or("", |(_, short)| *short);
    if only(parsed, "version -v -V help --help --version") && parsed.path.first().is_some_and(|name| name == "packer") {
        return judge.code("loads the plugins that lie beside it first");
    }
    if only(parsed, "--version --help help") || only(parsed, short) || !asks && only(parsed, "version") {
        return;
    }
    judge.net(None);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_harmless, none_harmless};

    #[test]
    fn clients_about_themselves() {
        all_harmless(&[
            "docker --version",
            "docker -v",
            "docker --help",
            "docker compose version",
            "docker-compose \
                --version",
            "podman --version",
            "kubectl version --client",
            "kubectl version --client -o json",
            "kubectl --help",
            "helm version",
            "helm version \
                --short",
            "terraform version",
            "terraform -version",
            "terraform --version",
            "terraform fmt -check",
            "terraform fmt -check -recursive -diff",
            "terraform fmt -check=true \
                infra",
            "tofu version",
            "aws --version",
            "gcloud --version",
            "gcloud version",
            "az --version",
            "helm lint chart",
            "pulumi version",
            "kustomize version",
            "vagrant --version",
            "ansible \
                --version",
            "minikube --help",
        ]);
    }

    #[test]
    fn daemons_and_providers() {
        none_harmless(&[
            "docker ps",
            "docker images",
            "docker version",
            "docker info",
            "docker inspect x",
            "docker run \
                x",
            "docker -H tcp://x --version x",
            "docker logs x",
            "podman ps",
            "kubectl get pods",
            "kubectl version",
            "kubectl config view",
            "kubectl --kubeconfig x version --client",
            "helm \
                list",
            "terraform plan",
            "terraform fmt",
            "terraform fmt -check=false",
            "terraform \
                output",
            "terraform validate",
            "aws s3 ls",
            "aws configure list",
            "gcloud config list",
            "az account show",
            "ansible all -m ping",
            "vagrant \
                status",
            "kind get clusters",
            "istioctl version",
            "docker compose config",
            "docker context ls",
            "terraform console",
            "terraform fmt -check /etc",
            "helm template x",
            "docker exec app rm -rf \
                /data",
            "kubectl plugin list",
        ]);
    }
}
