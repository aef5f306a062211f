//! Words that people use for one another when they ask for a tool. One table for all tools: what *show* finds, *see* and
//! *view* find, too, whichever of them a tool's author wrote.

/// Each line says one thing. A word may stand in several.
pub(crate) const SYNONYMS: &[&str] = &[
    "show list see view display look inspect browse print overview exist",
    "get fetch retrieve show read look view inspect",
    "stop cancel interrupt abort kill terminate end halt",
    "make create new add open file record",
    "change update modify edit alter patch tweak revise correct fix adjust substitute swap",
    "delete remove discard drop clear wipe forget empty scrap abandon",
    "start begin launch take pick claim",
    "run execute invoke call perform launch",
    "user human person operator someone somebody people",
    "restore revert undo undone rollback reverted",
    "picture image photo",
    "folder directory subfolder subdirectory dir",
    "ticket task issue",
    "done finished complete completed finish resolve check tick",
    "finish end",
    "find search locate seek",
    "ask prompt request question query",
    "reply answer respond",
    "agent assistant helper subagent colleague",
    "save store write put",
    "assign reassign assignment owner ownership",
    "draft outline propose proposal prepare sketch",
    "contents content text",
    "divide split break distribute",
    "present submit show",
    "produce answer result output found",
    "internet web online website",
    "process job command program",
];
