/** Usage keys: only the account key may make, change, remove or list them. */

import { createHash, randomBytes } from "node:crypto";
import { flag, label, labelOrEmpty, listOf, object, text, u64, type ValueOf } from "./fields.js";
import { pageFields, pageOf } from "./pages.js";
import { invalid, unknown } from "./problems.js";
import { keyed, type Route } from "./routes.js";
import {
  ALL_GROUPS,
  FLAGS,
  GROUP_LISTS,
  type Account,
  type Node,
  type Permissions,
  type UsageKey,
} from "./state.js";

const permissionFields = {
  can_create_groups: flag,
  can_delete_groups: flag,
  can_create_pkps: flag,
  manage_ipfs_ids_in_groups: listOf(u64),
  add_pkp_to_groups: listOf(u64),
  remove_pkp_from_groups: listOf(u64),
  execute_in_groups: listOf(u64),
};
const keyFields = { name: labelOrEmpty, description: labelOrEmpty, ...permissionFields };
const permissionBody = object(permissionFields);

/** The permissions of a request, which may name the account's own groups only. */
function permissionsOf(fields: ValueOf<typeof permissionBody>, account: Account): Permissions {
  for (const list of GROUP_LISTS) {
    const stranger = fields[list].find((id) => id !== ALL_GROUPS && !account.groups.has(id));
    if (stranger !== undefined) throw invalid(list, "groups of this account");
  }
  const names = [...FLAGS, ...GROUP_LISTS];
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Permissions;
}

function usageKeyOf(account: Account, secret: string): UsageKey {
  const key = account.usageKeys.get(secret);
  if (key === undefined) throw unknown("usage-key");
  return key;
}

function merged(old: Permissions, update: Permissions): Permissions {
  const lists = GROUP_LISTS.map((list) => [list, [...new Set([...old[list], ...update[list]])]]);
  return { ...update, ...(Object.fromEntries(lists) as Permissions) };
}

const noPermissions: Permissions = {
  can_create_groups: false,
  can_delete_groups: false,
  can_create_pkps: false,
  manage_ipfs_ids_in_groups: [],
  add_pkp_to_groups: [],
  remove_pkp_from_groups: [],
  execute_in_groups: [],
};

function listed(key: UsageKey, node: Node): object {
  return {
    fingerprint: createHash("sha256").update(key.secret).digest("hex").slice(0, 16),
    title: key.name,
    summary: key.description,
    permissions: key.permissions,
    ...(node.fault === "key-value-listed" ? { value: key.secret } : {}),
  };
}

export const keyRoutes: readonly Route[] = [
  keyed({
    method: "POST",
    path: "/add_usage_api_key",
    access: "account",
    status: 201,
    charged: "write",
    reads: object(keyFields),
    handle({ node, caller, fields }) {
      const secret = `hbk_${randomBytes(30).toString("hex")}`;
      const permissions = permissionsOf(fields, caller.account);
      node.admitUsageKey(caller.account, {
        secret,
        name: fields.name,
        description: fields.description,
        permissions,
      });
      return { usage_api_key: secret };
    },
  }),
  keyed({
    method: "POST",
    path: "/remove_usage_api_key",
    access: "account",
    status: 204,
    charged: "write",
    reads: object({ usage_api_key: text }),
    handle({ node, caller, fields }) {
      const key = caller.account.usageKeys.get(fields.usage_api_key);
      if (key !== undefined) node.dropUsageKey(caller.account, key);
    },
  }),
  keyed({
    method: "POST",
    path: "/update_usage_api_key",
    access: "account",
    status: 204,
    charged: "write",
    reads: object({ usage_api_key: text, ...keyFields }),
    handle({ node, caller, fields }) {
      const key = usageKeyOf(caller.account, fields.usage_api_key);
      const permissions = permissionsOf(fields, caller.account);
      key.permissions = node.fault === "permissions-merged" ? merged(key.permissions, permissions) : permissions;
      key.name = fields.name;
      key.description = fields.description;
    },
  }),
  keyed({
    method: "POST",
    path: "/update_usage_api_key_metadata",
    access: "account",
    status: 204,
    charged: "write",
    reads: object({ usage_api_key: text, name: label, description: label }),
    handle({ node, caller, fields }) {
      const key = usageKeyOf(caller.account, fields.usage_api_key);
      key.name = fields.name;
      key.description = fields.description;
      if (node.fault === "metadata-resets-permissions") key.permissions = noPermissions;
    },
  }),
  keyed({
    method: "GET",
    path: "/list_api_keys",
    access: "account",
    status: 200,
    reads: object(pageFields),
    handle: ({ node, caller, fields }) =>
      pageOf(
        [...caller.account.usageKeys.values()].map((key) => listed(key, node)),
        fields,
      ),
  }),
];
