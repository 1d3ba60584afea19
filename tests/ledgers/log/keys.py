"""Keys that are published for tests: RFC 8032's first, RFC 8037's, and that of the Go notes' own tests."""

import base64

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from epsilond.ledgers.log.keys import SigningKey


def of_seed(name, seed):
    return SigningKey(name, Ed25519PrivateKey.from_private_bytes(seed))


ORIGIN = "ledger.example/log"
FIRST = of_seed(ORIGIN, bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
SECOND = of_seed(ORIGIN, bytes(31) + b"\x02")
OTHERS = of_seed("other.example/log", bytes(31) + b"\x03")
GO = of_seed("PeterNeumann", base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:])
