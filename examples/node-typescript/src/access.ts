/** Who is calling and what that key may do (Authentication part of the specification). */

import type { IncomingHttpHeaders } from "node:http";
import { forbidden, unauthenticated } from "./problems.js";
import { ALL_GROUPS, type Caller, type Flag, type GroupList, type Node } from "./state.js";

/** The key of the request, from `X-Api-Key` or, where that is missing, `Authorization: Bearer`. */
export function presentedKey(headers: IncomingHttpHeaders): string {
  const plain = headers["x-api-key"];
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const key = plain ?? bearer;
  if (typeof key !== "string" || key === "") throw unauthenticated("This endpoint needs a key");
  return key;
}

/** The holder of the presented key. The master key of a converted account is no key any more. */
export function authenticate(node: Node, headers: IncomingHttpHeaders): Caller {
  const caller = node.callerWith(presentedKey(headers));
  if (caller === undefined) throw forbidden("No account and no usage key has this value");
  if (caller.usageKey === null && !caller.account.managed) throw forbidden("The account is ChainSecured");
  return caller;
}

export function requireAccountKey(caller: Caller): void {
  if (caller.usageKey !== null) throw forbidden("This needs the account key");
}

export function requireFlag(caller: Caller, flag: Flag): void {
  if (caller.usageKey !== null && !caller.usageKey.permissions[flag]) throw forbidden(`The key lacks ${flag}`);
}

/** Whether the caller holds this permission for this group. */
export function holds(caller: Caller, list: GroupList, group: string): boolean {
  if (caller.usageKey === null) return true;
  const groups = caller.usageKey.permissions[list];
  return groups.includes(ALL_GROUPS) || groups.includes(group);
}

export function requireInGroup(caller: Caller, list: GroupList, group: string): void {
  if (!holds(caller, list, group)) throw forbidden(`The key lacks ${list} for group ${group}`);
}
