"""A TypeScript program that sends the examples, typed by openapi-typescript's types of the document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.generators.exchanges import ENTRY, MADE, Exchanges, Request

HEAD = """import createClient from "openapi-fetch";

import type { paths } from "./schema.js";

type Answer<Path extends keyof paths, Method extends keyof paths[Path], Status> = paths[Path][Method] extends {
  responses: infer Responses;
}
  ? Status extends keyof Responses
    ? Responses[Status] extends { content: { "application/json": infer Body } }
      ? Body
      : never
    : never
  : never;

const [baseUrl = "", key = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const ids = new Map<string, string>();
const id = (placeholder: string): string => ids.get(placeholder) ?? placeholder;
let entry = 0;
let requests = 0;
let crashes = 0;

async function exchange(
  name: string,
  send: () => Promise<{ data?: unknown; error?: unknown; response: Response }>,
  makes?: string,
): Promise<void> {
  requests += 1;
  try {
    const { data, error } = await send();
    if (error !== undefined) throw new Error(JSON.stringify(error));
    if (makes !== undefined) ids.set(makes, (data as { id: string }).id);
    if (name === "commit_reservation") entry = (data as { proof: { leaf_index: number } }).proof.leaf_index;
  } catch (error) {
    crashes += 1;
    console.error(`openapi-typescript: ${name} crashed: ${error}`);
  }
}

"""
TAIL = """
console.log(`openapi-typescript: ${requests} requests, ${crashes} crashes, every answer is of its type`);
process.exit(crashes ? 1 : 0);
"""
SIMULATIONS = ("start_simulation", *(f"start_simulation_{number}" for number in range(2, 10)))
"""Examples whose ids are looked up."""


def program(records: list[Mapping[str, Any]]) -> str:
    """Return a program that sends each request, and has each recorded answer as a constant of its declared type."""
    answers = {record["name"]: record for record in records}
    requests = enumerate(Exchanges("openapi-typescript").requests())
    lines = (line for number, request in requests for line in _lines(number, request, answers))
    return HEAD + "\n".join(lines) + TAIL


def _lines(number: int, request: Request, answers: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    record = answers.get(request.name)
    if record is not None and isinstance(record["answer"], dict):
        of = f"Answer<{_literal(request.template)}, {_literal(request.method)}, {record['status']}>"
        yield f"export const answer{number}: {of} = {json.dumps(record['answer'], ensure_ascii=False)};"
    parameters = {"path": request.path, "header": request.headers, "query": request.query}
    given = {
        "params": {kind: values for kind, values in parameters.items() if values},
        "body": request.body,
        "parseAs": "text" if record is not None and not isinstance(record["answer"], dict) else None,
    }
    options = ", ".join(f"{name}: {_literal(value)}" for name, value in given.items() if value)
    call = f"client.{request.method.upper()}({_literal(request.template)}, {{ {options} }})"
    makes = request.name if request.operation == "start_simulation" else MADE.get(request.name)
    made = "" if makes is None else f", {json.dumps(makes)}"
    yield f"await exchange({_literal(request.name)}, () => {call}{made});"


def _literal(value: Any) -> str:
    """Return a value as TypeScript; the ids of the examples are looked up when the program runs."""
    text = json.dumps(value, ensure_ascii=False).replace(json.dumps(ENTRY), "entry")
    if isinstance(value, dict):
        for placeholder in (*MADE.values(), *SIMULATIONS):
            text = text.replace(f": {json.dumps(placeholder)}", f": id({json.dumps(placeholder)})")
            text = text.replace(f"[{json.dumps(placeholder)}", f"[id({json.dumps(placeholder)})")
            text = text.replace(f", {json.dumps(placeholder)}]", f", id({json.dumps(placeholder)})]")
    return text
