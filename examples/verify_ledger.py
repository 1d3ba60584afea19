"""Verify a bundle or a receipt of a ledger log: python verify_ledger.py EVIDENCE KEYS [CHECKPOINT ...].

It follows docs/ledger-format.md. It checks the log, and not the content of entries: no charge, void or contradiction.
Exit codes: 0 all is shown, 1 something is false, 2 something is not shown or is no evidence.
"""

# ruff: noqa: ANN001, ANN002, ANN201  so that the code has at most 100 lines
import json
import re
import sys
from base64 import b64decode, b64encode
from functools import partial
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FORMAT, LISTS = "epsilond-log-bundle-1", ("entries", "checkpoints", "receipts", "proofs")
NOTE = re.compile(r"(([^\0-\x1f]+)\n(0|[1-9][0-9]{0,18})\n(\S{43}=)\n(?:[^\0-\x1f]+\n)*)\n((?:— [^\s+]+ \S{8,}\n)+)")


def need(condition, message="the evidence has another form"):
    """Raise an error with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def sort_members(pairs):
    """Return the members of an object in canonical order; each may be named once."""
    need(len(dict(pairs)) == len(pairs), "a member is named twice")
    return dict(sorted(pairs, key=lambda pair: pair[0].encode("utf-16-be")))


read = partial(json.loads, object_pairs_hook=sort_members, parse_float=int, parse_constant=int)
text_of = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


def decode(text):
    """Return the bytes of a base64 text that is in its only form."""
    need(b64encode(b64decode(text)).decode() == text, "a text is not base64 in its only form")
    return b64decode(text)


def to_url(data):
    """Return the base64url text of bytes."""
    return b64encode(data, b"-_").decode().rstrip("=")


def root(hashes):
    """Return the root of the tree over these hashes (section Tree)."""
    if len(hashes) < 2:
        return hashes[0] if hashes else sha256().digest()
    half = 1 << (len(hashes) - 1).bit_length() - 1
    return sha256(b"\1" + root(hashes[:half]) + root(hashes[half:])).digest()


def climb(first, size, path, value, largest):
    """Return the roots of the first leaves and of all, to which a path leads from a subtree (section Proofs)."""
    if first == size <= largest:
        need(len(path) == (value is None), "a proof has another length")
        return value or path[0], value or path[0]
    half = 1 << (size - 1).bit_length() - 1
    right, kept = first > half, value if first <= half or largest == 1 else None
    earlier, later = climb(first - half * right, size - half if right else half, path[:-1], kept, largest)
    return (root([path[-1], earlier]), root([path[-1], later])) if right else (earlier, root([later, path[-1]]))


def read_proof(record, *names):
    """Return the two numbers and the hashes of a proof."""
    first, second, path = record[names[0]], record[names[1]], [decode(each) for each in record[names[2]]]
    need({type(first), type(second)} == {int} and {*map(len, path)} <= {32} and len(record.keys() - {"warnings"}) == 3)
    return first, second, path


def read_key(record):
    """Return the name, the note id, the thumbprint and the key of a published key."""
    name, note_id, text = record["note_key"].split("+", 2)
    jwk = {"crv": "Ed25519", "kty": "OKP", "x": to_url(decode(text)[1:])}
    kid = to_url(sha256(text_of(jwk).encode()).digest())
    need(decode(text)[0] == 1 and record == record | jwk | {"alg": "EdDSA", "kid": kid, "name": name, "use": "sig"})
    need(note_id == sha256(f"{name}\n".encode() + decode(text)).hexdigest()[:8], "the id is another key's")
    return name, bytes.fromhex(note_id), kid, Ed25519PublicKey.from_public_bytes(decode(text)[1:])


def checkpoint(keys, note):
    """Return the size and the root of a checkpoint that a trusted key signed."""
    (text, origin, size, top, lines), signers = NOTE.fullmatch(note).groups(), []
    for name, data in ((line.split(" ")[1], decode(line.split(" ")[2])) for line in lines[:-1].split("\n")):
        signers += [
            key for key in keys if key[:2] == (name, data[:4]) and key[3].verify(data[4:], text.encode()) is None
        ]
    need({origin, *(key[0] for key in signers)} == {keys[0][0]} and signers, "no trusted key of the log signed it")
    return int(size), decode(top)


def receipt(keys, record):
    """Return the head of a receipt, after checking its proof and its signature."""
    entry, proof, note, signature = (record[name] for name in ("entry", "proof", "checkpoint", "signature"))
    index, size, path = read_proof(proof, "leaf_index", "tree_size", "inclusion_path")
    leaf, head, keys = text_of(entry).encode(), checkpoint(keys, note), [key for key in keys if key[0] == keys[0][0]]
    need(0 <= index < size == head[0] and entry.get("seq", index) == index and len(record.keys() - {"warnings"}) == 4)
    need(climb(index + 1, size, path, sha256(b"\0" + leaf).digest(), 1)[1] == head[1], "the entry is not in the tree")
    payload = {"checkpoint": note, "entry": entry, "proof": {name: proof[name] for name in proof if name != "warnings"}}
    header = {"alg": "EdDSA", "subject": f"sha256:{sha256(leaf).hexdigest()}", "typ": "epsilond-record+jws"}
    headers = {to_url(text_of(header | {"kid": key[2]}, sort_keys=True).encode()): key[3] for key in keys}
    start, _, text = signature.partition("..")
    need(text == to_url(b64decode(text + "==", b"-_")) and start in headers, "no trusted key signed it for this entry")
    headers[start].verify(b64decode(text + "==", b"-_"), f"{start}.{to_url(text_of(payload).encode())}".encode())
    return head


def consistency(heads, record):
    """Return whether heads belong to a consistency proof, after checking that it leads to their roots."""
    first, second, path = read_proof(record, "first", "second", "consistency_path")
    pairs = [(one[1], other[1]) for one in heads for other in heads if (one[0], other[0]) == (first, second)]
    for tops in pairs:
        need(climb(first, second, path, tops[0], second) == tops if first else not path, "it leads to other roots")
    return bool(pairs)


def verify(evidence, trusted, *old):
    """Return the false statements and those that are not shown (section Verification)."""
    bundle, keys, heads, proved, false = read(evidence), [*map(read_key, read(trusted)["keys"])], set(), set(), []
    bundle = bundle if "format" in bundle else {"format": FORMAT, "receipts": [bundle]}
    need(bundle["format"] == FORMAT and bundle.keys() <= {"format", *LISTS})
    entries, notes, receipts, proofs = (bundle.get(name, []) for name in LISTS)
    signed = [(checkpoint, keys, [*notes, *old], heads), (receipt, keys, receipts, heads)]
    for check, context, parts, results in [*signed, (consistency, heads, proofs, proved)]:
        for part in parts:
            try:
                results.add(check(context, part))
            except Exception as error:  # noqa: BLE001  nothing is shown by what fails in any way
                false.append(f"A {check.__name__} does not hold: {error}.")
    leaves, sizes = [sha256(b"\0" + text_of(each).encode()).digest() for each in entries], [size for size, _ in heads]
    false += ["Other entries are given." for size, top in heads if size <= len(leaves) and root(leaves[:size]) != top]
    false += ["Two roots are signed for one size."] if len(set(sizes)) < len(sizes) else []
    false += ["An entry has another number." for place, each in enumerate(entries) if each.get("seq", place) != place]
    whole = entries and max(sizes, default=0) == len(entries) and False not in proved
    return false, [] if whole else ["Entries are missing under or after the checkpoints, or checkpoints of a proof."]


if __name__ == "__main__":
    try:
        false, unknown = verify(*(Path(name).read_bytes().decode() for name in sys.argv[1:]))
    except Exception as error:  # noqa: BLE001
        false, unknown = [], [f"The files are no evidence: {error}."]
    print("\n".join([*false, *unknown]) or "Verified: signatures, entries and proofs. Charges were not computed.")
    sys.exit(1 if false else 2 if unknown else 0)
