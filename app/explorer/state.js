// What is on the screen, and the address that holds it: #/mb-sgd?epsilon=1&step_schedule.kind=constant

/** A body as pairs of dotted path and value, in its own order. */
export function leaves(body, prefix = "") {
  return Object.entries(body).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length
      ? leaves(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, value]],
  );
}

/** The value at a dotted path, undefined if there is none. */
export const at = (body, path) => path.split(".").reduce((inner, name) => inner?.[name], body);

/** A copy of the body with the value at a dotted path; undefined takes it out, and what it leaves empty. */
export function put(body, path, value) {
  const [name, ...rest] = path.split(".");
  const inner = rest.length ? put(body[name] ?? {}, rest.join("."), value) : value;
  const copy = { ...body };
  const empty = inner !== null && typeof inner === "object" && !Array.isArray(inner) && !Object.keys(inner).length;
  if (inner === undefined || (rest.length && empty)) delete copy[name];
  else copy[name] = inner;
  return copy;
}

/** Strings stand as they are unless they would be read as something else. */
function encode(value) {
  if (typeof value !== "string") return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

function decode(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The part of the address behind #. */
export function addressOf(algorithm, body) {
  const query = new URLSearchParams(leaves(body).map(([path, value]) => [path, encode(value)]));
  return `#/${encodeURIComponent(algorithm)}?${query}`;
}

/** A part of an address without its escapes, or null if they are none. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** What an address holds, or null if it holds no algorithm. */
export function read(hash) {
  const match = /^#\/([^?]+)(?:\?(.*))?$/.exec(hash);
  const algorithm = match && decoded(match[1]);
  if (!algorithm) return null;
  let body = null;
  for (const [path, text] of new URLSearchParams(match[2] ?? "")) {
    if (path.split(".").some((name) => name === "__proto__")) continue;
    body = put(body ?? {}, path, decode(text));
  }
  return { algorithm, body };
}
