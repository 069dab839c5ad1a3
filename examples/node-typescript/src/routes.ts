/** What an endpoint declares: method, path, who may call it, whether it is charged, what it reads and what it does. */

import type { IncomingHttpHeaders } from "node:http";
import type { Reader } from "./fields.js";
import type { Caller, Node } from "./state.js";

/**
 * Who may call: `open` is everybody; `account` the account key; `key` a usage key, too, which the handler checks for
 * its permission; `customer` is left to the handler (the account key or a billing proof).
 */
export type Access = "open" | "account" | "key" | "customer";

interface Declaration {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  /** Answered on success; 204 comes without a body. */
  readonly status: number;
  /** Charged when it succeeds. */
  readonly charged?: "write" | "run";
}

interface Call<T> {
  readonly node: Node;
  /** The fields of the body, or of the query of a GET. */
  readonly fields: T;
  /** The body as it was sent. */
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

export interface KeyedRoute<T> extends Declaration {
  readonly access: "account" | "key";
  readonly reads: Reader<T>;
  handle(call: Call<T> & { readonly caller: Caller }): unknown;
}

export interface OpenRoute<T> extends Declaration {
  readonly access: "open" | "customer";
  readonly reads: Reader<T>;
  handle(call: Call<T>): unknown;
}

export type Route = KeyedRoute<unknown> | OpenRoute<unknown>;

/** An endpoint that needs a key. */
export const keyed = <T>(route: KeyedRoute<T>): Route => route as KeyedRoute<unknown>;

/** An endpoint that needs none. */
export const open = <T>(route: OpenRoute<T>): Route => route as OpenRoute<unknown>;
