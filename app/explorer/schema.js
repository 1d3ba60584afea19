// The OpenAPI document as fields: every control on the page comes from it.

import { meaning, title } from "./words.js";

export class Contract {
  constructor(document_) {
    this.document = document_;
    this.version = document_.info.version;
  }

  /** A schema with its reference followed; what stands beside the reference goes before. */
  resolve(schema) {
    if (!schema?.$ref) return schema;
    const target = this.resolve(this.document.components.schemas[schema.$ref.split("/").at(-1)]);
    const { $ref, ...beside } = schema;
    return { ...target, ...beside };
  }

  /** Whether the service has this path. */
  has(path) {
    return `/${path}` in this.document.paths;
  }

  /** The schema of what is posted to a path. */
  body(path) {
    const operation = this.document.paths[`/${path}`]?.post;
    return this.resolve(operation?.requestBody.content["application/json"].schema);
  }

  /** The first example of what is posted to a path. */
  example(path) {
    const [example] = Object.values(this.document.paths[`/${path}`].post.requestBody.content["application/json"].examples);
    return example.value;
  }

  /** Whether the service has sweeps of calibrations. */
  sweeps() {
    return this.has("v1/calibrations/{algorithm}/sweeps");
  }

  /** Name, description and symbol of each parameter of a calibration's answer. */
  parameters() {
    return this.resolve(this.document.components.schemas.Calibration.properties.parameters).properties;
  }

  /** The fields of an object schema, by name. */
  fields(schema) {
    const resolved = this.resolve(schema);
    const required = new Set(resolved.required ?? []);
    return Object.entries(resolved.properties ?? {}).map(([name, each]) => this.field(name, each, required.has(name)));
  }

  /** Each window of each word: a client's contributions within one day, and the like. */
  windowed(schema, words) {
    const lengths = this.resolve(schema.properties.window)["x-values"];
    return words.flatMap((of) => lengths.map((window) => ({ of, window })));
  }

  /** A field: {name, title, meaning, symbol, unit, kind, …}; kind is one of number, choice, yes-no, object, variants, json. */
  field(name, given, required) {
    const schema = this.resolve(given);
    const base = {
      name,
      required,
      title: title(name),
      meaning: (of) => meaning(schema, of),
      symbol: schema["x-symbol"],
      unit: schema["x-unit"],
      default: schema["x-default"],
    };
    if (schema["x-members"]) {
      const members = Object.entries(schema["x-members"]).map(([kind, member]) => [kind, part(schema, member)]);
      return { ...base, kind: "variants", tag: schema["x-tag"], variants: new Map(members) };
    }
    const choices = schema["x-values"] ?? schema.enum;
    if (choices) return { ...base, kind: "choice", choices };
    if (schema.anyOf) {
      const alternatives = schema.anyOf.map((each) => this.resolve(each));
      const words = alternatives.flatMap((each) => each["x-values"] ?? each.enum ?? []).filter((word) => !(schema.minimum >= 0 && word.startsWith("-")));
      const windows = alternatives.find((each) => each.properties?.of && each.properties.window);
      if (words.length && windows) return { ...base, kind: "choice", choices: [...words, ...this.windowed(windows, words)] };
      if (words.length && alternatives.some((each) => each.type === "number")) return { ...base, ...domain(schema), kind: "number", words };
    }
    if (schema.type === "boolean") return { ...base, kind: "yes-no" };
    if (schema.type === "number" || schema.type === "integer") return { ...base, kind: "number", ...domain(schema) };
    if (schema.type === "object" && schema.properties) return { ...base, kind: "object", schema };
    return { ...base, kind: "json" };
  }
}

/** The properties of one member of a union that is written as one object. */
function part({ properties }, { required, optional }) {
  return { type: "object", properties: Object.fromEntries([...required, ...optional].map((name) => [name, properties[name]])), required };
}

function domain(schema) {
  return {
    integer: schema.type === "integer",
    minimum: schema.minimum ?? schema.exclusiveMinimum ?? -Infinity,
    maximum: schema.maximum ?? schema.exclusiveMaximum ?? Infinity,
    open: schema.exclusiveMinimum !== undefined,
  };
}
