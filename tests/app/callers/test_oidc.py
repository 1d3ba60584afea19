"""Tokens of an OpenID Connect issuer: checked whole, never taken while the issuer cannot be asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from epsilond.app.callers import issuer as module
from epsilond.app.callers import keys
from epsilond.app.callers.issuer import Issuer, IssuerUnreachable
from epsilond.app.callers.limits import CallerLimits
from epsilond.app.callers.oidc import organisation_of, owner_of, roles_of, scopes_of
from epsilond.app.settings import Settings
from tests.app.callers.test_keys import file_of
from tests.app.conftest import PATIENT, problem, serving
from tests.app.ledgers.support import body, opened, reserved

AUDIENCE = "epsilond"
PRIVATE: dict[str, Any] = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
OTHERS = rsa.generate_private_key(public_exponent=65537, key_size=2048)
MAKERS: dict[str, Any] = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}
SECRET = "c2VjcmV0LXRoYXQtZXZlcnlib2R5LWNhbi1yZWFkLWhlcmU"


def public(algorithm: str) -> dict[str, Any]:
    key = PRIVATE[algorithm].public_key()
    return {**MAKERS[algorithm].to_jwk(key, as_dict=True), "kid": algorithm, "use": "sig", "alg": algorithm}


@dataclass
class Provider:
    """An identity provider on the loopback."""

    url: str = ""
    keys: list[dict[str, Any]] = field(default_factory=lambda: [public(name) for name in PRIVATE])
    document: dict[str, Any] | None = None
    up: bool = True
    asked: list[str] = field(default_factory=list)

    def token(self, algorithm: str = "RS256", key: Any = None, kid: str | None = "", **claims: Any) -> str:
        now = int(time.time())
        said = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ada",
            "scope": "openid calibrate",
            "exp": now + 600,
            "nbf": now,
        }
        said = {name: value for name, value in (said | claims).items() if value is not None}
        headers = {} if kid is None else {"kid": kid or algorithm}
        return jwt.encode(said, key or PRIVATE.get(algorithm, "") or None, algorithm, headers)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    there = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            there.asked.append(self.path)
            found = {
                "/.well-known/openid-configuration": there.document
                or {"issuer": there.url, "jwks_uri": f"{there.url}/keys"},
                "/keys": {"keys": there.keys},
            }
            if self.path == "/elsewhere/.well-known/openid-configuration":
                self.send_response(302)
                self.send_header("location", f"{there.url}/.well-known/openid-configuration")
                self.end_headers()
                return
            self.send_response(200 if there.up else 500)
            self.end_headers()
            self.wfile.write(json.dumps(found[self.path]).encode())

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        there.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield there
        server.shutdown()
        thread.join()


def checked(issuer: Issuer, token: str) -> Any:
    return anyio.run(issuer.claims, token)


@pytest.mark.parametrize("algorithm", PRIVATE)
@pytest.mark.parametrize("discovered", [True, False])
def test_a_token_of_the_issuer_is_taken(provider: Provider, algorithm: str, discovered: bool) -> None:
    issuer = Issuer(provider.url, AUDIENCE, "" if discovered else f"{provider.url}/keys")
    assert checked(issuer, provider.token(algorithm))["sub"] == "ada"
    assert checked(issuer, provider.token(algorithm, aud=["other", AUDIENCE]))["sub"] == "ada"
    assert checked(issuer, provider.token(algorithm, exp=int(time.time()) - 20))["sub"] == "ada"
    assert provider.asked.count("/keys") == 1
    assert ("/.well-known/openid-configuration" in provider.asked) is discovered


def wrong(provider: Provider) -> dict[str, str]:
    now = int(time.time())
    good = provider.token()
    head, body, signature = good.split(".")
    other_body = provider.token(sub="root").split(".")[1]
    return {
        "of another key": provider.token(key=OTHERS),
        "changed": f"{head}.{other_body}.{signature}",
        "without a signature": f"{head}.{body}.",
        "none": jwt.encode({"iss": provider.url, "aud": AUDIENCE, "exp": now + 600}, None, "none", {"kid": "RS256"}),
        "a secret for a key": provider.token("HS256", key="x" * 64, kid="RS256"),
        "the public secret": provider.token("HS256", key=SECRET, kid="secret"),
        "another algorithm's key": provider.token("ES256", kid="RS256"),
        "RS512": provider.token("RS512", key=PRIVATE["RS256"], kid="RS256"),
        "no key named": provider.token(kid=None),
        "unknown key": provider.token(kid="none"),
        "another issuer": provider.token(iss="https://other.example"),
        "no issuer": provider.token(iss=None),
        "another audience": provider.token(aud="other"),
        "no audience": provider.token(aud=None),
        "expired": provider.token(exp=now - 90),
        "without an end": provider.token(exp=None),
        "before its time": provider.token(nbf=now + 600),
        "no token": "a.b.c",
        "nothing": "..",
        "not text": "\xe9.\xff.\xfe",
    }


NAMES = sorted(wrong(Provider(url="http://127.0.0.1")))


@pytest.mark.parametrize("name", NAMES)
def test_any_other_is_not(provider: Provider, name: str) -> None:
    provider.keys.append({"kty": "oct", "kid": "secret", "k": SECRET, "alg": "HS256"})
    issuer = Issuer(provider.url, AUDIENCE)
    assert checked(issuer, wrong(provider)[name]) is None
    assert checked(issuer, provider.token())["sub"] == "ada"


def test_an_unknown_key_is_asked_for_once_a_minute_at_most(provider: Provider) -> None:
    now = [0.0]
    issuer = Issuer(provider.url, AUDIENCE, clock=lambda: now[0])
    late = provider.keys.pop()
    assert checked(issuer, provider.token()) is not None
    provider.keys.append(late)
    for _ in range(5):
        assert checked(issuer, provider.token("EdDSA")) is None
    assert provider.asked.count("/keys") == 1
    now[0] += module.UNKNOWN_SECONDS
    assert checked(issuer, provider.token("EdDSA")) is not None
    for _ in range(5):
        assert checked(issuer, provider.token(kid="none")) is None
    assert provider.asked.count("/keys") == 2


def test_nothing_is_taken_while_the_issuer_cannot_be_asked(provider: Provider) -> None:
    now = [0.0]
    issuer = Issuer(provider.url, AUDIENCE, clock=lambda: now[0])
    provider.up = False
    for _ in range(3):
        with pytest.raises(IssuerUnreachable):
            checked(issuer, provider.token())
    assert len(provider.asked) == 1
    provider.up = True
    now[0] += module.FAILED_SECONDS
    assert checked(issuer, provider.token()) is not None
    provider.up = False
    assert checked(issuer, provider.token()) is not None
    now[0] += module.KEPT_SECONDS
    with pytest.raises(IssuerUnreachable):
        checked(issuer, provider.token())


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://other.example", "jwks_uri": "{url}/keys"},
        {"issuer": "{url}", "jwks_uri": "http://example.com/keys"},
        {"issuer": "{url}", "jwks_uri": "file:///etc/passwd"},
        {"issuer": "{url}"},
    ],
)
def test_a_document_that_sends_elsewhere_is_not_followed(provider: Provider, document: dict[str, str]) -> None:
    provider.document = {name: text.format(url=provider.url) for name, text in document.items()}
    with pytest.raises(IssuerUnreachable):
        checked(Issuer(provider.url, AUDIENCE), provider.token())
    assert provider.asked == ["/.well-known/openid-configuration"]


def test_a_redirection_is_not_followed(provider: Provider) -> None:
    with pytest.raises(IssuerUnreachable):
        checked(Issuer(f"{provider.url}/elsewhere", AUDIENCE), provider.token())
    assert provider.asked == ["/elsewhere/.well-known/openid-configuration"]


def test_a_subject_is_never_the_name_of_a_key() -> None:
    names = [owner_of(subject) for subject in ("ada", "a" * 58, "a" * 59, "ä", "a\n", "sha256:x")]
    assert names[:2] == ["token:ada", f"token:{'a' * 58}"]
    assert len(set(names)) == len(names)
    for name in names:
        assert len(name) <= 64
        with pytest.raises(ValueError, match="a name is"):
            keys.new(name, CallerLimits())
    assert [owner_of(each) for each in ("", "a" * 1025, None, 3, ["ada"])] == [None] * 5


def test_only_our_scopes_count() -> None:
    assert scopes_of({"scope": "openid calibrate admin"}, "scope") == {"calibrate", "admin"}
    assert scopes_of({"scp": ["simulate", 3]}, "scp") == {"simulate"}
    assert scopes_of({"scope": {"calibrate": 1}}, "scope") == scopes_of({}, "scope") == frozenset()


def test_claims_give_an_organisation_and_roles() -> None:
    claims = {"org": "Acme", "roles": ["owner", "boss"], "words": "auditor analyst"}
    assert (organisation_of(claims, "org"), organisation_of(claims, "")) == ("acme", "")
    assert [organisation_of({"org": value}, "org") for value in ("", "a b", 3, None, ["a"])] == [None] * 5
    assert organisation_of({}, "org") is None
    assert (roles_of(claims, "roles"), roles_of(claims, "words")) == ({"owner"}, {"auditor", "analyst"})
    assert (roles_of(claims, ""), roles_of({}, "roles")) == ({"owner", "analyst"}, frozenset())


def test_a_token_without_a_configured_claim_has_no_rights_on_ledgers(provider: Provider, tmp_path: Path) -> None:
    claims = {"oidc_organisation_claim": "org", "oidc_roles_claim": "roles", "ledgers_in_memory": "yes"}
    with service(provider, tmp_path, **claims) as client:
        for more, status in (
            ({"org": "acme", "roles": "auditor"}, 200),
            ({"org": "acme"}, 403),
            ({"roles": "owner"}, 403),
        ):
            token = provider.token(scope="ledger", **more)
            for path in ("/v1/ledgers", "/v1/log/checkpoint", "/v1/log/proofs?from=0"):
                assert client.get(path, headers=bearer(token)).status_code == status, path


def test_ledgers_of_a_token_follow_it_once_its_organisation_is_known(provider: Provider, tmp_path: Path) -> None:
    kept = {"store_path": str(tmp_path / "store.sqlite")}
    with service(provider, tmp_path, **kept) as client:
        ledger = opened(client, bearer(provider.token(scope="ledger")), dataset="visits", block="all")["id"]
    claim = {"oidc_organisation_claim": "org", "oidc_roles_claim": "roles"}
    ada, bob = (
        bearer(provider.token(scope="ledger", sub=sub, org=org, roles="owner analyst"))
        for sub, org in (("ada", "acme"), ("bob", "other"))
    )
    with service(provider, tmp_path, **kept, **claim) as client:
        problem(client.get(f"/v1/ledgers/{ledger}", headers=bob), 404, "not-found")
        assert client.get(f"/v1/ledgers/{ledger}", headers=ada).status_code == 200
        again = client.post("/v1/ledgers", json=body(dataset="VISITS", block="all"), headers=ada)
        assert problem(again, 409, "block-already-has-ledger")["nearest"] == {"ledger": ledger}
        barred = client.post("/v1/ledgers", json=body(dataset="visits", block="all"), headers=bob)
        problem(barred, 409, "block-already-has-ledger")
        assert reserved(client, ledger, ada, item="train", count=1)["state"] == "reserved"


def service(provider: Provider, tmp_path: Path, **more: str) -> Any:
    return serving(
        PATIENT.model_copy(
            update={"oidc_issuer": provider.url, "oidc_audience": AUDIENCE, "store_path": ":memory:", **more}
        )
    )


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_a_service_takes_tokens_beside_keys(provider: Provider, tmp_path: Path) -> None:
    key, line = keys.new("ada", CallerLimits())
    with service(provider, tmp_path, api_keys_file=str(file_of(tmp_path, line))) as client:
        token = provider.token(scope="calibrate simulate")
        for credentials in (key, token):
            assert client.get("/v1/algorithms", headers=bearer(credentials)).status_code == 200
        body = {"kind": "dice", "blocks": 1, "seed": 1}
        posted = client.post("/v1/simulations", json=body, headers=bearer(token) | {"prefer": "wait=600"})
        where = posted.headers["location"]
        assert client.get(where, headers=bearer(token)).json()["state"] == "done"
        problem(client.get(where, headers=bearer(key)), 404, "not-found")
        problem(client.get("/v1/api-keys", headers=bearer(token)), 403, "forbidden")
        assert client.get("/v1/api-keys", headers=bearer(provider.token(scope="admin"))).status_code == 200
        refused = client.get("/v1/algorithms", headers=bearer(provider.token(exp=1)))
        problem(refused, 401, "unauthorized")
        assert "invalid_token" in refused.headers["www-authenticate"]
        problem(client.get("/v1/algorithms"), 401, "unauthorized")
        problem(client.get("/v1/algorithms", headers=bearer(provider.token(sub=None))), 401, "unauthorized")
        figures = client.get("/metrics", headers=bearer(provider.token(scope="metrics"))).text
    assert 'epsilond_caller_requests_total{caller="token"}' in figures
    assert "token:" not in figures


def test_a_service_whose_issuer_is_away_says_so(provider: Provider, tmp_path: Path) -> None:
    with service(provider, tmp_path) as client:
        provider.up = False
        away = client.get("/v1/algorithms", headers=bearer(provider.token()))
        problem(away, 503, "unavailable")
        assert int(away.headers["retry-after"]) > 0
        assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"oidc_issuer": "http://example.com", "oidc_audience": "x"}, "OIDC_ISSUER"),
        ({"oidc_issuer": "file:///etc", "oidc_audience": "x"}, "OIDC_ISSUER"),
        ({"oidc_issuer": "http://localhost.example.com", "oidc_audience": "x"}, "OIDC_ISSUER"),
        ({"oidc_issuer": "https://example.com"}, "OIDC_AUDIENCE"),
        ({"oidc_jwks_url": "https://example.com"}, "OIDC_ISSUER"),
        ({"oidc_issuer": "https://e.com", "oidc_audience": "x", "oidc_jwks_url": "http://e.com"}, "OIDC_JWKS_URL"),
        ({"trusted_proxies": "example.com"}, "TRUSTED_PROXIES"),
    ],
)
def test_settings_that_would_not_be_safe_are_refused(given: dict[str, str], named: str) -> None:
    with pytest.raises(ValueError, match=f"EPSILOND_{named}"):
        Settings.from_environment(**given)


def test_an_https_issuer_is_accepted() -> None:
    chosen = Settings.from_environment(oidc_issuer="https://example.com/realm", oidc_audience="epsilond")
    assert chosen.oidc_issuer == "https://example.com/realm"


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from epsilond.app.main import create_app
    from epsilond.extras import MissingExtra

    for name in [name for name in sys.modules if name == "jwt" or name.startswith("jwt.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "epsilond.app.callers.issuer")
    chosen = Settings(store_path=":memory:", oidc_issuer="https://example.com", oidc_audience="x")
    with pytest.raises(MissingExtra, match=r"epsilond\[oidc\]"):
        create_app(settings=chosen)
