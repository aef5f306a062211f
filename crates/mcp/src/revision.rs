//! The revisions of MCP that are spoken, and what differs between them.

use rmcp::model::ProtocolVersion;

/// A revision, older ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    /// Initialize handshake, elicitation, structured content, resource links; no batches.
    V2025_06_18,
    /// The same with titled choices in elicitation.
    V2025_11_25,
    /// No handshake and no requests to the client: every request says who asks, and a result may
    /// be a question.
    V2026_07_28,
}

/// All of them, as the SDK names them.
pub(crate) const SPOKEN: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// Names in `_meta` that 2026-07-28 reserves.
pub(crate) mod key {
    pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
}

impl Revision {
    /// The newest that has a handshake: what a client of an unknown revision is offered.
    pub(crate) const NEWEST_WITH_HANDSHAKE: Revision = Revision::V2025_11_25;

    /// By its date.
    pub(crate) fn parse(date: &str) -> Option<Revision> {
        match date {
            "2025-06-18" => Some(Revision::V2025_06_18),
            "2025-11-25" => Some(Revision::V2025_11_25),
            "2026-07-28" => Some(Revision::V2026_07_28),
            _ => None,
        }
    }

    /// Its date.
    pub(crate) fn date(self) -> &'static str {
        match self {
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// As the SDK names it.
    pub(crate) fn version(self) -> ProtocolVersion {
        SPOKEN[self as usize].clone()
    }

    /// Whether requests carry their own context and questions travel as results.
    pub(crate) fn is_stateless(self) -> bool {
        self >= Revision::V2026_07_28
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree() {
        for version in SPOKEN {
            let revision = Revision::parse(version.as_str()).expect("spoken");
            assert_eq!(revision.date(), version.as_str());
            assert_eq!(revision.version(), *version);
        }
    }
}
