/** Creating an account and asking whether one exists. */

import { presentedKey } from "./access.js";
import { label, nothing, object, optional } from "./fields.js";
import { unknown } from "./problems.js";
import { open, type Route } from "./routes.js";

export const accountRoutes: readonly Route[] = [
  open({
    method: "POST",
    path: "/new_account",
    access: "open",
    status: 201,
    reads: object({ title: label, summary: label, contact: optional(label, null) }),
    handle({ node, fields }) {
      const account = node.createAccount(fields.title, fields.summary);
      if (fields.contact !== null) node.contacts.set(account.admin, fields.contact);
      return { api_key: account.secret, wallet_address: account.admin };
    },
  }),
  open({
    method: "GET",
    path: "/account",
    access: "customer",
    status: 200,
    reads: nothing,
    handle({ node, headers }) {
      const caller = node.callerWith(presentedKey(headers));
      if (caller === undefined || caller.usageKey !== null) throw unknown("account");
      return { exists: true };
    },
  }),
];
