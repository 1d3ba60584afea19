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
    const schema = operation?.requestBody.content["application/json"].schema;
    return this.forms(schema).find(({ properties }) => !("sweep" in properties)) ?? this.resolve(schema);
  }

  /** Whether what is posted to a path may hold a sweep. */
  sweeps(path) {
    const schema = this.document.paths[`/${path}`]?.post?.requestBody.content["application/json"].schema;
    return this.forms(schema).some(({ properties }) => "sweep" in properties);
  }

  /** The objects that a schema allows: itself, or those it chooses between. */
  forms(schema) {
    const whole = this.resolve(schema);
    return [whole, ...(whole?.anyOf ?? []), ...(whole?.oneOf ?? [])].map((each) => this.resolve(each)).filter((each) => each?.properties);
  }

  /** Name, description and symbol of each parameter of a calibration's answer. */
  parameters(path) {
    const answer = this.document.paths[`/${path}`].post.responses["200"].content["application/json"].schema;
    const form = this.forms(answer).find(({ properties }) => "parameters" in properties);
    return this.resolve(form?.properties.parameters)?.properties ?? {};
  }

  /** The fields of an object schema, by name. */
  fields(schema) {
    const resolved = this.resolve(schema);
    const required = new Set(resolved.required ?? []);
    return Object.entries(resolved.properties ?? {}).map(([name, each]) => this.field(name, each, required.has(name)));
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
      default: schema.default,
    };
    if (schema.oneOf && schema.discriminator) {
      const variants = Object.entries(schema.discriminator.mapping).map(([kind, ref]) => [kind, { $ref: ref }]);
      return { ...base, kind: "variants", tag: schema.discriminator.propertyName, variants: new Map(variants) };
    }
    if (schema.enum) return { ...base, kind: "choice", choices: schema.enum };
    if (schema.const !== undefined) return { ...base, kind: "choice", choices: [schema.const] };
    if (schema.anyOf) {
      const numeric = schema.anyOf.map((each) => this.resolve(each)).find((each) => each.type === "number");
      const words = schema.anyOf.filter((each) => each.const !== undefined).map((each) => each.const);
      if (numeric && words.length) return { ...base, ...domain(numeric), kind: "number", words };
    }
    if (schema.type === "boolean") return { ...base, kind: "yes-no" };
    if (schema.type === "number" || schema.type === "integer") return { ...base, kind: "number", ...domain(schema) };
    if (schema.type === "object" && schema.properties) return { ...base, kind: "object", schema };
    return { ...base, kind: "json" };
  }
}

function domain(schema) {
  return {
    integer: schema.type === "integer",
    minimum: schema.minimum ?? schema.exclusiveMinimum ?? -Infinity,
    maximum: schema.maximum ?? schema.exclusiveMaximum ?? Infinity,
    open: schema.exclusiveMinimum !== undefined,
  };
}
