//! What the console of a framework or of a site does to its database.

use super::Act;

/// Consoles, by their name without its directory.
pub(super) const FRAMEWORKS: &[Act] = &[
    (
        "rails|rake +db:drop*|db:reset*|db:purge*|db:truncate*|db:schema:load*|db:structure:load*|db:migrate:reset*|\
            db:migrate:down*|db:rollback*|db:seed:replant*",
        "drops or resets a database",
    ),
    (
        "manage.py|django-admin|django flush|reset_db|clear_cache|delete_*|clearsessions|reset_schema|\
            remove_stale_contenttypes",
        "empties the database",
    ),
    ("manage.py|django-admin|django migrate +zero", "takes all migrations of an app back"),
    ("artisan migrate:fresh|migrate:reset|migrate:refresh|migrate:rollback|db:wipe|cache:clear-all", "drops tables"),
    ("console doctrine:database:drop|doctrine:schema:drop|doctrine:fixtures:load", "drops the database"),
    ("wp db drop|reset|clean", "drops tables"),
    ("wp @* db drop|reset|clean", "drops tables"),
    ("wp site|post|user empty|delete", "deletes content"),
    ("drush sql-drop|sql:drop|site:install|sql-sanitize", "drops tables"),
    ("artisan queue:flush|queue:clear|model:prune|telescope:clear|telescope:prune", "deletes rows"),
    (
        "rails|rake +db:setup*|db:migrate:redo*|active_storage:purge*|db:fixtures:load*|db:mongoid:drop*|\
            db:mongoid:purge*",
        "drops or resets a database",
    ),
    ("rails|rake +db:migrate|db:migrate:* +VERSION=0", "takes all migrations back"),
    (
        "manage.py|django-admin|django clear_*|drop_*|purge_*|wipe_*|reset_*|truncate_*|flush_*|unload_*",
        "deletes rows or tables",
    ),
    ("ace migration:rollback|migration:reset|migration:refresh|migration:fresh|db:wipe|db:truncate", "drops tables"),
    (
        "artisan db:truncate|horizon:clear|horizon:purge|scout:flush|scout:delete-index|scout:delete-all-indexes|\
            backup:clean|passport:purge|october:fresh|winter:fresh|schema:drop|queue:prune-*|media-library:clear|\
            activitylog:clean|tenants:migrate-fresh|tenants:rollback|module:migrate-refresh|module:migrate-rollback|\
            module:migrate-reset",
        "drops tables or deletes rows",
    ),
    (
        "console|doctrine d:d:d|d:s:d|d:f:l|doctrine:mongodb:schema:drop|orm:schema-tool:drop|fos:elastica:reset|\
            messenger:failed:remove|doctrine:phpcr:workspace:purge",
        "drops the database",
    ),
    (
        "symfony console doctrine:database:drop|doctrine:schema:drop|doctrine:fixtures:load|d:d:d|d:s:d|d:f:l|\
            doctrine:mongodb:schema:drop|messenger:failed:remove",
        "drops the database",
    ),
    ("console doctrine:migrations:migrate|d:m:m|migrations:migrate +first|prev|0", "takes migrations back"),
    ("symfony console doctrine:migrations:migrate|d:m:m +first|prev|0", "takes migrations back"),
    ("console doctrine:migrations:execute|d:m:e|migrations:execute --down", "takes migrations back"),
    ("console doctrine:schema:update --complete", "drops what the classes do not name"),
    ("console system:install|system:setup --drop-database", "drops the database"),
    ("console plugin:uninstall|user:delete|customer:delete", "removes data of a plugin or a user"),
    ("yii migrate/down|migrate/fresh|migrate/redo|migrate/to|fixture/unload|migrate-*/down", "takes migrations back"),
    ("cake migrations rollback", "takes migrations back"),
    ("cake schema drop", "drops tables"),
    ("spark migrate:rollback|migrate:refresh|db:wipe|db:drop", "takes migrations back"),
    (
        "wp plugin|theme|comment|term|media|option|menu|widget|role|cap delete|uninstall|empty|remove|reset",
        "deletes content or code of the site",
    ),
    (
        "drush entity:delete|edel|entity-delete|pm:uninstall|pmu|pm-uninstall|user:cancel|ucan|user-cancel|\
            config:delete|cdel|config-delete|state:delete|sdel|si|site-install|sql:sanitize|sqlsan|migrate:rollback|\
            mr|migrate-rollback|queue:delete|watchdog:delete|wd-del|watchdog-delete|field:delete|role:delete|\
            search-api:clear|sapi-c|sql:create|sql-create|theme:uninstall",
        "deletes content or tables of the site",
    ),
    (
        "drush @* sql-drop|sql:drop|si|site:install|site-install|entity:delete|edel|pm:uninstall|pmu|user:cancel|\
            ucan|config:delete|cdel|sql:sanitize|sql-sanitize|migrate:rollback|mr",
        "deletes content or tables of the site",
    ),
    (
        "drupal database:drop|site:install|module:uninstall|entity:delete|user:delete|config:delete",
        "deletes content or tables of the site",
    ),
    (
        "magento|n98-magerun|n98-magerun2|magerun|magerun2|n98 setup:uninstall|setup:rollback|module:uninstall|\
            theme:uninstall|db:drop|customer:delete|admin:user:delete|indexer:reset|eav:attribute:remove|\
            sys:cron:kill|media:cache:clear",
        "deletes the data of the shop",
    ),
    (
        "occ user:delete|group:delete|trashbin:cleanup|versions:cleanup|app:remove|files_external:delete|\
            config:system:delete|config:app:delete|files:cleanup|talk:room:delete|security:certificates:remove|\
            groupfolders:delete|share:delete",
        "deletes accounts or files",
    ),
    (
        "craft migrate/down|plugin/uninstall|users/delete|entries/delete|db/drop-all-tables|db/drop-table-prefix|gc|\
            elements/delete|elements/delete-all-of-type|sections/delete|utils/prune-*",
        "deletes content or tables of the site",
    ),
    ("flow site:prune|resource:clean|user:delete", "deletes content of the site"),
    ("typo3|typo3cms extension:remove|cleanup:deletedrecords", "deletes content of the site"),
    (
        "tootctl accounts|media|statuses|cache|domains|emoji|feeds|preview_cards delete|remove|purge|cull|prune|\
            clear|remove-orphans|self-destruct",
        "deletes content of the site",
    ),
    ("tootctl self-destruct", "deletes the site"),
    ("gitlab-ctl cleanse|uninstall|stop|remove-accounts", "stops or removes the server"),
    ("gitlab-rake gitlab:setup|gitlab:cleanup:*|db:drop*|db:reset*", "drops or resets a database"),
    ("gitea|forgejo admin user|repo|auth delete", "deletes from the server"),
    (
        "bench drop-site|reinstall|uninstall-app|remove-app|remove-from-installed-apps|trim-database|trim-tables|\
            restore|partial-restore",
        "drops a site or its tables",
    ),
    ("odoo|odoo-bin db drop", "drops the database"),
    ("click-odoo-dropdb|click-odoo-cleandb|odoo-dropdb", "drops the database"),
    ("ghost uninstall", "removes the site"),
    ("strapi import -f|--force", "replaces all content"),
    ("meteor reset", "drops the local database"),
    ("meteor deploy -D|--delete", "takes the application down"),
    ("launcher destroy|cleanup", "takes the site down"),
    ("sentry cleanup", "deletes rows"),
];
