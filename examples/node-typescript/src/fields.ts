/** Readers of request fields: each checks one JSON value and describes itself for the OpenAPI document. */

import { invalid, malformed } from "./problems.js";

export interface Reader<T> {
  readonly schema: object;
  readonly optional: boolean;
  read(value: unknown, field: string): T;
}

type Shape = Readonly<Record<string, Reader<unknown>>>;
export type ValueOf<R> = R extends Reader<infer T> ? T : never;
type Values<S extends Shape> = { [K in keyof S]: ValueOf<S[K]> };

const U64_LIMIT = 2n ** 64n;
const MAX_LABEL = 500;

function pattern(expression: RegExp, wanted: string): Reader<string> {
  return {
    schema: { type: "string", pattern: expression.source },
    optional: false,
    read(value, field) {
      if (typeof value !== "string" || !expression.test(value)) throw invalid(field, wanted);
      return value.toLowerCase();
    },
  };
}

/** Half a surrogate pair has no UTF-8: hashed or signed it would pass for another text. */
function bounded(maximum: number): Reader<string> {
  return {
    schema: { type: "string", maxLength: maximum },
    optional: false,
    read(value, field) {
      if (typeof value !== "string" || value.length > maximum || !value.isWellFormed()) {
        throw invalid(field, `a well-formed string of at most ${maximum} characters`);
      }
      return value;
    },
  };
}

/** A name or a description. */
export const label = bounded(MAX_LABEL);
/** A name or a description that may be left out: then it is empty. */
export const labelOrEmpty = optional(label, "");
/** JavaScript of an action. */
export const code = bounded(128 * 1024);
/** Any string that the handler itself checks. */
export const text = bounded(16 * 1024);
export const bytes32 = pattern(/^0x[0-9a-fA-F]{64}$/, "0x and 64 hex characters");
export const address = pattern(/^0x[0-9a-fA-F]{40}$/, "an address: 0x and 40 hex characters");
export const signature = pattern(/^0x[0-9a-fA-F]{128}1[bcBC]$/, "a signature: 0x and 65 hex bytes, the last 1b or 1c");

export const flag: Reader<boolean> = {
  schema: { type: "boolean" },
  optional: false,
  read(value, field) {
    if (typeof value !== "boolean") throw invalid(field, "true or false");
    return value;
  },
};

/** A u64, as a JSON number or in quotes; kept as its digits. A number that JSON.parse may have rounded is refused. */
export const u64: Reader<string> = {
  schema: { type: ["integer", "string"], pattern: "^[0-9]{1,20}$" },
  optional: false,
  read(value, field) {
    const digits = Number.isSafeInteger(value) ? BigInt(value as number).toString() : value;
    if (typeof digits !== "string" || !/^[0-9]{1,20}$/.test(digits) || BigInt(digits) >= U64_LIMIT) {
      throw invalid(field, "a u64, in quotes when it is over 2^53 - 1");
    }
    return BigInt(digits).toString();
  },
};

/** A whole number from `minimum` to `maximum`, as a JSON number. */
export function integer(minimum: number, maximum: number): Reader<number> {
  return {
    schema: { type: "integer", minimum, maximum },
    optional: false,
    read(value, field) {
      if (typeof value !== "number" || !Number.isInteger(value) || value < minimum || value > maximum) {
        throw invalid(field, `an integer from ${minimum} to ${maximum}`);
      }
      return value;
    },
  };
}

/** The same in a query, as digits. */
export function digits(minimum: number, maximum: number): Reader<number> {
  const whole = integer(minimum, maximum);
  return {
    ...whole,
    read: (value, field) =>
      whole.read(typeof value === "string" && /^[0-9]{1,15}$/.test(value) ? Number(value) : value, field),
  };
}

/** Any JSON object. */
export const anyObject: Reader<object> = {
  schema: { type: "object" },
  optional: false,
  read(value, field) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(field, "an object");
    return value;
  },
};

/** A list without repetitions: a repeated element counts once. */
export function listOf<T>(element: Reader<T>): Reader<readonly T[]> {
  return {
    schema: { type: "array", items: element.schema },
    optional: false,
    read(value, field) {
      if (!Array.isArray(value)) throw invalid(field, "a list");
      return [...new Set(value.map((item) => element.read(item, field)))];
    },
  };
}

export function optional<T, D>(reader: Reader<T>, absent: D): Reader<T | D> {
  return {
    schema: reader.schema,
    optional: true,
    read: (value, field) => (value === undefined ? absent : reader.read(value, field)),
  };
}

/** An object with exactly these fields. A field that is not of the shape is refused: it is mostly a misspelling. */
export function object<S extends Shape>(shape: S): Reader<Values<S>> {
  const names = Object.keys(shape);
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, shape[name]?.schema])),
      required: names.filter((name) => !shape[name]?.optional),
      additionalProperties: false,
    },
    optional: false,
    read(value, field) {
      const given = anyObject.read(value, field) as Record<string, unknown>;
      const stranger = Object.keys(given).find((name) => !Object.hasOwn(shape, name));
      if (stranger !== undefined) throw invalid(stranger, "no such field");
      return Object.fromEntries(
        Object.entries(shape).map(([name, reader]) => [name, reader.read(given[name], name)]),
      ) as Values<S>;
    },
  };
}

export const nothing = object({});

/** The text of these bytes. Others than UTF-8 are refused: they would pass for U+FFFD. */
export function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed("The request is not in UTF-8");
  }
}
