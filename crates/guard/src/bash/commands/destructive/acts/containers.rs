//! What removes containers, images and volumes.

use super::Act;

/// Containers and what belongs to them.
pub(super) const CONTAINERS: &[Act] = &[
    ("docker|podman|nerdctl rm|rmi|kill", "removes containers or images"),
    (
        "docker|podman|nerdctl container|image|volume|network|builder|system|buildx|pod|machine|context|secret|\
            config|node|service|stack|plugin|trust|manifest|checkpoint rm|remove|prune|kill|delete|reset",
        "removes containers, images, volumes or what belongs to them",
    ),
    ("docker|podman|nerdctl compose down -v|--volumes|--rmi", "removes volumes or images"),
    ("docker|podman|nerdctl compose rm -f|--force|-v|-s|--stop", "removes containers"),
    ("docker|podman|nerdctl compose kill", "kills containers"),
    ("docker-compose|podman-compose down -v|--volumes|--rmi", "removes volumes or images"),
    ("docker-compose|podman-compose rm -f|--force|-v|-s|--stop", "removes containers"),
    ("docker-compose|podman-compose kill", "kills containers"),
    ("docker swarm leave -f|--force", "takes the node out of its swarm"),
    ("buildah rm|rmi|prune", "removes containers or images"),
    ("crictl rm|rmi|rmp", "removes containers or images"),
    (
        "ctr|containerd containers|images|image|container|c|i|snapshots|namespaces rm|delete|del|remove|prune",
        "removes containers or images",
    ),
    ("skopeo delete", "deletes an image from a registry"),
    ("crane|regctl|oras delete", "deletes an image from a registry"),
    ("regctl tag|repo|image delete|rm", "deletes an image from a registry"),
    ("lxc|incus delete|rm", "deletes containers"),
    ("lxc|incus storage|network|profile|image|snapshot|project delete|rm", "deletes what containers need"),
    ("lxc-destroy", "deletes containers"),
    ("machinectl remove|terminate|kill|poweroff", "ends or removes machines"),
    (
        "docker|podman|nerdctl model|extension|sandbox|namespace|quadlet|artifact|farm rm|remove|prune|uninstall|\
            delete",
        "removes containers, images or what belongs to them",
    ),
    ("docker|podman|nerdctl stack|kube down", "removes services"),
    ("podman pod|system rm|reset|prune|kill", "removes containers"),
    (
        "ctr|containerd tasks|task|t|content|leases|lease|run rm|delete|del|kill|remove|prune",
        "removes containers or images",
    ),
    ("runc|crun|youki|runsc|kata-runtime delete|kill", "removes containers"),
    ("toolbox|distrobox rm|rmi", "removes containers"),
    ("distrobox-rm|toolbox-rm|distrobox-stop", "removes containers"),
    ("apptainer|singularity delete", "deletes an image"),
    ("reg|img rm", "removes images"),
    ("buildctl|earthly prune", "removes images"),
    ("hub-tool * rm|inactivate", "deletes an image from a registry"),
    ("oras manifest|repo|blob|tag delete|rm", "deletes an image from a registry"),
    ("ddev delete|clean", "removes containers and their databases"),
    ("ddev snapshot --cleanup|-c", "deletes snapshots of a database"),
    ("lando destroy", "removes containers and their databases"),
    ("fin|docksal remove|rm|cleanup|reset", "removes containers and their databases"),
    ("sail|dip|warden|fin down -v|--volumes|--rmi", "removes volumes or images"),
    ("warden env down -v|--volumes", "removes volumes"),
    ("lxc-snapshot -d|--destroy", "deletes snapshots"),
];
