//! Commands inside commands, and subcommands behind options.

use super::*;

#[test]
fn the_name_of_a_user_is_not_the_command() {
    let database = [
        "sudo -u postgres psql -c 'DROP DATABASE app'",
        "sudo -H -u postgres dropdb app",
        "sudo -iu postgres psql -c 'TRUNCATE t'",
        "sudo --user=postgres dropdb app",
        "sudo --user postgres -- dropdb app",
        "su - postgres -c 'dropdb app'",
        "su postgres -c 'psql -c \"DROP DATABASE app\"'",
        "su -l postgres -- -c 'dropdb app'",
        "runuser -u postgres -- dropdb app",
        "runuser -l postgres -c 'dropdb app'",
        "doas -u postgres dropdb app",
        "run0 -u postgres dropdb app",
        "gosu postgres dropdb app",
        "su-exec postgres dropdb app",
        "setpriv --reuid postgres --regid postgres dropdb app",
        "pkexec --user postgres dropdb app",
        "sg postgres -c 'dropdb app'",
        "chroot --userspec postgres /srv dropdb app",
        "nsenter -t 1 -m dropdb app",
        "unshare -S 26 dropdb app",
        "systemd-run --uid postgres -p Nice=5 dropdb app",
        "machinectl shell postgres@db /usr/bin/dropdb app",
        "docker exec -u postgres db dropdb app",
        "docker compose exec -u postgres db dropdb app",
        "kubectl exec -it db-0 -c postgres -- dropdb app",
        "ssh -l postgres db dropdb app",
        "chrt -r 10 dropdb app",
        "taskset -c 0 dropdb app",
        "numactl -N 0 dropdb app",
        "cgexec -g cpu:postgres dropdb app",
        "faketime yesterday dropdb app",
        "flock -w 5 lock dropdb app",
        "timeout -s KILL 5 dropdb app",
        "watch -n 5 dropdb app",
        "xvfb-run -n 99 dropdb app",
        "env -C /srv -u PGHOST dropdb app",
    ];
    warns(Category::Database, &database);
    warns(
        Category::GitDiscard,
        &["sudo -u git git reset --hard", "runuser -u git git clean -fd", "gosu git git stash drop"],
    );
    for quiet in
        ["sudo -u git ls", "sudo -u postgres psql -l", "su - postgres -c 'psql -l'", "runuser -u git git status"]
    {
        assert_eq!(categories(quiet), [], "{quiet}");
    }
}

#[test]
fn a_subcommand_stands_behind_the_value_of_an_option() {
    let hit = |line: &str| !categories(line).is_empty();
    for line in [
        "restic -r r forget abc",
        "restic --password-file p forget --prune abc",
        "virsh -c qemu:///system destroy vm",
        "rabbitmqctl -n r purge_queue q",
        "dbmate -u x drop",
        "terragrunt --terragrunt-working-dir x destroy",
        "celery -A app purge -f",
        "helm --some-option x uninstall web",
        "nomad --some-option x job stop web",
        "snapper -c root delete 1-10",
        "bench --site shop.local reinstall",
        "drush @prod sql:drop",
    ] {
        assert!(hit(line), "{line}");
    }
    for line in
        ["restic -r forget snapshots", "virsh -c destroy list", "git --some-option reset status", "helm -n delete list"]
    {
        assert!(!hit(line), "{line}");
    }
}

#[test]
fn commands_in_texts_of_other_languages() {
    let files = [
        "env -S 'rm -rf x'",
        "awk 'BEGIN{system(\"rm -rf x\")}'",
        "awk '{print | \"rm -rf x\"}' f",
        "sed -n '1e rm -rf x' f",
        "sed '/a/e rm -rf x' f",
        "git rebase -x 'rm -rf x' main",
        "git rebase --exec 'rm -rf x' main",
        "git bisect run rm -rf x",
        "git -c alias.z='!rm -rf y' z",
        "vim -c '!rm -rf x' f",
        "psql -c '\\! rm -rf x'",
        "sqlite3 a.db '.shell rm -rf x'",
        "gdb -batch -ex 'shell rm -rf x'",
        "fly ssh console -C 'rm -rf /data'",
        "gcloud compute ssh vm --command 'rm -rf /data'",
        "nix develop -c rm -rf x",
    ];
    warns(Category::Files, &files);
    let work = [
        "git -c alias.x='reset --hard' x",
        "python3 -c 'import os; os.system(\"git reset --hard\")'",
        "python3 -c 'import subprocess as s; s.run([\"git\", \"clean\", \"-fd\"])'",
        "node -e 'require(\"child_process\").execSync(\"git stash clear\")'",
        "perl -e 'system(\"git checkout .\")'",
        "ruby -e '`git reset --hard`'",
    ];
    warns(Category::GitDiscard, &work);
    for quiet in [
        "awk '{print \"rm -rf x\"}' f",
        "sed 's/the rm -rf x/y/' f",
        "sed 's/e rm -rf x/y/' f",
        "git -c alias.x='reset --hard' status",
        "git -c alias.s=status s",
        "vim -c 'set nu' delete.sh",
        "perl -e 'print \"system of rm\"'",
        "python3 -c 'import os; os.system(\"ls\")'",
    ] {
        assert_eq!(categories(quiet), [], "{quiet}");
    }
}

#[test]
fn rights_of_what_the_system_relies_on() {
    let lines = [
        "find . -exec chmod 777 {} +",
        "find / -type d -exec chown dev {} ;",
        "setfacl -Rm u:dev:rwx /",
        "chmod 000 /etc/passwd",
        "chmod 777 /etc/shadow",
        "chmod 777 /",
        "chown dev /",
    ];
    warns(Category::Files, &lines);
    for quiet in [
        "find . -type f -exec chmod 644 {} +",
        "find . -name x -exec chmod +x {} ;",
        "setfacl -R -m u:www-data:rwX storage",
        "chmod 644 /etc/hosts",
        "chmod 666 /dev/ttyUSB0",
        "chmod 755 /usr/local/bin/x",
        "chown root:root /etc/hosts",
    ] {
        assert_eq!(categories(quiet), [], "{quiet}");
    }
}

#[test]
fn a_program_that_nobody_knows_is_believed() {
    for line in [
        "somecloud volumes destroy v-1",
        "somecloud --token t compute volume delete v-1",
        "sometool purge --all",
        "sometool db:drop",
        "sometool cache remove x",
        "sudo sometool wipe x",
    ] {
        assert!(!categories(line).is_empty(), "{line}");
    }
    for line in [
        "sometool get delete",
        "sometool help destroy",
        "sometool destroy --help",
        "sometool destroy -h",
        "sometool purge --dry-run",
        "sometool remove left-pad",
        "sometool Delete",
        "sometool ./delete",
        "./sometool delete x",
        "notify-send delete",
    ] {
        assert_eq!(categories(line), [], "{line}");
    }
}
