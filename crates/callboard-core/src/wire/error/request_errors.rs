//! Errors of connections and requests as such: keys, hosts, paths, bodies, limits, and a server that stops.

use super::ApiError;

impl ApiError {
    /// No key, or a wrong one.
    #[must_use]
    pub fn invalid_api_key() -> Self {
        Self::new(
            401,
            "invalid_api_key",
            "the API key is missing or wrong; send one of Callboard's keys as `Authorization: Bearer KEY`",
        )
    }

    /// A request for a host name that is not this machine's, as a web page sends it that has changed its DNS entry.
    #[must_use]
    pub fn host_not_allowed(host: &str) -> Self {
        let message = format!(
            "the host {host:?} is not served without a key; use 127.0.0.1 or localhost, add the name to the setting hosts, or set api_keys"
        );
        Self::new(421, "host_not_allowed", message)
    }

    /// A request of a web page of another host.
    #[must_use]
    pub fn foreign_page() -> Self {
        let message = "web pages of other hosts may not connect here without a key; set api_keys, add the page's host to the setting \
                       hosts, or serve the page from this host";
        Self::new(403, "origin_not_allowed", message)
    }

    /// A path that does not exist.
    #[must_use]
    pub fn unknown_path(method: &str, path: &str) -> Self {
        let message = format!(
            "there is no {method} {path}; Callboard serves /v1/chat/completions, /v1/responses, /v1/conversations, /v1/models, /v1/characters, /v1/traces, /health, /ready, /metrics, and passes /v1/embeddings and others through to model servers: the setting passthrough_paths adds more"
        );
        Self::new(404, "unknown_url", message)
    }

    /// A path that is not valid percent-encoded UTF-8.
    #[must_use]
    pub fn unreadable_path() -> Self {
        Self::new(400, "invalid_url", "the path is not valid percent-encoded UTF-8")
    }

    /// A path that exists and does not take this method.
    #[must_use]
    pub fn wrong_method(method: &str, path: &str) -> Self {
        Self::new(405, "method_not_allowed", format!("{path} does not take {method}"))
    }

    /// A body of a type that browsers send to other origins without asking.
    #[must_use]
    pub fn body_not_json(kind: &str) -> Self {
        let got = if kind.is_empty() { "none".to_owned() } else { format!("{kind:?}") };
        let message = format!(
            "the content-type must be application/json, and is {got}; send `content-type: application/json` (curl: -H 'content-type: \
             application/json')"
        );
        Self::new(415, "unsupported_media_type", message)
    }

    /// A body over the limit.
    #[must_use]
    pub fn body_too_large(limit: usize) -> Self {
        Self::new(
            413,
            "request_too_large",
            format!("the request body is larger than the limit limits.body_bytes of {limit} bytes"),
        )
    }

    /// A body that arrives too slowly.
    #[must_use]
    pub fn body_too_slow(seconds: f64) -> Self {
        let message = format!(
            "the request body did not come within {seconds} s, which is the limit timeouts.body_seconds; send it again"
        );
        Self::new(408, "request_timeout", message)
    }

    /// A client of HTTP/1.0 that closed its side before the reply.
    #[must_use]
    pub fn half_closed() -> Self {
        let message = "the client closed its side of the connection before the reply; send HTTP/1.1, or keep it open";
        Self::new(400, "connection_closed", message)
    }

    /// A connection to `/v1/responses` that is no WebSocket.
    #[must_use]
    pub fn upgrade_required() -> Self {
        let message = "GET here opens a WebSocket; send the headers of an upgrade, or ask with POST";
        Self::new(426, "upgrade_required", message)
    }

    /// A WebSocket that has been open for too long.
    #[must_use]
    pub fn socket_too_old() -> Self {
        let message = "this connection has reached timeouts.socket_life_seconds; open a new one and continue from a stored response, or send all input";
        Self::new(400, "websocket_connection_limit_reached", message)
    }

    /// More open WebSockets than the limit.
    #[must_use]
    pub fn too_many_sockets(limit: usize) -> Self {
        let message =
            format!("{limit} WebSockets are open, which is the limit limits.sockets; close one, or ask with POST");
        Self::new(503, "overloaded", message).with_retry_after(1)
    }

    /// More concurrent requests than the limit.
    #[must_use]
    pub fn too_many_in_flight(limit: usize) -> Self {
        let message =
            format!("{limit} requests are being answered, which is the limit limits.in_flight; try again soon");
        Self::new(503, "overloaded", message).with_retry_after(1)
    }

    /// More work than one request may cost.
    #[must_use]
    pub fn too_much_work(seconds: f64) -> Self {
        let message =
            format!("the reply kept a thread busy for longer than the limit timeouts.busy_seconds of {seconds} s");
        Self::new(500, "too_much_work", message).not_to_be_retried()
    }

    /// The server stops before the reply is complete.
    #[must_use]
    pub fn stopping() -> Self {
        let message = "the server is stopping, and the reply did not become whole in time; send the request again";
        Self::new(503, "server_stopping", message).with_retry_after(1)
    }

    /// The server stops in the middle of a reply that the client has partly seen.
    #[must_use]
    pub fn stopping_midway() -> Self {
        let message = "the server is stopping, and the reply was cut off; what a character's tools changed before is kept, so look at \
                       what holds before you send the request again";
        Self::new(503, "server_stopping", message)
    }
}
