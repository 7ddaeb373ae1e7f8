//! Tells the end of a task to the address that it named: signed, to hosts that the owner listed, again and again until it
//! is heard. What is to be told stands in the store, so that it survives a restart; two servers do not tell it twice.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use super::places::{check_web_url, look_up};
use crate::clock::{Cancel, Clock};
use crate::config::{self, Secret};
use crate::error::{Error, Kind, Result};
use crate::jobs::lease::unix_ms;
use crate::jobs::service::JobService;
use crate::jobs::store::web::{DueWebhook, WebhookOutcome};
use crate::model_client::{PinnedPost, post_pinned};
use crate::platform::browser::network::{NetworkRules, RequestedHost};

const HOSTS_KEY: &str = "jobs.webhook_hosts";
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// A host that does not answer in this time has not heard it.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// So long nobody else takes a webhook that is being told.
const HELD_MS: i64 = 60_000;
/// So often it is tried; the last time is most of two hours after the first.
const MOST_ATTEMPTS: i64 = 8;
const FIRST_PAUSE_MS: i64 = 1_000;
const LONGEST_PAUSE_MS: i64 = 3_600_000;

pub const TIMESTAMP_HEADER: &str = "x-oso-timestamp";
pub const SIGNATURE_HEADER: &str = "x-oso-signature";

/// Whether a task may name this address.
pub fn check_webhook(url: &str, config: &config::Jobs) -> Result<()> {
    let refused = |message: &str| Err(Error::new(Kind::PermissionDenied, message).with("field", "webhook"));
    if config.webhook_hosts.is_empty() {
        return refused("'webhook' is refused: the owner lists no hosts in jobs.webhook_hosts");
    }
    if config.webhook_secret.is_none() {
        return refused(
            "'webhook' is refused: the owner has not set jobs.webhook_secret, which signs webhooks",
        );
    }
    check_web_url(url, &rules(config), "webhook").map(drop)
}

fn rules(config: &config::Jobs) -> NetworkRules {
    NetworkRules::only(config.webhook_hosts.clone(), HOSTS_KEY)
}

/// What is told of a task: what the gate lets out of it.
pub type TellTask = Arc<dyn Fn(&str) -> Result<Value, String> + Send + Sync>;

/// Tells the ends of tasks until it is dropped.
pub struct WebhookSender {
    ended: Cancel,
    thread: Option<JoinHandle<()>>,
}

impl WebhookSender {
    /// None where the owner allows no webhooks.
    pub fn start(jobs: Arc<JobService>, tell: TellTask) -> Option<Self> {
        let secret = jobs.config.webhook_secret.clone().filter(|_| !jobs.config.webhook_hosts.is_empty())?;
        let ended = Cancel::new();
        let delivery = WebhookDelivery { jobs, tell, secret, ended: ended.clone(), clock: Clock::real() };
        let thread = std::thread::spawn(move || delivery.work());
        Some(Self { ended, thread: Some(thread) })
    }
}

impl Drop for WebhookSender {
    fn drop(&mut self) {
        self.ended.fire();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct WebhookDelivery {
    jobs: Arc<JobService>,
    tell: TellTask,
    secret: Secret,
    ended: Cancel,
    clock: Clock,
}

impl WebhookDelivery {
    fn work(&self) {
        loop {
            let worked = self.deliver_next().unwrap_or_else(|problem| {
                tracing::error!("webhooks: {}", problem.message);
                false
            });
            if !worked && self.clock.sleep(LOOK_EVERY, &self.ended).is_err() {
                return;
            }
            if self.ended.check().is_err() {
                return;
            }
        }
    }

    /// Whether there was one.
    fn deliver_next(&self) -> Result<bool> {
        let now = unix_ms(&self.clock);
        let Some(due) = self.jobs.web_store.take_webhook(now, now + HELD_MS)? else {
            return Ok(false);
        };
        let outcome = match self.deliver(&due) {
            Ok(()) => WebhookOutcome::Delivered,
            Err(problem) => self.after_failure(&due, problem),
        };
        self.jobs.web_store.settle_webhook(&due.job_id, &outcome)?;
        Ok(true)
    }

    fn after_failure(&self, due: &DueWebhook, problem: String) -> WebhookOutcome {
        tracing::warn!("webhook of {}: {problem}", due.job_id);
        match pause_after(due.attempts + 1) {
            Some(pause) => WebhookOutcome::Again { next_at: unix_ms(&self.clock) + pause, problem },
            None => WebhookOutcome::GivenUp(problem),
        }
    }

    fn deliver(&self, due: &DueWebhook) -> Result<(), String> {
        let (url, address) = self.resolve(&due.url)?;
        let body = (self.tell)(&due.job_id)?.to_string();
        let timestamp = (unix_ms(&self.clock) / 1000).to_string();
        let signature = format!("v1={}", sign(self.secret.reveal(), &timestamp, &body));
        let headers = [(TIMESTAMP_HEADER, timestamp.as_str()), (SIGNATURE_HEADER, signature.as_str())];
        let post = PinnedPost { url: &url, address, headers: &headers, body: &body, timeout: ANSWERS_WITHIN };
        match post_pinned(&post, &self.ended)? {
            200..=299 => Ok(()),
            status => Err(format!("the host answered {status}")),
        }
    }

    /// Judged again each time: what the name leads to may have changed. The connection goes to the address that was judged.
    fn resolve(&self, url: &str) -> Result<(Url, SocketAddr), String> {
        let rules = rules(&self.jobs.config);
        let url = check_web_url(url, &rules, "webhook").map_err(|error| error.message)?;
        let (name, port) =
            (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
        let host = RequestedHost::parse(name).ok_or("the webhook names no host")?;
        let addresses = match &host {
            RequestedHost::Address(address) => vec![*address],
            RequestedHost::Name(name) => look_up(name),
        };
        let address = *addresses.first().ok_or_else(|| format!("{name} is not found"))?;
        rules.check_address(&host, address, port).map_err(|why| format!("{name}: {why}"))?;
        Ok((url, SocketAddr::new(address, port)))
    }
}

/// How long after so many attempts the next one is made; none after the last.
fn pause_after(attempts: i64) -> Option<i64> {
    let times = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    let pause = FIRST_PAUSE_MS.saturating_mul(4_i64.saturating_pow(times)).min(LONGEST_PAUSE_MS);
    (attempts < MOST_ATTEMPTS).then_some(pause)
}

/// HMAC-SHA256 of `TIMESTAMP.BODY`, in hex.
fn sign(secret: &str, timestamp: &str, body: &str) -> String {
    let mac = hmac_sha256(secret.as_bytes(), format!("{timestamp}.{body}").as_bytes());
    mac.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// RFC 2104 with SHA-256, whose blocks have 64 bytes.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; 64];
    let hashed: [u8; 32] = Sha256::digest(key).into();
    let key = if key.len() > block.len() { hashed.as_slice() } else { key };
    block.iter_mut().zip(key).for_each(|(place, byte)| *place = *byte);
    let pad = |with: u8| block.map(|byte| byte ^ with);
    let inner: [u8; 32] = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize().into();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::HostRule;

    /// The cases 1, 2 and 6 of RFC 4231.
    #[test]
    fn the_signature_is_hmac_sha256() {
        let check = |key: &[u8], message: &[u8], expected: &str| {
            let got: String = hmac_sha256(key, message).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(got, expected);
        };
        check(&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
    }

    #[test]
    fn pauses_grow_and_end() {
        let pauses: Vec<Option<i64>> = (1..=8).map(pause_after).collect();
        let seconds = [1, 4, 16, 64, 256, 1024, 3600].map(|seconds| Some(seconds * 1000));
        assert_eq!(pauses[..7], seconds);
        assert_eq!(pauses[7], None);
    }

    fn check(hosts: &[&str], secret: Option<&str>, url: &str, expected: Option<&str>) {
        let config = config::Jobs {
            webhook_hosts: hosts.iter().map(|host| HostRule::parse(host).unwrap()).collect(),
            webhook_secret: secret.map(|secret| Secret::new(secret.to_owned())),
            ..config::Jobs::default()
        };
        match (check_webhook(url, &config), expected) {
            (Ok(()), None) => {}
            (Err(error), Some(word)) => assert!(error.message.contains(word), "{url}: {error}"),
            (got, _) => panic!("{url}: {got:?}"),
        }
    }

    #[test]
    fn only_listed_hosts_are_told() {
        let secret = Some("a secret of the tests");
        check(&["127.0.0.1:9000"], secret, "http://127.0.0.1:9000/done", None);
        check(&["127.0.0.1:9000"], secret, "http://127.0.0.1:9001/done", Some("127.0.0.1"));
        check(&["*"], secret, "http://127.0.0.1:9000/", Some("jobs.webhook_hosts"));
        check(&["*"], secret, "http://169.254.169.254/", Some("169.254.169.254"));
        check(&["a.example"], secret, "https://b.example/", Some("jobs.webhook_hosts does not name it"));
        check(&["a.example"], secret, "https://ann:pw@a.example/", Some("login"));
        check(&["a.example"], secret, "file:///etc/passwd", Some("file:"));
        check(&["a.example"], None, "https://a.example/", Some("jobs.webhook_secret"));
        check(&[], secret, "https://a.example/", Some("lists no hosts"));
    }
}
