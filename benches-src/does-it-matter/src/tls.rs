//! TLS 1.3 as services have it: a certificate that a root signed, and the two sides' configurations.

use std::io::{Read, Write};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, HandshakeKind, RootCertStore, ServerConfig, ServerConnection,
    SideData,
};

/// The name that the certificate is for.
pub const NAME: &str = "localhost";

/// A server's certificate and key (ECDSA over P-256), and the root that signed it; new each time.
pub struct Identity {
    root: CertificateDer<'static>,
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    /// Signs a certificate for [`NAME`] with a root that nobody else knows.
    pub fn new() -> Result<Self> {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new([NAME.to_owned()])?.signed_by(&key, &authority)?;
        Ok(Self {
            root: authority.as_ref().der().clone(),
            certificate: certificate.into(),
            key: key.serialize_der().into(),
        })
    }

    /// The root's certificate (DER), which a client in another process needs.
    pub fn root(&self) -> &[u8] {
        &self.root
    }

    /// A server that keeps no sessions: what it needs to resume one is in the ticket that it gave to the client.
    pub fn server_config(&self) -> Result<Arc<ServerConfig>> {
        let key = PrivateKeyDer::Pkcs8(self.key.clone_key());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], key)?;
        config.ticketer = ring::Ticketer::new()?;
        Ok(Arc::new(config))
    }
}

/// A client that trusts this root (DER) alone, and keeps tickets if `resumes`.
pub fn client_config(root: &[u8], resumes: bool) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(root.to_vec()))?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    if !resumes {
        config.resumption = Resumption::disabled();
    }
    Ok(Arc::new(config))
}

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one that called.
    Client,
    /// The one that was called.
    Server,
}

/// Both sides of a connection in one thread, with nothing between them but memory.
pub struct Pair {
    /// The side that called.
    pub client: ClientConnection,
    /// The side that was called.
    pub server: ServerConnection,
    wire: Vec<u8>,
}

impl Pair {
    /// Shakes hands, until neither side has anything left to say.
    pub fn connect(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Result<Self> {
        Self::connect_by_turns(client, server, |_| {})
    }

    /// The same, told before each turn whose it is: what follows, up to the next call, is that side's own work.
    pub fn connect_by_turns(
        client: &Arc<ClientConfig>,
        server: &Arc<ServerConfig>,
        mut turn: impl FnMut(Side),
    ) -> Result<Self> {
        turn(Side::Client);
        let name = ServerName::try_from(NAME)?;
        let mut client = ClientConnection::new(client.clone(), name)?;
        turn(Side::Server);
        let mut server = ServerConnection::new(server.clone())?;
        let mut wire = Vec::new();
        while client.wants_write() || server.wants_write() {
            turn(Side::Client);
            say_all(&mut client, &mut wire)?;
            turn(Side::Server);
            hear_all(&mut server, &wire)?;
            say_all(&mut server, &mut wire)?;
            turn(Side::Client);
            hear_all(&mut client, &wire)?;
        }
        ensure!(!client.is_handshaking() && !server.is_handshaking(), "the handshake did not end");
        Ok(Self { client, server, wire })
    }

    /// Both sides have to agree that they did this kind.
    pub fn ensure_was(&self, wanted: HandshakeKind) -> Result<()> {
        let kinds = (self.client.handshake_kind(), self.server.handshake_kind());
        ensure!(kinds == (Some(wanted), Some(wanted)), "the handshake was {kinds:?}");
        Ok(())
    }

    /// Seals what the client says and opens it at the server, into `heard`, which is as long.
    pub fn say(&mut self, said: &[u8], heard: &mut [u8]) -> Result<()> {
        self.client.writer().write_all(said)?;
        say_all(&mut self.client, &mut self.wire)?;
        hear_all(&mut self.server, &self.wire)?;
        self.server.reader().read_exact(heard).context("what the client said has not all come")
    }
}

/// Puts all that a side has to say on the wire, in place of what was there.
fn say_all<S: SideData>(side: &mut ConnectionCommon<S>, wire: &mut Vec<u8>) -> Result<()> {
    wire.clear();
    while side.wants_write() {
        side.write_tls(wire)?;
    }
    Ok(())
}

/// Takes all that is on the wire.
fn hear_all<S: SideData>(side: &mut ConnectionCommon<S>, mut wire: &[u8]) -> Result<()> {
    while !wire.is_empty() {
        side.read_tls(&mut wire)?;
        side.process_new_packets()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_keeps_tickets_resumes_and_another_does_not() {
        let identity = Identity::new().unwrap();
        let server = identity.server_config().unwrap();
        for (resumes, second) in [(true, HandshakeKind::Resumed), (false, HandshakeKind::Full)] {
            let client = client_config(identity.root(), resumes).unwrap();
            for expected in [HandshakeKind::Full, second, second] {
                let pair = Pair::connect(&client, &server).unwrap();
                let exchange = pair.client.negotiated_key_exchange_group().unwrap();
                assert_eq!(exchange.name(), rustls::NamedGroup::X25519);
                assert_eq!(pair.client.tls13_tickets_received(), 2);
                assert_eq!(pair.client.handshake_kind(), Some(expected));
                assert_eq!(pair.server.handshake_kind(), Some(expected));
            }
        }
    }

    #[test]
    fn a_client_refuses_a_certificate_that_another_root_signed() {
        let (identity, other) = (Identity::new().unwrap(), Identity::new().unwrap());
        let client = client_config(other.root(), false).unwrap();
        let error = Pair::connect(&client, &identity.server_config().unwrap()).err().unwrap();
        assert!(error.to_string().contains("invalid peer certificate"), "{error}");
    }

    #[test]
    fn what_is_said_is_heard() {
        let identity = Identity::new().unwrap();
        let client = client_config(identity.root(), false).unwrap();
        let mut pair = Pair::connect(&client, &identity.server_config().unwrap()).unwrap();
        let said: Vec<u8> = (0..16 * 1024).map(|index| (index % 251) as u8).collect();
        for _ in 0..3 {
            let mut heard = vec![0; said.len()];
            pair.say(&said, &mut heard).unwrap();
            assert_eq!(heard, said);
            assert_eq!(
                pair.wire.len(),
                5 + said.len() + 1 + 16,
                "one record: its head, what was said, its type, its tag"
            );
        }
    }
}
