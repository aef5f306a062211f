//! Destructive acts that a pattern can say.
//!
//! A pattern is words separated by blanks, `|` between alternatives and `*` for anything:
//! the program; then its leading operands in order; then what must be there besides:
//! `-f|--force` an option, `--prune=now` an option with that value, `+.|:/` an operand behind the leading
//! ones, `#2` at least two of these; a `!` before any of them says that it must not be there.

use super::super::super::fact::Category::{self, *};
use super::super::index::{self, Index};
use super::Hit;
use super::words::{Line, fits, fits_one};

/// Category, pattern, why.
const ACTS: &[(Category, &str, &str)] = &[
    // Work that git has not stored.
    (GitDiscard, "git reset --hard|--merge|--keep", "discards uncommitted changes"),
    (GitDiscard, "git checkout -f|--force", "discards uncommitted changes"),
    (GitDiscard, "git checkout +.|./*|*/|:/*|:(*|.. !-b|-B|--orphan", "overwrites files with their committed state"),
    (
        GitDiscard,
        "git checkout #2 !-b|-B|--orphan|-t|--track|-p|--patch|--ours|--theirs|-m|--merge",
        "overwrites \
        files with another version",
    ),
    (GitDiscard, "git checkout --ours|--theirs !-p|--patch", "puts one side in the place of what was merged"),
    (GitDiscard, "git restore !--staged|-S|-p|--patch", "discards uncommitted changes of files"),
    (GitDiscard, "git restore --worktree|-W", "discards uncommitted changes of files"),
    (GitDiscard, "git clean -f|--force !-n|--dry-run|-i|--interactive", "deletes untracked files"),
    (GitDiscard, "git stash drop|clear", "deletes stashed changes"),
    (GitDiscard, "git checkout-index -f|--force", "overwrites files from the index"),
    (GitDiscard, "git read-tree --reset", "overwrites the index and files"),
    (GitDiscard, "git switch -f|--force|--discard-changes", "discards uncommitted changes"),
    (GitDiscard, "git worktree remove -f|--force", "deletes a work tree with its changes"),
    (GitDiscard, "git rm -f|--force !--cached|-n|--dry-run", "deletes files even if they have changes"),
    (GitDiscard, "git submodule deinit -f|--force", "deletes a submodule's work tree with its changes"),
    (GitDiscard, "git lfs prune !-d|--dry-run", "deletes local copies of large files"),
    // Work that other systems have not stored.
    (GitDiscard, "svn revert !--help", "discards uncommitted changes"),
    (GitDiscard, "svn cleanup --remove-unversioned|--remove-ignored", "deletes files that are not stored"),
    (GitDiscard, "svn rm|remove|delete|del --force", "deletes files even if they have changes"),
    (GitDiscard, "hg update|up|checkout|co -C|--clean", "discards uncommitted changes"),
    (GitDiscard, "hg revert !-n|--dry-run|-i|--interactive", "discards uncommitted changes"),
    (GitDiscard, "hg purge !-p|--print", "deletes untracked files"),
    (GitDiscard, "hg shelve|unshelve -d|--delete|--cleanup", "deletes shelved changes"),
    (GitDiscard, "jj restore !-i|--interactive", "discards changes"),
    (GitDiscard, "p4 revert !-n", "discards changes"),
    (GitDiscard, "p4 clean !-n", "discards changes, and files that are not stored"),
    (GitDiscard, "bzr|brz|fossil|darcs revert !--dry-run", "discards uncommitted changes"),
    (GitDiscard, "bzr|brz|fossil clean|clean-tree !--dry-run|-n", "deletes files that are not stored"),
    (GitDiscard, "cvs update|up -C", "discards uncommitted changes"),
    // History.
    (
        GitHistory,
        "git push -f|--force|--force-with-lease|--mirror|--prune|-d|--delete !-n|--dry-run",
        "overwrites \
        or deletes published history",
    ),
    (GitHistory, "git push ++* !-n|--dry-run", "overwrites published history"),
    (GitHistory, "git push +:* !-n|--dry-run", "deletes a published branch"),
    (GitHistory, "git commit --no-verify|-n", "skips the hooks that check a commit"),
    (GitHistory, "git commit --amend|--am !--dry-run", "puts another commit in the place of the last one"),
    (GitHistory, "git rebase -i|--interactive|--root", "rewrites commits"),
    (GitHistory, "git push|merge|rebase|am|cherry-pick|pull --no-verify", "skips the hooks that check it"),
    (GitHistory, "git branch -D|-f|--force", "deletes or moves a branch that may hold unmerged commits"),
    (GitHistory, "git branch -M|-C", "takes the place of a branch of that name, whatever it holds"),
    (GitHistory, "git switch -C|--force-create", "takes the place of a branch of that name, whatever it holds"),
    (GitHistory, "git checkout -B", "takes the place of a branch of that name, whatever it holds"),
    (GitHistory, "git worktree add -B", "takes the place of a branch of that name, whatever it holds"),
    (GitHistory, "git branch -r|--remotes -d|--delete", "deletes what is known of a branch elsewhere"),
    (GitHistory, "git tag -d|--delete|-f|--force", "deletes or moves a tag"),
    (GitHistory, "git update-ref -d|--stdin", "deletes refs, or moves them"),
    (GitHistory, "git symbolic-ref -d|--delete", "deletes a ref"),
    (GitHistory, "git reflog expire|delete !-n|--dry-run", "deletes the record of where branches were"),
    (GitHistory, "git gc --prune=now|--prune=all|--prune=0*", "deletes unreachable commits at once"),
    (GitHistory, "git gc --aggressive --prune", "deletes unreachable commits"),
    (GitHistory, "git prune !-n|--dry-run", "deletes unreachable objects"),
    (GitHistory, "git filter-branch|filter-repo|obliterate !--dry-run|--analyze", "rewrites history"),
    (GitHistory, "git-filter-repo|bfg !--dry-run|--analyze", "rewrites history"),
    (GitHistory, "git replace -d|--delete", "deletes a replace ref"),
    (GitHistory, "git notes remove|prune !-n|--dry-run", "deletes notes"),
    (GitHistory, "git remote rm|remove", "deletes a remote and what is known of its branches"),
    (GitHistory, "gh pr close -d|--delete-branch", "deletes the branch with the request"),
    (GitHistory, "hg strip|rollback|prune|histedit", "removes commits"),
    (GitHistory, "jj abandon", "abandons commits"),
    (
        GitHistory,
        "jj op|operation|bookmark|b|branch|workspace|tag abandon|delete|forget|d|f",
        "deletes what is known of commits",
    ),
    (GitHistory, "p4 obliterate -y", "removes files with their history"),
    (GitHistory, "p4 client|branch|label|depot|user -d", "deletes from the server"),
    (GitHistory, "darcs obliterate|unpull !--dry-run", "removes patches"),
    // Files. `rm`, `find`, `mv`, `cp`, `chmod` and `dd` are checks.
    (Files, "shred|srm|wipe|sdelete|scrub !--version|--help", "overwrites files so that nothing can be had back"),
    (Files, "rimraf|del-cli", "removes trees"),
    (Files, "truncate -s=0*|--size=0*|-s=-*|--size=-*|-s=<*|--size=<*", "empties or cuts files"),
    (
        Files,
        "rsync --delete|--del|--delete-before|--delete-during|--delete-delay|--delete-after|--delete-excluded|\
        --remove-source-files|--delete-missing-args !-n|--dry-run|--list-only",
        "deletes files that the other side \
        does not have",
    ),
    (Files, "zip -m|--move|-d|--delete", "deletes files after archiving, or from the archive"),
    (Files, "7z|7za|7zr -sdel", "deletes files after archiving"),
    (Files, "7z|7za|7zr d", "deletes files from an archive"),
    (Files, "rar m|mf|d", "deletes files after archiving, or from the archive"),
    (Files, "tar|bsdtar|gtar --remove-files|--delete", "deletes files after archiving, or from the archive"),
    (Files, "tmutil delete|deletelocalsnapshots|deleteinprogress", "deletes backups"),
    (Files, "trash-empty|trash-rm|tmpwatch|tmpreaper|bleachbit", "deletes for good"),
    (Files, "gio trash --empty", "empties the trash"),
    (Files, "gio trash #1 !--list|--restore", "puts files into the trash, and trees with all that is in them"),
    (Files, "gio remove", "removes files for good"),
    (Files, "timeshift --delete|--delete-all|--restore", "deletes snapshots of the system, or goes back to one"),
    (Files, "fdupes|jdupes|rdfind -d|--delete|-deleteduplicates", "deletes duplicates"),
    (Files, "robocopy +/mir|/MIR|/purge|/PURGE|/move|/MOVE|/mov|/MOV", "deletes files that the source does not have"),
    (Files, "setfacl -b|--remove-all -R|--recursive", "removes the access lists of a tree"),
    (Files, "borg delete|prune !-n|--dry-run", "deletes backups"),
    (Files, "restic prune !-n|--dry-run", "deletes backups"),
    (Files, "restic forget --prune !-n|--dry-run", "deletes backups"),
    (Files, "duplicity remove-* --force", "deletes backups"),
    (Files, "kopia snapshot|repository delete|disconnect", "deletes backups"),
    (Files, "Remove-Item|ri -Recurse|-recurse|-Force|-force|-r", "removes trees"),
    (Files, "del|erase +/s|/S|/q|/Q|/f|/F", "deletes files of a tree"),
    (Files, "rd +/s|/S", "removes a tree"),
    (Files, "hdfs dfs -rm|-rmr|-expunge", "deletes files of a cluster"),
    (Files, "hadoop fs -rm|-rmr|-expunge", "deletes files of a cluster"),
    (Files, "tarsnap -d|--nuke !--dry-run", "deletes backups"),
    (Files, "dvc gc|destroy !--dry", "deletes data that no version names"),
    (Files, "git annex drop|dropunused|unannex --force", "deletes data that may have no other copy"),
    (Files, "ipfs pin rm", "lets go of data"),
    (Files, "ipfs repo gc", "deletes data that nothing holds"),
    (Files, "npkill", "removes trees"),
    (Files, "tar|bsdtar|gtar --recursive-unlink", "removes whole directories before it writes them"),
    (Files, "rails destroy|d", "removes the files that a generator made"),
    (Files, "xcrun simctl erase|delete", "erases simulators"),
    (Files, "rmdir +/s|/S", "removes a tree"),
    (Files, "lftp -e=*--delete*|-c=*--delete*|-e=*rm*|-c=*rm*", "deletes files of the server or here"),
    // Disks.
    (
        Disk,
        "mkfs|mkfs.*|mke2fs|mkswap|newfs|newfs_* !-n|-N|-V|--version",
        "makes a new file system over what is \
        there",
    ),
    (Disk, "wipefs -a|--all|-o|--offset !-n|--no-act", "erases signatures"),
    (
        Disk,
        "fdisk|gdisk|cfdisk|sfdisk #1 !-l|--list|-d|--dump|-J|--json|-s|-v|-V|--version|-n|--no-act",
        "changes a \
        partition table",
    ),
    (Disk, "parted +rm|mklabel|mktable|mkpart|resizepart|rescue", "changes a partition table"),
    (
        Disk,
        "sgdisk -Z|-z|--zap-all|--zap|-o|--clear|-d|--delete|-g|-n|--new|-R|--load-backup",
        "changes a partition \
        table",
    ),
    (Disk, "lvremove|vgremove|pvremove|lvreduce|vgreduce !-t|--test", "deletes a volume"),
    (Disk, "zpool destroy|labelclear|remove|detach !-n", "destroys a storage pool or a part of it"),
    (Disk, "zfs destroy|rollback !-n|-nv|-nvr", "destroys a file system or what came after a snapshot"),
    (Disk, "btrfs subvolume|sub delete", "deletes a subvolume"),
    (Disk, "btrfs device remove|delete", "removes a device"),
    (Disk, "mdadm --zero-superblock|--stop|-S|--remove|-r|--fail|-f|--create|-C", "takes an array apart"),
    (
        Disk,
        "blkdiscard|nwipe|dban|ubiformat|flash_erase|flash_eraseall|flashcp|sg_format|sg_sanitize",
        "erases a \
        device",
    ),
    (Disk, "mtd|mtd_debug erase|write", "erases a device"),
    (
        Disk,
        "cryptsetup luksFormat|erase|luksErase|luksRemoveKey|luksKillSlot|reencrypt|format",
        "makes encrypted \
        data unreadable",
    ),
    (
        Disk,
        "hdparm --security-erase*|--security-set-pass*|--trim-sector*|--make-bad-sector*|--write-sector*|\
        --repair-sector*",
        "erases a device",
    ),
    (Disk, "nvme format|sanitize|delete-ns|detach-ns|write-zeroes|dsm", "erases a device"),
    (Disk, "badblocks -w", "overwrites a device"),
    (
        Disk,
        "fsck|fsck.*|e2fsck -y|-a !-n|-N|-M|-V",
        "repairs a file system without asking, and drops what it cannot place",
    ),
    (Disk, "xfs_repair -L", "drops the log of a file system with what was not yet written"),
    (Disk, "btrfs check --repair", "repairs a file system without asking, and drops what it cannot place"),
    (Disk, "tune2fs -O|-I|-U|-j|-Q", "changes a file system from below"),
    (Disk, "debugfs -w", "changes a file system from below"),
    (Disk, "dmsetup remove|remove_all|wipe_table", "removes a device mapping"),
    (Disk, "diskutil erase*|partitionDisk|reformat|zeroDisk|randomDisk|secureErase", "erases a device"),
    (Disk, "diskutil apfs|cs delete*|erase*", "erases a device"),
    (Disk, "diskpart|format.com", "changes disks"),
    (Disk, "format +*:|*:/", "erases a disk"),
    (Disk, "lvresize -L=-*|--size=-*|-l=-*|--extents=-*", "makes a volume smaller"),
    (Disk, "fastboot erase|format|flash|flashall|wipe-super", "overwrites a partition of a device"),
    (Disk, "fastboot flashing|oem unlock|lock", "erases a device"),
    (Disk, "fastboot -w", "erases what the user of a device has on it"),
    (Disk, "hdiutil erasekeys", "makes encrypted data unreadable"),
    (Disk, "tee +/dev/sd*|/dev/nvme*|/dev/vd*|/dev/hd*|/dev/mmcblk*|/dev/mapper/*|/dev/disk*", "writes to a disk"),
    // Databases. Clients that take SQL are a check.
    (Database, "dropdb|dropuser", "drops a database or a role"),
    (Database, "mysqladmin drop|shutdown", "drops a database"),
    (Database, "pg_restore -c|--clean !-l|--list", "drops what is there before restoring"),
    (Database, "pg_dropcluster|pg_resetwal|pg_resetxlog|pg_archivecleanup !-n", "deletes a cluster or its log"),
    (Database, "initdb|mysql_install_db --force", "overwrites a data directory"),
    (Database, "mongorestore --drop !--dryRun", "drops collections before restoring"),
    (Database, "alembic|superset downgrade", "takes migrations back, and their tables with them"),
    (Database, "flask db downgrade", "takes migrations back, and their tables with them"),
    (
        Database,
        "rails|rake db:drop*|db:reset*|db:purge*|db:truncate*|db:schema:load*|db:structure:load*|\
        db:migrate:reset*|db:migrate:down*|db:rollback*|db:seed:replant*",
        "drops or resets a database",
    ),
    (Database, "prisma migrate reset", "drops the database"),
    (Database, "prisma db push --force-reset|--accept-data-loss", "drops the database"),
    (Database, "drizzle-kit drop", "drops migrations"),
    (
        Database,
        "manage.py|django-admin flush|reset_db|clear_cache|delete_*|clearsessions|reset_schema|\
        remove_stale_contenttypes",
        "empties the database",
    ),
    (Database, "manage.py|django-admin migrate +zero", "takes all migrations of an app back"),
    (Database, "knex migrate:rollback|migrate:down|migrate:unlock", "takes migrations back"),
    (
        Database,
        "sequelize|sequelize-cli db:drop|db:migrate:undo*|db:seed:undo*",
        "drops a database or takes \
        migrations back",
    ),
    (Database, "typeorm|typeorm-ts-node-commonjs schema:drop|migration:revert", "drops the schema"),
    (
        Database,
        "artisan migrate:fresh|migrate:reset|migrate:refresh|migrate:rollback|db:wipe|\
        cache:clear-all",
        "drops tables",
    ),
    (
        Database,
        "bin/console|console doctrine:database:drop|doctrine:schema:drop|doctrine:fixtures:load",
        "drops the \
        database",
    ),
    (Database, "mix ecto.drop|ecto.reset|ecto.rollback", "drops a database"),
    (Database, "flyway clean|undo", "drops everything in the schema"),
    (
        Database,
        "mvn|mvnd|mvnw|gradle|gradlew +flyway:clean|flyway:undo|liquibase:dropAll|liquibase:rollback*|flywayClean|\
        flywayUndo|*:flywayClean|*:flywayUndo|dropAll|*:dropAll|rollbackCount",
        "drops everything in the schema, or takes migrations back",
    ),
    (Database, "liquibase drop-all|dropAll|rollback*", "drops everything in the schema"),
    (Database, "dotnet|dotnet-ef ef database drop", "drops the database"),
    (Database, "dotnet-ef database drop", "drops the database"),
    (Database, "goose +reset|down|down-to|redo", "takes migrations back"),
    (Database, "migrate +down|drop", "takes migrations back"),
    (Database, "diesel database reset|drop", "drops the database"),
    (Database, "diesel migration revert|redo", "takes migrations back"),
    (Database, "sqlx database|db drop|reset", "drops the database"),
    (Database, "sqlx migrate|mig revert", "takes migrations back"),
    (Database, "sea-orm-cli migrate fresh|reset|down|refresh", "takes migrations back"),
    (Database, "dbmate drop|down|rollback", "drops a database or takes migrations back"),
    (Database, "atlas schema clean", "drops everything in the schema"),
    (Database, "influx delete", "deletes points"),
    (Database, "influx bucket|org|user|auth|task|backup delete", "deletes a bucket"),
    (Database, "etcdctl del|defrag-all|compaction", "deletes keys"),
    (Database, "etcdctl user|role|member|lease delete|remove|revoke", "deletes keys or members"),
    (Database, "bq rm", "deletes tables or data sets"),
    (
        Database,
        "kafka-topics|kafka-topics.sh|kafka-configs|kafka-configs.sh|kafka-consumer-groups|\
        kafka-consumer-groups.sh --delete|--delete-offsets",
        "deletes topics",
    ),
    (Database, "kafka-consumer-groups|kafka-consumer-groups.sh --reset-offsets !--dry-run", "moves what was read"),
    (Database, "kafka-delete-records|kafka-delete-records.sh", "deletes records"),
    (Database, "kcat|rpk topic|cluster|group delete|delete-*", "deletes topics"),
    (
        Database,
        "rabbitmqctl delete_*|purge_queue|reset|force_reset|forget_cluster_node|clear_*",
        "deletes queues, \
        users or state",
    ),
    (Database, "rabbitmqadmin delete|purge", "deletes queues"),
    (Database, "wp db drop|reset|clean", "drops tables"),
    (Database, "wp site|post|user empty|delete", "deletes content"),
    (Database, "drush sql-drop|sql:drop|site:install|sql-sanitize", "drops tables"),
    (Database, "supabase db reset", "drops the database"),
    (Database, "turso db|group destroy", "destroys a database"),
    (Database, "pscale database|branch|backup delete", "deletes a database"),
    (
        Database,
        "neonctl|neon projects|branches|databases|roles|project|branch|database delete|reset",
        "deletes a \
        database",
    ),
    (Database, "aerospike|asinfo +truncate*", "empties a set"),
    (Database, "couchbase-cli bucket-delete|bucket-flush", "deletes a bucket"),
    (Database, "hasura metadata clear", "clears what is known of the tables"),
    (Database, "hasura database|migrate drop|delete", "drops a database or its migrations"),
    (Database, "artisan queue:flush|queue:clear|model:prune|telescope:clear|telescope:prune", "deletes rows"),
    (Database, "nats|jsm stream|str|s|kv|object|consumer|con rm|del|delete|purge", "deletes a stream or what it holds"),
    (Database, "neo4j-admin database|dbms delete|wipe", "deletes a database"),
    (
        Database,
        "nodetool decommission|removenode|assassinate|clearsnapshot|truncatehints",
        "removes data from a \
        cluster",
    ),
    (
        Database,
        "curator|curator_cli delete_indices|delete-indices|delete_snapshots|delete-snapshots",
        "deletes \
        indices",
    ),
    (Database, "zkCli.sh|zkcli delete|deleteall|rmr", "deletes nodes"),
    // Containers.
    (Container, "docker|podman|nerdctl rm|rmi|kill", "removes containers or images"),
    (
        Container,
        "docker|podman|nerdctl container|image|volume|network|builder|system|buildx|pod|machine|context|\
        secret|config|node|service|stack|plugin|trust|manifest|checkpoint rm|remove|prune|kill|delete|\
        reset",
        "removes containers, images, volumes or what belongs to them",
    ),
    (Container, "docker|podman|nerdctl compose down -v|--volumes|--rmi", "removes volumes or images"),
    (Container, "docker|podman|nerdctl compose rm -f|--force|-v|-s|--stop", "removes containers"),
    (Container, "docker|podman|nerdctl compose kill", "kills containers"),
    (Container, "docker-compose|podman-compose down -v|--volumes|--rmi", "removes volumes or images"),
    (Container, "docker-compose|podman-compose rm -f|--force|-v|-s|--stop", "removes containers"),
    (Container, "docker-compose|podman-compose kill", "kills containers"),
    (Container, "docker swarm leave -f|--force", "takes the node out of its swarm"),
    (Container, "buildah rm|rmi|prune", "removes containers or images"),
    (Container, "crictl rm|rmi|rmp", "removes containers or images"),
    (
        Container,
        "ctr|containerd containers|images|image|container|c|i|snapshots|namespaces rm|delete|del|remove|\
        prune",
        "removes containers or images",
    ),
    (Container, "skopeo delete", "deletes an image from a registry"),
    (Container, "crane|regctl|oras delete", "deletes an image from a registry"),
    (Container, "regctl tag|repo|image delete|rm", "deletes an image from a registry"),
    (Container, "lxc|incus delete|rm", "deletes containers"),
    (Container, "lxc|incus storage|network|profile|image|snapshot|project delete|rm", "deletes what containers need"),
    (Container, "lxc-destroy", "deletes containers"),
    (Container, "machinectl remove|terminate|kill|poweroff", "ends or removes machines"),
    // Kubernetes.
    (Kubernetes, "kubectl|oc|k|kubecolor delete !--dry-run", "deletes resources"),
    (Kubernetes, "kubectl|oc|k|kubecolor delete --dry-run=none|--dry-run=false", "deletes resources"),
    (Kubernetes, "kubectl|oc|k|kubecolor drain|evict !--dry-run", "evicts everything from a node"),
    (Kubernetes, "kubectl|oc|k|kubecolor replace --force !--dry-run", "deletes and creates resources anew"),
    (Kubernetes, "kubectl|oc|k|kubecolor scale --replicas=0 !--dry-run", "stops every replica"),
    (Kubernetes, "kubectl|oc|k|kubecolor apply --prune !--dry-run", "deletes what the files do not name"),
    (Kubernetes, "kubectl|oc|k|kubecolor config delete-*|unset", "deletes from the configuration"),
    (
        Kubernetes,
        "kubectl|oc|k|kubecolor patch -p=*finalizers*|--patch=*finalizers* !--dry-run",
        "lets go of what is kept",
    ),
    (Kubernetes, "kubectl|oc|k|kubecolor taint +*:NoExecute !--dry-run", "evicts everything from a node"),
    (Kubernetes, "oc|oadm adm prune|drain", "deletes resources"),
    (Kubernetes, "helm|helm3 uninstall|delete|del|un !--dry-run", "removes a release"),
    (Kubernetes, "helmfile destroy|delete", "removes releases"),
    (Kubernetes, "helm|helm3 rollback !--dry-run|-h|--help", "puts an older release in the place of what runs"),
    (Kubernetes, "kubectl|oc|k|kubecolor rollout undo !--dry-run", "puts an older version in the place of what runs"),
    (Kubernetes, "kubeadm reset", "takes a node out of its cluster"),
    (Kubernetes, "eksctl delete|drain", "deletes a cluster or a part of it"),
    (Kubernetes, "minikube|kind|k3d|ctlptl|colima|microk8s delete|reset", "deletes a cluster"),
    (Kubernetes, "k3d|kind cluster|node|registry|clusters delete", "deletes a cluster"),
    (Kubernetes, "kops delete|rolling-update --yes|--force|-y", "deletes a cluster"),
    (Kubernetes, "k3s-uninstall.sh|k3s-killall.sh|k3s-agent-uninstall.sh|rke2-uninstall.sh", "removes a cluster"),
    (Kubernetes, "argocd app|cluster|proj|repo|appset delete|rm|terminate-op|remove", "deletes an application"),
    (Kubernetes, "flux delete|uninstall", "deletes resources"),
    (Kubernetes, "velero backup|restore|schedule delete", "deletes backups"),
    (Kubernetes, "istioctl uninstall", "removes a service mesh"),
    (Kubernetes, "kustomize|skaffold|tilt delete|down", "deletes what was deployed"),
    (Kubernetes, "clusterctl delete", "deletes a cluster"),
    (Kubernetes, "talosctl reset|wipe", "wipes a node"),
    (Kubernetes, "kubectx -d", "deletes a context"),
    (Kubernetes, "vcluster|argo|rke|rke2|kn delete|remove|terminate", "deletes what runs in a cluster"),
    (Kubernetes, "tkn|kn * delete", "deletes what runs in a cluster"),
    (Kubernetes, "cilium|linkerd|dapr|osm uninstall", "removes what the cluster needs"),
    // Infrastructure.
    (
        Infrastructure,
        "terraform|tofu|terragrunt|cdktf destroy|run-all|apply-all|destroy-all|taint|force-unlock \
        !plan|validate",
        "destroys or changes infrastructure",
    ),
    (
        Infrastructure,
        "terraform|tofu|terragrunt apply -destroy|--destroy|-auto-approve|--auto-approve|-replace|\
        --replace|--terragrunt-non-interactive",
        "changes infrastructure without a look at the plan",
    ),
    (
        Infrastructure,
        "terraform|tofu|terragrunt state rm|push|replace-provider !-dry-run|--dry-run",
        "drops or \
        replaces state",
    ),
    // A plan that is kept is there to be applied.
    (
        Infrastructure,
        "terraform|tofu|terragrunt plan -destroy|--destroy -out|--out|-out=*|--out=*",
        "keeps a plan that destroys everything",
    ),
    (Infrastructure, "terraform|tofu|terragrunt workspace delete", "deletes a workspace and its state"),
    (Infrastructure, "pulumi destroy|dn|down|cancel", "destroys a stack"),
    (
        Infrastructure,
        "pulumi up|update -y|--yes|-f|--skip-preview",
        "changes infrastructure without a look at the \
        plan",
    ),
    (Infrastructure, "pulumi stack|state|config rm|delete|remove|unset", "deletes a stack or its state"),
    (Infrastructure, "cdk destroy", "destroys stacks"),
    (Infrastructure, "cdk deploy +never --require-approval", "deploys without approval"),
    (Infrastructure, "serverless|sls|sst remove", "removes a service"),
    (
        Infrastructure,
        "sam|copilot|chalice|zappa|amplify|eb|ecs-cli|apex delete|remove|undeploy|terminate|\
        down",
        "deletes what was deployed",
    ),
    (Infrastructure, "copilot app|env|svc|job|task|pipeline|secret delete", "deletes what was deployed"),
    (Infrastructure, "vagrant destroy", "destroys machines"),
    (Infrastructure, "vagrant box|snapshot remove|delete|prune", "deletes boxes or snapshots"),
    (
        Infrastructure,
        "ansible -m=file|--module-name=file -a=*state=absent*|--args=*state=absent*",
        "removes files \
        on many machines",
    ),
    (Infrastructure, "ansible -a=*state=absent*|--args=*state=absent*", "removes something on many machines"),
    (Infrastructure, "ansible -m=reboot|--module-name=reboot", "reboots many machines"),
    (
        Infrastructure,
        "nomad job|node|volume|namespace|system|operator|var stop|purge|drain|delete|gc|deregister \
        !-dry-run",
        "stops or deletes jobs",
    ),
    (Infrastructure, "nomad stop", "stops a job"),
    (Infrastructure, "consul kv|acl|config|snapshot|peering delete", "deletes keys"),
    (Infrastructure, "consul force-leave|leave", "takes a node out of the cluster"),
    (Infrastructure, "vault delete|operator-seal|seal", "deletes secrets"),
    (Infrastructure, "vault kv delete|destroy", "deletes secrets"),
    (Infrastructure, "vault kv metadata delete", "deletes secrets with all their versions"),
    (
        Infrastructure,
        "vault secrets|auth|policy|audit|plugin|namespace disable|delete|deregister",
        "removes an \
        engine and all its secrets",
    ),
    (Infrastructure, "vault lease|token revoke", "revokes credentials"),
    (Infrastructure, "vault operator seal|migrate", "seals the vault"),
    (Infrastructure, "knife node|client|data|cookbook|environment|role delete|bulk", "deletes from the server"),
    (Infrastructure, "puppet node|cert|apply clean|purge|revoke|destroy", "deletes nodes"),
    (Infrastructure, "salt-key -d|-D|--delete|--delete-all", "deletes keys"),
    (Infrastructure, "juju destroy-*|remove-*|kill-*", "removes what was deployed"),
    (Infrastructure, "multipass delete|purge", "deletes machines"),
    (
        Infrastructure,
        "virsh destroy|undefine|vol-delete|vol-wipe|pool-delete|pool-destroy|snapshot-delete|\
        net-destroy|net-undefine",
        "ends or deletes machines",
    ),
    (Infrastructure, "VBoxManage|vboxmanage unregistervm|closemedium|discardstate --delete", "deletes machines"),
    (Infrastructure, "vmrun deleteVM|deleteSnapshot", "deletes machines"),
    (Infrastructure, "qm|pct destroy|delsnapshot|rollback", "destroys machines"),
    (Infrastructure, "limactl|lima delete|prune|factory-reset", "deletes machines"),
    (Infrastructure, "govc vm.destroy|datastore.rm|object.destroy|pool.destroy|snapshot.remove", "destroys machines"),
    (Infrastructure, "kitchen|molecule|bosh|cf destroy|reset|delete*|delete", "destroys what was deployed"),
    (Infrastructure, "packer|crossplane|waypoint destroy", "destroys what was deployed"),
    (Infrastructure, "nixops destroy|delete", "destroys machines"),
    (Infrastructure, "boundary * delete", "deletes from the server"),
    (Infrastructure, "esxcli vm process kill", "ends a machine"),
    (Infrastructure, "wsl --unregister", "deletes a machine with its files"),
    // Providers.
    (Cloud, "aws s3 rm|rb !--dryrun", "deletes objects or a bucket"),
    (Cloud, "aws s3 sync|mv --delete|--recursive-delete !--dryrun", "deletes objects that the source does not have"),
    (
        Cloud,
        "aws * delete-*|terminate-*|remove-*|purge-*|deregister-*|destroy-*|batch-delete-*|\
        schedule-key-deletion|reset-*|disassociate-*|release-*|cancel-*|revoke-*|empty-*|close-*|*-delete-* !--dry-run|\
        --generate-cli-skeleton",
        "deletes at the provider",
    ),
    (
        Cloud,
        "gcloud +delete|purge|destroy|remove|abandon-instances|delete-instances|delete-access-config",
        "deletes \
        at the provider",
    ),
    (Cloud, "gcloud storage rm", "deletes objects"),
    (
        Cloud,
        "gcloud storage rsync --delete-unmatched-destination-objects !--dry-run|-n",
        "deletes objects that the \
        source does not have",
    ),
    (Cloud, "gcloud alpha|beta storage rm", "deletes objects"),
    (Cloud, "gsutil rm|rb", "deletes objects or a bucket"),
    (Cloud, "gsutil rsync -d !-n", "deletes objects that the source does not have"),
    (Cloud, "az +delete|purge|delete-batch|delete-*|remove|destroy", "deletes at the provider"),
    (Cloud, "az deployment --mode=Complete|--mode=complete", "deletes what the template does not name"),
    (Cloud, "azcopy rm|remove", "deletes blobs"),
    (
        Cloud,
        "azcopy sync --delete-destination=true|--delete-destination=prompt",
        "deletes blobs that the source \
        does not have",
    ),
    (Cloud, "oci +delete|terminate|bulk-delete|delete-*|schedule-deletion", "deletes at the provider"),
    (Cloud, "ibmcloud +delete|rm|*-delete|*-rm|instance-delete", "deletes at the provider"),
    (
        Cloud,
        "aliyun|tccli|hcloud|linode-cli|vultr-cli|vultr|scw|exo|civo|upctl|ovhcloud|openstack|nova|cinder|\
        glance|neutron|swift|doctl|wrangler|railway|render|koyeb|cloudctl|brev|lambda|runpodctl|modal|b2|upsun|\
        platform|eas|expo|flarectl +delete|rm|remove|destroy|terminate|kill|purge|delete-*|*-delete|Delete*|\
        *:delete|deleteBucket|rebuild|delete_* !--dry-run",
        "deletes at the provider",
    ),
    (Cloud, "doctl +d", "deletes at the provider"),
    (Cloud, "railway down", "takes what was deployed down"),
    (Cloud, "aws iam detach-*", "takes rights away"),
    (
        Cloud,
        "aws * set-desired-capacity|update-auto-scaling-group|update-service --desired-capacity=0|--desired-count=0",
        "stops every machine",
    ),
    (Cloud, "certbot delete|revoke|unregister", "deletes or withdraws a certificate"),
    (
        Cloud,
        "rclone purge|delete|deletefile|rmdir|rmdirs|sync|move|moveto|cleanup|dedupe|bisync !-n|--dry-run|-i|\
        --interactive",
        "deletes on one side or the other",
    ),
    (Cloud, "gh|glab repo|project delete|archive|transfer", "deletes a repository"),
    (
        Cloud,
        "gh|glab release|secret|variable|run|cache|gist|label|issue|ssh-key|gpg-key|codespace|cs|project|\
        ruleset|environment|extension|org|mr|ci|pipeline|token|deploy-key|schedule|milestone|snippet delete|remove|\
        rm|delete-asset|delete-*|field-delete|item-delete",
        "deletes at the provider",
    ),
    (Cloud, "gh repo deploy-key|autolink delete", "deletes at the provider"),
    (
        Cloud,
        "gh|glab api -X=DELETE|-X=delete|--method=DELETE|--method=delete",
        "deletes through the interface of \
        the provider",
    ),
    (Cloud, "hub delete|api -y|--yes|-X=DELETE", "deletes a repository"),
    (
        Cloud,
        "heroku *:destroy|*:reset|*:remove|*:delete|destroy|*:killall|*:clear|*:rollback|*:revoke",
        "destroys \
        an application, an add-on or its data",
    ),
    (Cloud, "heroku ps:scale +*=0", "stops an application"),
    (Cloud, "fly|flyctl +destroy|delete|remove|rm|unset|wipe", "destroys an application or its data"),
    (Cloud, "vercel|now|vc remove|rm", "deletes deployments"),
    (
        Cloud,
        "vercel|now|vc env|project|projects|domains|dns|alias|certs|secrets|secret|integration|blob rm|remove|\
        del",
        "deletes at the provider",
    ),
    (Cloud, "netlify|ntl *:delete|*:unset|*:clear", "deletes at the provider"),
    (Cloud, "firebase *:delete|*:remove|*:disable|*:destroy|*:revoke", "deletes at the provider"),
    (Cloud, "s3cmd del|rm|rb|expire|dellifecycle|delpolicy !-n|--dry-run", "deletes objects or a bucket"),
    (Cloud, "s3cmd sync --delete-removed|--delete !-n|--dry-run", "deletes objects that the source does not have"),
    (Cloud, "s5cmd rm|rb", "deletes objects"),
    (Cloud, "s4cmd|s3 del|rm|rb|delete", "deletes objects"),
    (Cloud, "mc|mcli rm|rb !--dry-run", "deletes objects or a bucket"),
    (Cloud, "mc|mcli mirror --remove !--dry-run", "deletes objects that the source does not have"),
    (Cloud, "mc|mcli admin +remove|rm|unset", "deletes at the provider"),
    (Cloud, "b2 rm|delete-*|delete_*", "deletes objects"),
    (Cloud, "surge teardown", "takes a site down"),
    (
        Cloud,
        "wrangler r2|d1|kv|kv:namespace|kv:key|kv:bulk|queues|pages|secret|tail|worker delete|purge",
        "deletes \
        at the provider",
    ),
    (Cloud, "supabase projects|functions|branches|secrets|storage delete|rm|unset", "deletes at the provider"),
    (
        Cloud,
        "dropbox|dbxcli|gdrive|drive|mega-rm|mega rm|delete|remove|trash|emptytrash",
        "deletes files at the \
        provider",
    ),
    (
        Cloud,
        "stripe|twilio|sentry-cli|circleci|travis|buildkite|tfe|auth0|okta|algolia|contentful +delete|remove|\
        destroy|delete_all",
        "deletes at the provider",
    ),
    (Cloud, "http|https|xh|xhs DELETE|delete", "asks a server to delete"),
    // Packages.
    (
        Package,
        "apt|apt-get|aptitude purge|remove|autoremove|autopurge|full-purge !-s|--simulate|--dry-run|\
        --just-print|--no-act|--recon|-d|--download-only",
        "removes packages from the system",
    ),
    (
        Package,
        "apt|apt-get install|upgrade|dist-upgrade --purge|--allow-remove-essential|\
        --allow-downgrades",
        "removes packages from the system",
    ),
    (
        Package,
        "dpkg -P|-r|--purge|--remove|--force-all|--force-remove-essential !--dry-run|--no-act|\
        --simulate",
        "removes packages from the system",
    ),
    (Package, "rpm -e|--erase|--rebuilddb !--test", "removes packages from the system"),
    (Package, "yum|dnf|dnf5|microdnf|tdnf remove|erase|autoremove|rm|swap", "removes packages from the system"),
    (Package, "zypper remove|rm !-D|--dry-run", "removes packages from the system"),
    (Package, "pacman|yay|paru -R|--remove !-p|--print", "removes packages from the system"),
    (Package, "apk del !-s|--simulate", "removes packages from the system"),
    (Package, "brew uninstall|remove|rm|autoremove !-n|--dry-run", "removes packages from the system"),
    (
        Package,
        "emerge|xbps-remove|pkg_delete|opkg|pkgin|slackpkg -C|--unmerge|--depclean|-R|remove|\
        delete",
        "removes packages from the system",
    ),
    (
        Package,
        "opkg|pkg|pkgin|slackpkg|eopkg|swupd remove|delete|autoremove|rm|bundle-remove",
        "removes packages \
        from the system",
    ),
    (Package, "port uninstall|reclaim", "removes packages from the system"),
    (Package, "npm|pnpm|yarn|bun unpublish !--dry-run", "withdraws a published version"),
    (Package, "npm|pnpm uninstall|remove|rm|un|r -g|--global", "removes global packages"),
    (Package, "npm owner|access|team|org|token|dist-tag rm|revoke|destroy|remove", "takes rights or tags away"),
    (Package, "cargo yank !--undo", "withdraws a published version"),
    (Package, "cargo owner --remove|-r", "takes rights away"),
    (Package, "gem yank", "withdraws a published version"),
    (Package, "gem uninstall", "removes packages"),
    (Package, "gem cleanup|clean !--dryrun|--dry-run|-n|-d", "removes packages"),
    (Package, "go clean -modcache|--modcache !-n", "removes every module that was fetched"),
    (Package, "pip|pip3 uninstall", "removes packages"),
    (Package, "conda|mamba|micromamba env remove", "removes an environment"),
    (Package, "conda|mamba|micromamba remove|uninstall --all|-a !--dry-run", "removes an environment"),
    (Package, "uv pip uninstall", "removes packages"),
    (Package, "uv tool|python|self uninstall", "removes tools or interpreters"),
    (Package, "pipx uninstall|uninstall-all", "removes tools"),
    (Package, "pipenv --rm", "removes an environment"),
    (Package, "poetry|hatch env remove|prune", "removes an environment"),
    (Package, "cargo uninstall", "removes tools"),
    (Package, "opam remove|uninstall|purge !--dry-run", "removes packages"),
    (Package, "opam switch|sw remove", "removes an environment"),
    (
        Package,
        "pyenv|rbenv|nodenv|nvm|asdf|fnm|volta|sdk|mise|n|jenv|goenv|plenv uninstall|rm",
        "removes tools or interpreters",
    ),
    (Package, "ghcup rm|nuke", "removes tool chains"),
    (Package, "adb uninstall", "removes an application with its data"),
    (Package, "adb shell pm uninstall|clear", "removes an application or its data"),
    (Package, "snap|flatpak remove|uninstall|purge", "removes packages from the system"),
    (Package, "nix-collect-garbage -d|--delete-old|--delete-older-than !--dry-run", "deletes old generations"),
    (Package, "nix store|profile delete|wipe-history|gc !--dry-run", "deletes from the store"),
    (Package, "nix-env|nix-store -e|--uninstall|--delete-generations|--gc|--delete !--dry-run", "removes packages"),
    (Package, "rustup self uninstall", "removes the tool chains"),
    (Package, "rustup toolchain uninstall|remove", "removes a tool chain"),
    (Package, "choco|scoop|winget uninstall", "removes packages from the system"),
    (Package, "dotnet nuget delete", "withdraws a published version"),
    (Package, "vsce|ovsx|tfx unpublish|unpublish-extension", "withdraws a published version"),
    (Package, "twine|poetry|flit yank", "withdraws a published version"),
    // The system.
    (System, "userdel|groupdel|deluser|delgroup", "deletes a user or a group"),
    (System, "usermod -L|--lock", "locks a user out"),
    (System, "passwd -l|--lock|-d|--delete|-e|--expire", "takes a password away"),
    (System, "reboot|halt|poweroff|pm-suspend|pm-hibernate !-w|--wtmp-only|--help", "stops the machine"),
    (System, "shutdown !-c|-k|--show", "stops the machine"),
    (System, "init|telinit 0|1|6|s|S", "stops the machine"),
    (
        System,
        "systemctl stop|disable|mask|poweroff|reboot|halt|kill|isolate|rescue|emergency|kexec|suspend|\
        hibernate|soft-reboot|default|clean|revert",
        "stops services or the machine",
    ),
    (
        System,
        "service|rc-service|supervisorctl|initctl|sv|invoke-rc.d +stop|shutdown|down|force-stop|\
        remove",
        "stops a service",
    ),
    (System, "svc -d|-k|-x", "stops a service"),
    (System, "launchctl unload|remove|bootout|disable|kill", "stops a service"),
    (System, "update-rc.d|chkconfig|rc-update +remove|disable|del|off", "takes a service out of the start"),
    (System, "pm2 kill|delete|del|stop|flush", "ends processes"),
    (
        System,
        "iptables|ip6tables|ebtables|arptables -F|--flush|-X|--delete-chain",
        "removes the rules of the \
        firewall",
    ),
    (System, "iptables|ip6tables -P|--policy", "changes what the firewall does by default"),
    (System, "nft flush", "removes the rules of the firewall"),
    (System, "nft delete|destroy table|chain|rule|set|map|ruleset", "removes the rules of the firewall"),
    (System, "ufw +reset|disable|delete !--dry-run", "switches the firewall off"),
    (System, "firewall-cmd --remove-*|--delete-*|--panic-on|--complete-reload", "removes the rules of the firewall"),
    (System, "ipset flush|destroy|-F|-X", "removes the rules of the firewall"),
    (System, "crontab -r", "deletes all scheduled jobs"),
    (System, "crontab +-", "puts others in the place of all scheduled jobs"),
    (System, "crontab /dev/null", "deletes all scheduled jobs"),
    (System, "security delete-*", "deletes what a keychain holds"),
    (System, "defaults delete|delete-all", "deletes settings"),
    (Infrastructure, "qemu-img snapshot -d", "deletes a snapshot of a disk"),
    (System, "atrm #1", "deletes scheduled jobs"),
    (System, "history -c", "deletes the history of the shell"),
    (System, "journalctl --vacuum-size|--vacuum-time|--vacuum-files|--rotate", "deletes logs"),
    (System, "dmesg -C|-c|--clear|--read-clear", "deletes the log of the kernel"),
    (System, "swapoff -a|--all", "switches all swap off"),
    (
        System,
        "umount|unmount -a|--all|-f|--force|-l|--lazy|-R|--recursive",
        "takes file systems away from what uses \
        them",
    ),
    (System, "rmmod #1", "removes a kernel module"),
    (System, "modprobe -r|--remove !-n|--dry-run", "removes a kernel module"),
    (System, "ip link|addr|address|route|netns|rule delete|del|flush", "takes the network apart"),
    (System, "ip link set +down", "takes a network device down"),
    (System, "ifconfig +down|delete", "takes a network device down"),
    (System, "ifdown #1", "takes a network device down"),
    (System, "nmcli +delete|del|down|off", "takes a connection down"),
    (System, "loginctl terminate-*|kill-*|poweroff|reboot", "ends sessions"),
    (System, "setenforce 0|Permissive|permissive", "switches protection off"),
    (System, "ipcrm -a|--all", "removes what processes share"),
    (System, "fuser -k|--kill", "kills every process that uses a file"),
    (System, "killall|skill|slay|taskkill !-l|--list|-0|-V|--version", "ends every process of that name"),
    (System, "pkill !-0|-l|--list|-HUP|-USR1|-USR2|-CONT|-WINCH", "ends every process that fits"),
    (System, "kill-port|fkill", "ends processes"),
    (System, "killall5", "ends every process"),
    (
        System,
        "iptables-restore|ip6tables-restore|iptables-legacy-restore !-t|--test|-n|--noflush",
        "replaces the rules of the firewall",
    ),
    (System, "screen +quit|kill", "ends sessions"),
    (System, "tmux kill-server|kill-session", "ends sessions"),
    (System, "efibootmgr -B|--delete-bootnum|-O|--delete-bootorder", "deletes what the machine starts from"),
    (System, "grub-install|update-initramfs|dracut|mkinitcpio -d|--force-all", "changes how the machine starts"),
    (
        System,
        "sc|reg|wevtutil|vssadmin|bcdedit|wbadmin|schtasks +delete|stop|cl|clear-log|shadows|\
        /delete",
        "deletes from the system",
    ),
    (System, "csrutil|spctl disable|--master-disable", "switches protection off"),
    (System, "tc qdisc +del|delete", "removes the rules of the network"),
    (
        System,
        "gpg|gpg2 --delete-key|--delete-keys|--delete-secret-key|--delete-secret-keys|\
        --delete-secret-and-public-key",
        "deletes keys",
    ),
    (System, "ssh-add -D", "removes all keys from the agent"),
    (System, "tpm2_clear|tpm_clear|tpm2_evictcontrol", "clears the keys of the machine"),
    (System, "update-alternatives --remove-all|--remove", "removes alternatives"),
    (System, "nginx -s=stop|-s=quit", "stops a service"),
    (System, "apachectl|apache2ctl|httpd -k=stop|-k=graceful-stop", "stops a service"),
    (System, "apachectl|apache2ctl stop|graceful-stop", "stops a service"),
    (System, "pg_ctl|pg_ctlcluster +stop|kill", "stops a service"),
    (System, "brew services stop|kill", "stops a service"),
    (System, "chage -E=0|--expiredate=0", "locks a user out"),
    (System, "keytool -delete", "deletes keys"),
    (System, "nvram -c|-d", "deletes what the machine starts from"),
    (System, "mount -o=*remount,ro*", "takes the right to write from what uses a file system"),
    (System, "dscl +-delete|delete", "deletes a user"),
    (System, "dscl -delete", "deletes a user"),
    (System, "networksetup -removenetworkservice|-removeallpreferredwirelessnetworks", "takes the network apart"),
];

/// How many programs the patterns name.
const NAMES: usize = {
    let (mut row, mut names) = (0, 0);
    while row < ACTS.len() {
        names += index::count(ACTS[row].1, b'|', Some(b' '));
        row += 1;
    }
    names
};

/// Which rows are about a program.
static INDEX: Index<NAMES> = {
    let (mut index, mut row) = (Index::new(), ACTS.len());
    while row > 0 {
        row -= 1;
        index = index.add(ACTS[row].1, b'|', Some(b' '), row);
    }
    index
};

/// What the table says about `line`. One warning for one command: the first row that fits says it.
pub(super) fn hit(line: &Line) -> Option<Hit> {
    let fitting = |row: &usize| ACTS.get(*row).is_some_and(|(_, pattern, _)| matches(pattern, line));
    let (named, wild) = (INDEX.named(&line.program).find(fitting), INDEX.wild().find(fitting));
    let first = named.into_iter().chain(wild).min()?;
    let (category, pattern, why) = ACTS.get(first)?;
    let path: Vec<&str> = (0..leading(pattern).count()).map(|at| line.operand(at)).collect();
    let shown = if path.is_empty() { String::new() } else { format!(" {}", path.join(" ")) };
    Some((*category, format!("`{}{shown}` {why}", line.program)))
}

/// The leading operands of a pattern.
fn leading(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split_whitespace().skip(1).take_while(|word| !word.starts_with(['-', '+', '#', '!']))
}

fn matches(pattern: &str, line: &Line) -> bool {
    let (programs, words) = pattern.split_once(' ').unwrap_or((pattern, ""));
    if !fits_one(programs, &line.program) {
        return false;
    }
    let words = words.split(' ').filter(|word| !word.is_empty());
    let (mut path, mut leads) = (0, true);
    for word in words {
        leads &= !word.starts_with(['-', '+', '#', '!']);
        let there = if leads {
            let given = line.operands.get(path).filter(|piece| piece.known || word == "*");
            path += 1;
            given.is_some_and(|piece| fits_one(word, &piece.text))
        } else {
            needed(word, path, line)
        };
        if !there {
            return false;
        }
    }
    true
}

/// Whether a row may be about `program`.
pub(super) fn names(program: &str) -> bool {
    let wild = |row: usize| {
        let programs = ACTS.get(row).and_then(|(_, pattern, _)| pattern.split_ascii_whitespace().next());
        programs.is_some_and(|programs| fits_one(programs, program))
    };
    INDEX.named(program).next().is_some() || INDEX.wild().any(wild)
}

fn needed(need: &str, path: usize, line: &Line) -> bool {
    if let Some(not) = need.strip_prefix('!') {
        return !needed(not, path, line);
    }
    let behind = line.operands.get(path..).unwrap_or_default();
    if let Some(count) = need.strip_prefix('#') {
        return count.parse().is_ok_and(|count: usize| behind.len() >= count);
    }
    if let Some(operands) = need.strip_prefix('+') {
        return behind.iter().any(|piece| fits_one(operands, &piece.text));
    }
    if !need.starts_with('-') {
        return behind.iter().any(|piece| fits_one(need, &piece.text));
    }
    need.split('|').any(|option| match option.split_once('=') {
        None if option.ends_with('*') => line.flags.iter().any(|flag| fits(option, &flag.name)),
        None => line.has(option),
        Some((name, value)) => line.values(name).any(|piece| fits(value, &piece.text)),
    })
}
