//! What deletes queues, topics and jobs, with what waits in them.

use super::Act;

/// Brokers, and what works through their queues.
pub(super) const QUEUES: &[Act] = &[
    (
        "kafka-topics|kafka-topics.sh|kafka-configs|kafka-configs.sh|kafka-consumer-groups|kafka-consumer-groups.sh \
            --delete|--delete-offsets",
        "deletes topics",
    ),
    ("kafka-consumer-groups|kafka-consumer-groups.sh --reset-offsets !--dry-run", "moves what was read"),
    ("kafka-delete-records|kafka-delete-records.sh", "deletes records"),
    ("kcat|rpk topic|cluster|group delete|delete-*", "deletes topics"),
    (
        "rabbitmqctl delete_*|purge_queue|reset|force_reset|forget_cluster_node|clear_*",
        "deletes queues, users or state",
    ),
    ("rabbitmqadmin delete|purge", "deletes queues"),
    ("nats|jsm stream|str|s|kv|object|consumer|con rm|del|delete|purge", "deletes a stream or what it holds"),
    ("kafka-acls|kafka-acls.sh --remove", "takes rights away"),
    ("kafka-storage|kafka-storage.sh format", "formats the storage of a broker"),
    (
        "kafka-streams-application-reset|kafka-streams-application-reset.sh !--dry-run",
        "moves what was read, and deletes topics",
    ),
    ("kafkactl|kaf|topicctl delete|delete-topic|rm|reset|remove", "deletes topics"),
    ("kaf|kafkactl|confluent|kcctl topic|group|node|connector|kafka +delete|rm|remove", "deletes topics"),
    ("confluent +delete", "deletes at the provider"),
    ("kcctl delete|stop|remove", "deletes a connector"),
    ("rpk +delete|trim-prefix|offset-delete|decommission", "deletes topics or members"),
    ("rpk container purge", "deletes a cluster"),
    ("rabbitmqadmin +delete|purge", "deletes queues"),
    (
        "rabbitmq-queues|rabbitmq-streams delete_member|shrink|delete_replica|delete_super_stream",
        "deletes a copy of a queue",
    ),
    ("lavinmqctl purge_queue|delete_*|reset|clear_*|close_all_connections", "deletes queues"),
    (
        "nats|jsm stream|str|s|kv|object|obj|consumer|con|context|auth|account rmm|rm|del|delete|purge|peer-remove|\
        cluster-remove",
        "deletes a stream or what it holds",
    ),
    ("nsc delete", "takes rights away"),
    (
        "pulsar-admin +delete|delete-*|terminate|clear-backlog|skip|skip-all|remove-*|reset-cursor|expire-messages|\
            expire-messages-all-subscriptions|unsubscribe|unload",
        "deletes topics or what waits in them",
    ),
    ("activemq purge|stop", "empties a queue"),
    ("artemis +purge|destroy|delete|delete-*", "deletes queues"),
    ("celery +purge|queue.purge|queue.delete|exchange.delete|discard_all", "throws away what waits in the queues"),
    ("rq empty", "throws away what waits in the queues"),
    (
        "gearadmin --drop-function|--shutdown|--cancel-job|--drop-job|--drop-function=*",
        "throws away what waits in the queues",
    ),
    ("temporal +delete|terminate|reset|reset-batch|delete-*", "ends or deletes workflows"),
    ("tctl +delete|del|terminate|term|reset|reset-batch|purge|delete-*", "ends or deletes workflows"),
    ("cadence +delete|terminate|term|reset|reset-batch", "ends or deletes workflows"),
    ("zbctl|c8ctl cancel|delete|purge", "ends or deletes workflows"),
    ("mosquitto_ctrl +delete*|remove*", "takes clients or rights away"),
    (
        "emqx|emqx_ctl|emqxctl +delete|del|leave|force-leave|kick|uninstall|clean|remove|clear",
        "takes clients, rights or members away",
    ),
    ("vmq-admin +leave|delete|destroy|disconnect|stop", "takes clients or members away"),
    ("airflow * delete|clear-all|delete-*", "deletes runs or settings"),
    ("airflow|astro db reset|clean|drop-archived|downgrade", "empties the database"),
    ("astro +delete|kill", "deletes at the provider"),
    ("dagster|dagster-cloud +delete|wipe|delete-location", "deletes runs or assets"),
    ("prefect * delete|purge|delete-*|clear", "deletes runs or settings"),
    ("prefect server database reset|downgrade", "empties the database"),
    (
        "mlflow experiments|runs|deployments|models|registered-models|artifacts delete|delete-*",
        "deletes runs or models",
    ),
    ("mlflow gc", "deletes runs for good"),
    ("wandb sweep --cancel|--stop", "ends runs"),
    ("wandb sync --clean|--clean-force", "deletes runs"),
    (
        "huggingface-cli|hf repo|repos|repo-files|tag|collections|jobs|endpoints|spaces +delete|rm|cancel|delete-files",
        "deletes at the provider",
    ),
    ("kaggle * delete", "deletes at the provider"),
    ("flink cancel|stop", "ends jobs"),
    ("yarn application|app|applicationattempt -kill|-destroy|-stop", "ends jobs"),
    ("mapred job -kill|-kill-task", "ends jobs"),
    ("spark-submit --kill", "ends jobs"),
    ("oozie job -kill|-suspend", "ends jobs"),
    ("sqoop|sqoop-job job --delete", "deletes jobs"),
    ("pachctl delete|stop|squash", "deletes repositories or pipelines"),
    ("scancel|qdel|bkill|condor_rm|llcancel|oardel|canceljob", "ends jobs"),
    ("sacctmgr delete|remove", "deletes accounts"),
    ("scontrol delete|shutdown|cancel_reboot|takeover", "ends jobs or the scheduler"),
    ("pueue kill|reset|clean|remove", "ends jobs"),
    ("tsp -K|-C|-k", "ends jobs"),
];
