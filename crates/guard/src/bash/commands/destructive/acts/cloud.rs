//! What deletes at a provider.

use super::Act;

/// Providers, by the name of their tool.
pub(super) const CLOUD: &[Act] = &[
    ("aws s3 rm|rb !--dryrun", "deletes objects or a bucket"),
    ("aws s3 sync|mv --delete|--recursive-delete !--dryrun", "deletes objects that the source does not have"),
    (
        "aws * delete-*|terminate-*|remove-*|purge-*|deregister-*|destroy-*|batch-delete-*|schedule-key-deletion|\
            reset-*|disassociate-*|release-*|cancel-*|revoke-*|empty-*|close-*|*-delete-* !--dry-run|\
            --generate-cli-skeleton",
        "deletes at the provider",
    ),
    (
        "gcloud +delete|purge|destroy|remove|abandon-instances|delete-instances|delete-access-config",
        "deletes at the provider",
    ),
    ("gcloud storage rm", "deletes objects"),
    (
        "gcloud storage rsync --delete-unmatched-destination-objects !--dry-run|-n",
        "deletes objects that the source does not have",
    ),
    ("gcloud alpha|beta storage rm", "deletes objects"),
    ("gsutil rm|rb", "deletes objects or a bucket"),
    ("gsutil rsync -d !-n", "deletes objects that the source does not have"),
    (
        "az +delete|purge|delete-batch|delete-*|remove|destroy",
        "deletes at \
        the provider",
    ),
    ("az deployment --mode=Complete|--mode=complete", "deletes what the template does not name"),
    ("azcopy rm|remove", "deletes blobs"),
    (
        "azcopy sync --delete-destination=true|--delete-destination=prompt",
        "deletes blobs that the source does not have",
    ),
    ("oci +delete|terminate|bulk-delete|delete-*|schedule-deletion", "deletes at the provider"),
    (
        "ibmcloud +delete|rm|*-delete|*-rm|instance-delete",
        "deletes at the \
        provider",
    ),
    (
        "aliyun|tccli|hcloud|linode-cli|vultr-cli|vultr|scw|exo|civo|upctl|ovhcloud|openstack|nova|cinder|glance|\
            neutron|swift|doctl|wrangler|railway|render|koyeb|cloudctl|brev|lambda|runpodctl|modal|b2|upsun|platform|\
            eas|expo|flarectl +delete|rm|remove|destroy|terminate|kill|purge|delete-*|*-delete|Delete*|*:delete|\
            deleteBucket|rebuild|delete_* !--dry-run",
        "deletes at the provider",
    ),
    ("doctl +d", "deletes at the provider"),
    ("railway down", "takes what was deployed down"),
    ("aws iam detach-*", "takes rights away"),
    (
        "aws * set-desired-capacity|update-auto-scaling-group|update-service --desired-capacity=0|--desired-count=0",
        "stops every machine",
    ),
    ("certbot delete|revoke|unregister", "deletes or withdraws a certificate"),
    (
        "rclone purge|delete|deletefile|rmdir|rmdirs|sync|move|moveto|cleanup|dedupe|bisync !-n|--dry-run|-i|\
            --interactive",
        "deletes on one side or the other",
    ),
    ("gh|glab repo|project delete|archive|transfer", "deletes a repository"),
    (
        "gh|glab release|secret|variable|run|cache|gist|label|issue|ssh-key|gpg-key|codespace|cs|project|ruleset|\
            environment|extension|org|mr|ci|pipeline|token|deploy-key|schedule|milestone|snippet delete|remove|rm|\
            delete-asset|delete-*|field-delete|item-delete",
        "deletes at the provider",
    ),
    ("gh repo deploy-key|autolink delete", "deletes at the provider"),
    (
        "gh|glab api -X=DELETE|-X=delete|--method=DELETE|--method=delete",
        "deletes through the interface of the provider",
    ),
    ("hub delete|api -y|--yes|-X=DELETE", "deletes a repository"),
    (
        "heroku *:destroy|*:reset|*:remove|*:delete|destroy|*:killall|*:clear|*:rollback|*:revoke",
        "destroys an application, an add-on or its data",
    ),
    ("heroku ps:scale +*=0", "stops an application"),
    ("fly|flyctl +destroy|delete|remove|rm|unset|wipe", "destroys an application or its data"),
    ("vercel|now|vc remove|rm", "deletes deployments"),
    (
        "vercel|now|vc env|project|projects|domains|dns|alias|certs|secrets|secret|integration|blob rm|remove|del",
        "deletes at the provider",
    ),
    ("netlify|ntl *:delete|*:unset|*:clear", "deletes at the provider"),
    ("firebase *:delete|*:remove|*:disable|*:destroy|*:revoke", "deletes at the provider"),
    ("s3cmd del|rm|rb|expire|dellifecycle|delpolicy !-n|--dry-run", "deletes objects or a bucket"),
    ("s3cmd sync --delete-removed|--delete !-n|--dry-run", "deletes objects that the source does not have"),
    ("s5cmd rm|rb", "deletes objects"),
    ("s4cmd|s3 del|rm|rb|delete", "deletes objects"),
    ("mc|mcli rm|rb !--dry-run", "deletes objects or a bucket"),
    ("mc|mcli mirror --remove !--dry-run", "deletes objects that the source does not have"),
    ("mc|mcli admin +remove|rm|unset", "deletes at the provider"),
    ("b2 rm|delete-*|delete_*", "deletes objects"),
    ("surge teardown", "takes a site down"),
    (
        "wrangler r2|d1|kv|kv:namespace|kv:key|kv:bulk|queues|pages|secret|tail|worker delete|purge",
        "deletes at the provider",
    ),
    ("supabase projects|functions|branches|secrets|storage delete|rm|unset", "deletes at the provider"),
    ("dropbox|dbxcli|gdrive|drive|mega-rm|mega rm|delete|remove|trash|emptytrash", "deletes files at the provider"),
    (
        "stripe|twilio|sentry-cli|circleci|travis|buildkite|tfe|auth0|okta|algolia|contentful +delete|remove|destroy|\
            delete_all",
        "deletes at the provider",
    ),
    ("http|https|xh|xhs DELETE|delete", "asks a server to delete"),
    (
        "heroku *:unset|*:detach|*:stop|*:kill|*:uninstall|*:disable",
        "takes settings or processes of an application away",
    ),
    (
        "gh|glab api graphql -f=query=*mutation*delete*|-F=query=*mutation*delete*|--field=query=*mutation*delete*|\
            --raw-field=query=*mutation*delete*|-f=query=*mutation*remove*|-F=query=*mutation*remove*|\
            -f=query=*mutation*archive*|-F=query=*mutation*archive*",
        "deletes through the interface of the provider",
    ),
    ("gh|glab api -f=archived=true|-F=archived=true|-f=state=deleted", "archives a repository"),
    ("gh repo deploy-key|autolink|ruleset|secret|variable delete|remove|rm", "deletes at the provider"),
    ("gh|glab attestation|preview|cluster|iteration|user|securefile|stack delete|remove|rm", "deletes at the provider"),
    ("tea|hut|bb|fj|berg|gcli +delete|rm|remove|d", "deletes at the provider"),
    (
        "aws * leave-*|deactivate-*|unregister-*|retire-*|abort-*|forget-* !--dry-run|--generate-cli-skeleton",
        "takes something away at the provider",
    ),
    ("aws * change-resource-record-sets --change-batch=*DELETE*", "deletes records of a domain"),
    ("aws * batch-write-item --request-items=*DeleteRequest*", "deletes rows"),
    (
        "gcloud +delete-by-id|remove-iam-policy-binding|undeploy|batch-delete|disable",
        "takes something away at the provider",
    ),
    ("az +purge-*|remove-*|wipe|revoke-*|*-delete|disassociate|delete-by-ids", "takes something away at the provider"),
    ("oci +delete-*|terminate-*|*-delete|detach-*|purge|remove-*|wipe", "takes something away at the provider"),
    (
        "jf|jfrog rt del|delete|build-discard|repo-delete|replication-delete|group-delete|users-delete|\
            permission-target-delete|delete-props|delp",
        "deletes artifacts",
    ),
    (
        "twilio|sfdx|sf|apify|expo|eas|shopify|bit|netlify|ntl *:remove|*:delete|*:destroy|*:purge",
        "deletes at the provider",
    ),
    (
        "balena +rm|remove|delete|purge|leave|deactivate",
        "deletes at the \
        provider",
    ),
    (
        "fastly|ns1|dnscontrol|cloudflared|tailscale|zerotier-cli|ngrok|netbird|deployctl|newrelic|dog|datadog-ci|\
            pagerduty|pd|opsgenie|launchdarkly|ldcli|posthog|shopify|contentful|sanity|storyblok|algolia|meilisearch|\
            typesense|snyk|sonar|qovery|clever|scalingo|northflank|zeabur|cycle|stackit|ionosctl|gridscale|\
            yc|cloudscale|metal|packet|paperspace|gradient|vastai|sky|lightning|replicate|fal|beam +delete|remove|rm|\
            destroy|terminate|purge|*:delete|delete-*|*-delete|wipe",
        "deletes at the provider",
    ),
    ("cloudflared tunnel|access cleanup|delete", "deletes at the provider"),
    ("mega-rm", "deletes files at the provider"),
    ("rclone config delete", "deletes on one side or the other"),
    ("mc|mcli undo", "deletes objects or a bucket"),
    ("mc|mcli ilm|replicate|tag rm|remove", "deletes objects or a bucket"),
    ("s3cmd abortmp", "deletes objects or a bucket"),
    ("qshell delete|batchdelete", "deletes objects or a bucket"),
    ("s5cmd sync --delete", "deletes objects that the source does not have"),
    ("obsutil|ossutil|ossutil64|coscli|coscmd rm|rb|delete", "deletes objects or a bucket"),
    ("juicefs destroy|rmr", "destroys a file system"),
    ("swift delete", "deletes objects"),
    ("gdrive files|drives|permissions delete|trash|remove", "deletes files at the provider"),
    ("sf|sfdx +delete|destroy", "deletes at the provider"),
];
