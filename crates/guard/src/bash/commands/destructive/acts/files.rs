//! What removes or empties files.

use super::Act;

/// `rm`, `find`, `mv`, `cp`, `chmod` and `dd` are checks.
pub(super) const FILES: &[Act] = &[
    ("shred|srm|wipe|sdelete|scrub !--version|--help", "overwrites files so that nothing can be had back"),
    ("rimraf|del-cli", "removes trees"),
    ("truncate -s=0*|--size=0*|-s=-*|--size=-*|-s=<*|--size=<*", "empties or cuts files"),
    (
        "rsync --delete|--del|--delete-before|--delete-during|--delete-delay|--delete-after|--delete-excluded|\
            --remove-source-files|--delete-missing-args !-n|--dry-run|--list-only",
        "deletes files that the other side does not have",
    ),
    ("zip -m|--move|-d|--delete", "deletes files after archiving, or from the archive"),
    ("7z|7za|7zr -sdel", "deletes files after archiving"),
    ("7z|7za|7zr d", "deletes files from an archive"),
    ("rar m|mf|d", "deletes files after archiving, or from the archive"),
    ("tar|bsdtar|gtar --remove-files|--delete", "deletes files after archiving, or from the archive"),
    ("trash-empty|trash-rm|tmpwatch|tmpreaper|bleachbit", "deletes for good"),
    ("gio trash --empty", "empties the trash"),
    ("gio trash #1 !--list|--restore", "puts files into the trash, and trees with all that is in them"),
    ("gio remove", "removes files for good"),
    ("fdupes|jdupes|rdfind -d|--delete|-deleteduplicates", "deletes duplicates"),
    ("robocopy +/mir|/MIR|/purge|/PURGE|/move|/MOVE|/mov|/MOV", "deletes files that the source does not have"),
    ("setfacl -b|--remove-all -R|--recursive", "removes the access lists of a tree"),
    ("Remove-Item|ri -Recurse|-recurse|-Force|-force|-r", "removes trees"),
    ("del|erase +/s|/S|/q|/Q|/f|/F", "deletes files of a tree"),
    ("rd +/s|/S", "removes a tree"),
    ("hdfs dfs -rm|-rmr|-expunge", "deletes files of a cluster"),
    ("hadoop fs -rm|-rmr|-expunge", "deletes files of a cluster"),
    ("dvc gc|destroy !--dry", "deletes data that no version names"),
    ("git annex drop|dropunused|unannex --force", "deletes data that may have no other copy"),
    ("ipfs pin rm", "lets go of data"),
    ("ipfs repo gc", "deletes data that nothing holds"),
    ("npkill", "removes trees"),
    ("tar|bsdtar|gtar --recursive-unlink", "removes whole directories before it writes them"),
    ("rails destroy|d", "removes the files that a generator made"),
    ("xcrun simctl erase|delete", "erases simulators"),
    ("rmdir +/s|/S", "removes a tree"),
    ("lftp -e=*--delete*|-c=*--delete*|-e=*rm*|-c=*rm*", "deletes files of the server or here"),
    ("hdfs|ozone dfs|fs -rm*|-rmr|-expunge|-truncate|-deleteSnapshot", "deletes files of a cluster"),
    ("fclones remove", "deletes duplicates"),
    ("kioclient|kioclient5|kioclient6 remove|rm|del", "removes files for good"),
    ("unison -force", "deletes files that the other side does not have"),
    ("sfill", "overwrites what was left on a disk"),
    ("safe-rm -r|-R|--recursive", "removes trees"),
    ("deltree|Clear-RecycleBin", "removes trees"),
];
