//! Which options take the next word as their value. Without this a value would be taken for a subcommand, or for the
//! command that a wrapper runs.

use super::super::index::by_first;

/// Options that take the next word as their value, by program, or by program and first operand for the
/// words behind that operand. Without this a value would be taken for a subcommand.
const VALUED: &[(&str, &str)] = &[
    ("git", "-C -c --git-dir --work-tree --namespace --config-env --super-prefix"),
    ("git commit", "-m -F -C -c -t --author --date --message --file --fixup --squash --template"),
    ("git push", "-o --push-option --repo --receive-pack"),
    ("git checkout", "-b -B --orphan --conflict"),
    ("git switch", "-c -C --orphan"),
    ("git restore", "-s --source --conflict"),
    ("git clean", "-e --exclude"),
    ("git tag", "-m -F -u --message --file --sort"),
    ("git merge", "-m -s -X -F"),
    ("git branch", "-u --set-upstream-to --sort --format --contains"),
    ("git worktree", "-b -B --reason"),
    ("git gc", ""),
    ("mix do", "--app"),
    (
        "kubectl",
        "-n --namespace --context --cluster --kubeconfig --user -s --server --token -l --selector -f \
        --filename -o \
        --output --as --request-timeout --grace-period --timeout --replicas --field-selector -c --container --type \
        -p",
    ),
    ("oc", "-n --namespace --context --kubeconfig -l --selector -f --filename -o"),
    ("helm", "-n --namespace --kube-context --kubeconfig -f --values --set --version"),
    ("docker", "-H --host -c --context --config -l --log-level"),
    ("docker image", "--filter"),
    ("docker rm", "--filter"),
    ("podman", "-H --host --url -c --connection --log-level"),
    ("docker-compose", "-f --file -p --project-name --profile --env-file --project-directory"),
    ("az deployment", "--mode -g --resource-group -n --name"),
    (
        "aws",
        "--desired-capacity --desired-count --profile --region --output --endpoint-url --query --color --ca-bundle \
            --cli-read-timeout",
    ),
    ("gsutil", "-o -h -i -u"),
    ("az", "-g --resource-group -n --name --subscription -o --output --query"),
    ("gh", "-R --repo"),
    ("gh api", "-X --method -H --header -f --raw-field -F --field -q --jq -t --template --input"),
    ("glab api", "-X --method -H --header -f -F"),
    ("heroku", "-a --app -r --remote"),
    ("fly", "-a --app -c --config"),
    ("flyctl", "-a --app -c --config"),
    ("doctl", "-t --access-token --context -o --output -c --config"),
    ("firebase", "-P --project --token"),
    ("terraform", "-chdir -var -var-file -state -target -replace -lock-timeout"),
    ("tofu", "-chdir -var -var-file -state -target -replace"),
    ("pulumi", "-s --stack -C --cwd -m --message"),
    ("cdk", "-a --app -c --context --profile"),
    ("nomad", "-address -region -namespace"),
    ("vault", "-address -namespace"),
    (
        "psql",
        "-c --command -f --file -d --dbname -h --host -p --port -U --username -v --set -o --output -F -P -R -T \
        -L",
    ),
    ("mysql", "-e --execute -h --host -P --port -u --user -D --database -S --socket --defaults-file"),
    ("mysqladmin", "-h --host -P --port -u --user -S --socket"),
    ("redis-cli", "-h -p -a -n -u -s -r -i --user --pass --sni --cacert -t -x-"),
    ("etcdctl", "--endpoints --cacert --cert --key --user"),
    ("mongosh", "--eval --host --port -u -p --username --password --authenticationDatabase -f --file"),
    ("mongo", "--eval --host --port -u -p --username --password --authenticationDatabase"),
    ("sqlite3", "-cmd -separator -init -nullvalue -newline"),
    ("cqlsh", "-e -f -k -u -p --execute --file --keyspace --username --password"),
    ("clickhouse-client", "-q --query -h --host --port -u --user --password -d --database"),
    ("clickhouse", "-q --query -h --host --port -u --user --password -d --database"),
    ("duckdb", "-c -s -cmd -init -f -separator"),
    ("sqlcmd", "-Q -q -S -U -P -d -i -o"),
    ("influx", "-execute -database -host -port --bucket --start --stop --org --token -o -t -p --predicate"),
    ("bq", "--project_id --dataset_id --location"),
    ("alembic", "-c --config -n --name -x"),
    ("prisma", "--schema"),
    ("knex", "--env --knexfile --cwd"),
    ("manage.py", "--settings --database --pythonpath"),
    ("systemctl", "-H --host -M --machine -t --type -s --signal -n -o --kill-who"),
    ("apt-get", "-o -c -t --option"),
    ("apt", "-o -c -t --option"),
    ("pip", "--cache-dir --log --proxy --timeout"),
    ("truncate", "-s --size -r --reference"),
    (
        "rsync",
        "-e --rsh --exclude --include --filter -f --rsync-path --exclude-from --include-from --bwlimit \
        --log-file --backup-dir \
        -B -M -T --max-size --min-size --compare-dest --copy-dest --link-dest --port --password-file --files-from",
    ),
    (
        "tar",
        "-f --file -C --directory -T --files-from -X --exclude-from --exclude -I --use-compress-program -b -g \
        -H -V -L -K -N",
    ),
    ("zip", "-x -i -n -t -b -O -P"),
    ("find", ""),
    (
        "curl",
        "-X --request -H --header -d --data -o --output -u --user -F --form -A -e -b -c -T -K -m -w -x \
        --data-raw --data-binary \
        --url --retry --cacert --cert --key --max-time --connect-timeout",
    ),
    ("iptables", "-t --table -p --protocol -s --source --dport --sport -j --jump -i -o -m"),
    ("ip6tables", "-t --table -p -s -j"),
    ("umount", "-t -O --types"),
    ("pkill", "-s -t -g -G -P --signal --session --terminal --parent --pgroup -F --pidfile"),
    ("killall", "-s --signal -o -y --older-than --younger-than -n --ns"),
    ("shred", "-n -s --iterations --size --random-source"),
    ("mkfs", "-t --type"),
    ("parted", "-a --align"),
    ("lvresize", "-L --size -l --extents"),
    ("mount", "-o --options -t --types -L -U"),
    ("lftp", "-e -c -u -p -f"),
    ("chage", "-E --expiredate -I -m -M -W -d"),
    ("adb", "-s -t -H -P -L"),
    ("fastboot", "-s -S"),
    ("nginx", "-s -c -g -p -e"),
    ("apachectl", "-k -f -D"),
    ("apache2ctl", "-k -f -D"),
    ("httpd", "-k -f -D -d -c -C"),
    ("svn", "-r --revision -m --message --depth --changelist"),
    ("hg", "-R --repository --cwd --config -r --rev -m"),
    ("jj", "-R --repository"),
    ("p4", "-c -u -p -P -d -H"),
    ("hdparm", "--user-master --security-erase --security-set-pass"),
    (
        "rclone",
        "--config --include --exclude --filter --transfers --max-age --min-age --log-file --log-level \
        --bwlimit --checkers",
    ),
    ("ssh", "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"),
    ("npm", "--registry --prefix -w --workspace --otp --tag"),
    ("cargo", "--manifest-path --config -Z --color -C"),
    ("cargo yank", "--version --vers --index --registry --token --manifest-path"),
    ("gem", "-v --version --host -k --key"),
    ("make", "-f -C -I -j -o -W"),
    ("chmod", "--reference"),
    ("chown", "--reference --from"),
    ("mv", "-t --target-directory -S --suffix"),
    ("cp", "-t --target-directory -S --suffix"),
    ("install", "-m --mode -o --owner -g --group -t --target-directory -S --suffix"),
    ("crontab", "-u"),
    ("journalctl", "-u --unit -n --lines -b --boot -o --output -S --since -U --until -t -p -D --file"),
    ("userdel", "-R -P --root --prefix"),
    ("stdbuf", "-i -o -e --input --output --error"),
    ("taskset", ""),
    ("nix-shell", "--run --command -I -A --attr"),
    ("uv run", "--with --python -p --extra --group --project --directory --env-file"),
    ("python", "-m -W -X"),
    ("bash", "-c -o -O --rcfile --init-file"),
    ("sh", "-c -o"),
    (
        "sudo",
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from --role --type \
            --command-timeout --other-user --chdir --chroot",
    ),
    ("doas", "-u -C -a"),
    ("su", "-c --command -s --shell -g --group -G --supp-group -w --whitelist-environment --session-command"),
    (
        "runuser",
        "-u --user -c --command -s --shell -g --group -G --supp-group -w --whitelist-environment --session-command",
    ),
    (
        "run0",
        "-u --user -g --group -D --chdir --unit --property --slice --nice --setenv --description --machine \
            --background",
    ),
    ("pkexec", "--user"),
    ("gosu", ""),
    (
        "setpriv",
        "--reuid --regid --euid --egid --ruid --rgid --groups --inh-caps --ambient-caps --bounding-set --securebits \
            --pdeathsig --selinux-label --apparmor-profile --landlock-access --landlock-rule",
    ),
    ("sg", "-c"),
    ("machinectl", "-M --machine -H --host --uid -E --setenv -s --signal -n --lines -o --output -p --property"),
    (
        "systemd-nspawn",
        "-D --directory -M --machine -u --user -i --image --bind --bind-ro -E --setenv --chdir --network-bridge \
            --template --slice -p --property",
    ),
    ("env", "-u -C -S --unset --chdir --split-string"),
    ("exec", "-a"),
    ("time", "-f --format -o --output"),
    ("timeout", "-s -k --signal --kill-after"),
    ("nice", "-n --adjustment"),
    ("ionice", "-c -n -p -P -u --class --classdata --pid"),
    ("chrt", "-T -P -D -p --sched-runtime --sched-period --sched-deadline"),
    ("taskset", "-p --pid"),
    ("numactl", "-N -m -C -i -p -P -l --cpunodebind --membind --physcpubind --interleave --preferred"),
    ("prlimit", "-p --pid -o --output"),
    ("cgexec", "-g"),
    ("faketime", "-p"),
    ("chroot", "--userspec --groups"),
    (
        "unshare",
        "-R --root -w --wd -S --setuid -G --setgid --map-user --map-group --map-users --map-groups --propagation \
            --setgroups --load-interp --owner",
    ),
    ("nsenter", "-t --target -S --setuid -G --setgid -N --net-socket"),
    ("runcon", "-u --user -r --role -t --type -l --range"),
    (
        "systemd-run",
        "-u --unit -p --property -H --host -M --machine --uid --gid --slice -E --setenv --working-directory \
            --description --nice --service-type --on-active --on-boot --on-calendar --on-startup --on-unit-active \
            --timer-property --path-property --socket-property --background",
    ),
    ("systemd-inhibit", "--what --who --why --mode"),
    ("dbus-run-session", "--config-file --dbus-daemon"),
    ("xvfb-run", "-n --server-num -s --server-args -e --error-file -f --auth-file -p --xauth-protocol -w --wait"),
    ("proxychains", "-f"),
    ("torsocks", "-u --user -p --pass -a --address -P --port -d"),
    ("caffeinate", "-t -w"),
    ("rlwrap", "-f -b -D -H -l -P -S -s -C -g -M -p -q -w -z --prompt-colour"),
    (
        "bwrap",
        "--dir --tmpfs --proc --dev --chdir --uid --gid --hostname --cap-add --cap-drop --unsetenv --seccomp --args \
            --lock-file --size --perms --remount-ro",
    ),
    ("proot", "-r -b -w -q -0 -k -i --rootfs --bind --cwd --qemu"),
    ("firejail", ""),
    (
        "watchexec",
        "-w --watch -e --exts -f --filter -i --ignore -d --debounce -s --signal -E --env --workdir --shell --delay-run",
    ),
    ("flock", "-w -E --timeout --wait --conflict-exit-code"),
    ("watch", "-n --interval -q --equexit"),
    ("strace", "-e -o -p -s -u -E -P -a -b -I -O -S -U -X --user --output --env --trace --string-limit --attach"),
    ("ltrace", "-e -o -p -s -u -a -D -F -l -n -x --output"),
    (
        "script",
        "-c --command -I -O -B -T -o -m --log-in --log-out --log-io --log-timing --output-limit --logging-format",
    ),
    (
        "hyperfine",
        "-w --warmup -r --runs -m --min-runs -M --max-runs -p --prepare -c --cleanup -s --setup --conclude -u \
            --time-unit -S --shell -n --command-name -L --parameter-list --export-json --export-csv --export-markdown",
    ),
    (
        "start-stop-daemon",
        "-x --exec -p --pidfile -u --user -c --chuid -g --group -n --name -s --signal -r --chroot -d --chdir -R \
            --retry -N --nicelevel -k --umask -a --startas",
    ),
    ("daemonize", "-c -e -E -l -o -p -u"),
    (
        "parallel",
        "-j --jobs -a --arg-file --colsep -C -I -N -n -L -s -S --sshlogin --slf --sshloginfile --delay --timeout \
            --joblog --results --tmpdir --wd --workdir --retries --load --memfree --tagstring --env",
    ),
    (
        "xargs",
        "-I -n -P -L -d -a -E -s -J -R --max-args --max-procs --delimiter --arg-file --max-chars --process-slot-var",
    ),
    ("pdsh", "-w -x -g -l -f -t -u -R -M"),
    ("clush", "-w -x -g -l -f -t -u -m -o"),
    ("pssh", "-h --hosts -H --host -l --user -p --par -o --outdir -e --errdir -t --timeout -O -x --option"),
    (
        "srun",
        "-n -N -p -t -c -J -o -e -A -w -x -D -G --ntasks --nodes --partition --time --job-name --account --nodelist \
            --mem --gres --chdir",
    ),
    ("mpirun", "-n -np -c -H --host --hostfile -x --map-by --bind-to -wdir"),
    ("flatpak", "--command --branch --arch --env --filesystem --cwd"),
    ("wsl", "-d --distribution -u --user --cd --unregister"),
    ("git rebase", "-x --exec --onto -s --strategy -X --strategy-option -C"),
    (
        "docker compose",
        "-f --file -p --project-name --profile --env-file --project-directory -e --env -u --user -w --workdir \
            --index --name -v --volume --entrypoint -l --label --publish --rmi -t --timeout",
    ),
    ("docker exec", "-e --env -u --user -w --workdir --env-file --detach-keys"),
    (
        "docker run",
        "-e --env -u --user -w --workdir -v --volume -p --publish --name --network --net --entrypoint --mount -m \
            --memory --cpus --platform --env-file -l --label -h --hostname --restart --add-host --device --gpus --ip \
            --dns --dns-search --dns-option --log-driver --log-opt --ulimit --shm-size --tmpfs --cap-add --cap-drop \
            --security-opt --pid --ipc --uts --userns --cgroupns --cgroup-parent --pull --runtime --stop-signal \
            --stop-timeout --sysctl --volumes-from --volume-driver --cidfile --cpuset-cpus --cpu-shares -c \
            --memory-swap --link --expose --group-add --health-cmd --init-path --isolation --label-file \
            --mac-address --network-alias --oom-score-adj --pids-limit --storage-opt -a --attach --annotation \
            --secret --rootfs --pod",
    ),
    (
        "docker container",
        "-e --env -u --user -w --workdir -v --volume -p --publish --name --network --net --entrypoint --mount -m \
            --memory --cpus --platform --env-file -l --label -h --hostname --restart --device --filter -s --signal",
    ),
    ("podman exec", "-e --env -u --user -w --workdir --env-file --detach-keys"),
    (
        "podman container",
        "-e --env -u --user -w --workdir -v --volume -p --publish --name --network --entrypoint --mount --env-file",
    ),
    ("rake", "-f --rakefile -C --directory -I --libdir -r --require -j --jobs -e -E -p"),
    ("rails", "-e --environment -d --database"),
    ("sgdisk", "-d -n -t -c -u -A -N --delete --new --typecode --change-name --attributes --partition-guid"),
    ("npx", "-p --package -c --call -w --workspace"),
    (
        "ansible",
        "-i --inventory -m --module-name -a --args -u --user -l --limit -e --extra-vars -f --forks -t --tree -c \
            --connection -T --timeout -B --background -P --poll --become-user --become-method --private-key \
            --vault-id --vault-password-file -M --module-path",
    ),
    ("vagrant", "-c --command --machine-readable"),
    (
        "restic",
        "-r --repo -p --password-file -o --option -H --host --path --tag -l --keep-last --keep-hourly -d \
            --keep-daily -w --keep-weekly -m --keep-monthly -y --keep-yearly --keep-within --keep-tag -g --group-by \
            --password-command --repository-file --cacert --cache-dir --limit-download --limit-upload --max-unused \
            --max-repack-size --pack-size --key-hint --compression",
    ),
    (
        "borg",
        "--remote-path --rsh -P --prefix -a --glob-archives --keep-daily --keep-weekly --keep-monthly --keep-last \
            --keep-within --keep-hourly --keep-yearly --lock-wait -r --repo",
    ),
    ("kopia", "--config-file --log-dir --password"),
    ("snapper", "-c --config -r --root -m --machine-readable"),
    ("rdiff-backup", "--remove-older-than --remote-schema --terminal-verbosity -v --include --exclude"),
    ("pgbackrest", "--stanza --repo --config --set --type --log-level-console"),
    ("virsh", "-c --connect -d --debug -e --escape -l --log -k -K"),
    ("rabbitmqctl", "-n --node -p --vhost -t --timeout --longnames-x"),
    ("rabbitmqadmin", "-H --host -P --port -u --username -p --password -V --vhost -c --config -N --node"),
    ("celery", "-A --app -b --broker -Q --queues -X --exclude-queues --workdir --result-backend --loader"),
    ("nodetool", "-h --host -p --port -u --username -pw --password -pwf --password-file"),
    ("dbmate", "-u --url -d --migrations-dir -s --schema-file -e --env --env-file --wait-timeout"),
    ("migrate", "-path -database -source -lock-timeout -prefetch"),
    ("goose", "-dir -table -certfile -s"),
    ("tern", "-d --destination -c --config -m --migrations --host --port --user --database --password"),
    ("flask", "-A --app -e --env-file"),
    ("phinx", "-c --configuration -e --environment -t --target -d --date -p --parser"),
    (
        "terragrunt",
        "-chdir -var -var-file -state -target -replace -lock-timeout --terragrunt-working-dir --terragrunt-config \
            --working-dir --config --terragrunt-source --terragrunt-iam-role --terragrunt-log-level \
            --queue-include-dir --queue-exclude-dir",
    ),
    ("bench", "--site"),
    ("nats", "-s --server --user --password --creds --nkey --context --timeout --tlscert --tlskey"),
    ("hasura", "--project --endpoint --admin-secret --envfile --database-name"),
    ("wp", "--path --url --ssh --user"),
    ("drush", "-r --root -l --uri"),
    ("aws-vault", "-n -d --duration --region --prompt --backend"),
    ("conda run", "-n --name -p --prefix --cwd"),
    (
        "gcloud",
        "--project --zone --region --account --format --filter --configuration --impersonate-service-account \
            --location --command --parameters --sql --ddl",
    ),
    ("argocd", "--server --auth-token --grpc-web-root-path --config --core-x"),
    ("sfdx", "-u --targetusername -o --target-org"),
    ("mosquitto_ctrl", "-h --host -p --port -u --username -P --pw -i -o"),
    ("qemu-img", "-f -O -o -S -l -m -s -a -c -d"),
    ("ddrescue", "-b -c -E -i -m -o -r -s -T --sector-size --retry-passes --timeout"),
    ("surreal", "-e --endpoint --conn -u --user -p --pass --ns --db --query --namespace --database"),
    ("vim", "-c --cmd -S -u -U -i -s -w -W -T -t -q"),
    ("awk", "-F -v -f -i -l -e -E --assign --field-separator --file --include --source --exec"),
    ("gdb", "-ex -iex -x -eval-command --eval-command -p -c -s -d"),
];

/// The options of `program`, or of its subcommand, that take a value.
pub(super) fn valued(program: &str, sub: Option<&str>) -> Option<&'static str> {
    let named = |key: &str| match (key.strip_prefix(program), sub) {
        (Some(rest), Some(sub)) => rest.strip_prefix(' ') == Some(sub),
        (Some(rest), None) => rest.is_empty(),
        (None, _) => false,
    };
    let mut rows = by_first!(VALUED).named(program).filter_map(|row| VALUED.get(row));
    rows.find(|(key, _)| named(key)).map(|(_, options)| *options)
}

/// Programs that are read like another one.
pub(super) fn like(program: &str) -> &str {
    match program {
        "mariadb" | "mycli" | "mysqlsh" => "mysql",
        "pgcli" | "cockroach" | "ysqlsh" | "vsql" | "usql" => "psql",
        "zsh" | "dash" | "ksh" | "ash" => "sh",
        "pip3" => "pip",
        "gawk" => "awk",
        "python3" | "python2" => "python",
        "k" | "kubectl.exe" | "microk8s" => "kubectl",
        "mamba" | "micromamba" => "conda",
        other => other,
    }
}
